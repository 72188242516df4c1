"""The key of whoever starts a server on this machine: made once for each database, kept where only they can read."""

import logging
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from foliot.cli.profile import Profile, keep_private, profile_path, read_profile, write_profile
from foliot.domain.errors import Invalid
from foliot.settings.sources import read_settings
from foliot.settings.table import ADMIN_KEY

if TYPE_CHECKING:
    from foliot.app import Foliot
    from foliot.serving import Server

log = logging.getLogger("foliot")


def find_key(program: "Foliot", server: "Server") -> Path | None:
    """Where a key is that opens this server; None where others than this machine reach it, who have their own.

    Invalid when they do and nobody has one.
    """
    given = read_settings().value(ADMIN_KEY)
    if given is not None:
        program.parts.verbs.keys.adopt("admin_key", given)
    if server.is_loopback:
        return _kept(program, server.url)
    if not program.parts.doorkeeper.is_expected():
        remedy = f"with `foliot key create NAME --database {program.shown_url}`, or name a file that holds one by"
        raise Invalid(
            f"{server.host} can be reached from other machines, and nobody has a key yet: make one {remedy}"
            f" {ADMIN_KEY.variable}_FILE; or listen on 127.0.0.1"
        )
    return None


def _kept(program: "Foliot", url: str) -> Path:
    """The profile, when it is for this machine; else a file beside it."""
    profile, file = read_profile(), _file_of(program)
    is_ours = profile.url is None or _is_local(profile.url)
    if is_ours and profile.key is not None and _opens(program, profile.key):
        return write_profile(Profile(url, profile.key)) if profile.url != url else profile_path()
    key = file.read_text().strip() if file.exists() else None
    if key is None or not _opens(program, key):
        key = program.parts.verbs.keys.create("foliot serve").secret
        assert key is not None, "it is told when it is made"
        keep_private(file, f"{key}\n")
    if is_ours:
        return write_profile(Profile(url, key))
    log.warning("the profile %s is for %s, and is left so: say --url %s --key-file …", profile_path(), profile.url, url)
    return file


def _file_of(program: "Foliot") -> Path:
    """One for each database, so that who goes from one to another and back finds the key again."""
    place = program.shown_url
    kind, _, path = place.partition(":///")
    if kind == "sqlite":
        place = f"sqlite:///{Path(path).resolve()}"
    return profile_path().parent / "keys" / f"{sha256(place.encode()).hexdigest()[:16]}.key"


def _opens(program: "Foliot", key: str) -> bool:
    return program.parts.doorkeeper.identify(key) is not None


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
