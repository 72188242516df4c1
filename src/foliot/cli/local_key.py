"""The key of whoever starts a server on this machine: made once for each database, kept where only they can read."""

import http.client
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from foliot.cli.profile import (
    Profile,
    is_local,
    is_same_server,
    keep_private,
    kept_key_path,
    profile_in_hand,
    profile_path,
    read_profile,
    write_profile,
)
from foliot.domain.errors import Invalid
from foliot.settings.sources import read_settings
from foliot.settings.table import ADMIN_KEY

if TYPE_CHECKING:
    from foliot.app import Foliot
    from foliot.serving import Server

_PATIENCE = 2
"""Seconds, for another server of this machine to answer."""


class FoundKey(NamedTuple):
    """Where a key is, and what whoever starts the server should know of the profile."""

    path: Path
    note: str | None = None


def find_key(program: "Foliot", server: "Server") -> FoundKey | None:
    """Where a key is that opens this server; None where others than this machine reach it, who have their own.

    Invalid when they do and nobody has one.
    """
    given = read_settings().value(ADMIN_KEY)
    if given is not None:
        program.parts.verbs.keys.adopt("admin_key", given)
    if server.is_loopback:
        with profile_in_hand():
            return _kept(program, server.url)
    if not program.parts.doorkeeper.is_expected():
        remedy = f"with `foliot key create NAME --database {program.shown_url}`, or name a file that holds one by"
        raise Invalid(
            f"{server.host} can be reached from other machines, and nobody has a key yet: make one {remedy}"
            f" {ADMIN_KEY.variable}_FILE; or listen on 127.0.0.1"
        )
    return None


def _kept(program: "Foliot", url: str) -> FoundKey:
    """In a file for where it listens; and in the profile, unless commands ask another server by that."""
    profile = read_profile()
    key = _key_of(program, profile)
    path = keep_private(kept_key_path(url), f"{key}\n")
    if profile.url is None or is_same_server(profile.url, url):
        return FoundKey(profile_path() if profile == (url, key) else write_profile(Profile(url, key)))
    if not is_local(profile.url) or _answers(profile.url):
        return FoundKey(path, f"commands ask {profile.url}, as the profile says: have them ask this one by --url {url}")
    return FoundKey(
        write_profile(Profile(url, key)), f"commands ask this one now: nobody answers at {profile.url} any more"
    )


def _key_of(program: "Foliot", profile: Profile) -> str:
    """The profile's, when it is for this machine and opens this database; else the one that was made for it."""
    is_ours = profile.url is None or is_local(profile.url)
    if is_ours and profile.key is not None and _opens(program, profile.key):
        return profile.key
    file = _file_of(program)
    key = file.read_text().strip() if file.exists() else None
    if key is None or not _opens(program, key):
        key = program.parts.verbs.keys.create("foliot serve").secret
        assert key is not None, "it is told when it is made"
        keep_private(file, f"{key}\n")
    return key


def _answers(url: str) -> bool:
    """Whether a server of ours is there; also when it is too busy to say so."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_PATIENCE)
    try:
        connection.request("GET", f"{parts.path.rstrip('/')}/healthz")
        return b"alive" in connection.getresponse().read(1000)
    except TimeoutError:
        return True
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _file_of(program: "Foliot") -> Path:
    """One for each database, so that who goes from one to another and back finds the key again."""
    place = program.shown_url
    kind, _, path = place.partition(":///")
    if kind == "sqlite":
        place = f"sqlite:///{Path(path).resolve()}"
    return profile_path().parent / "keys" / f"{sha256(place.encode()).hexdigest()[:16]}.key"


def _opens(program: "Foliot", key: str) -> bool:
    return program.parts.doorkeeper.identify(key) is not None
