"""Where the server is and by which key it is asked: a flag, else the environment, else the profile of this user."""

import fcntl
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from foliot.domain.errors import Invalid, Unavailable

URL = "FOLIOT_URL"
KEY = "FOLIOT_KEY"
KEY_FILE = "FOLIOT_KEY_FILE"
DEFAULT_URL = "http://127.0.0.1:8420"


class Profile(NamedTuple):
    """What a user need not say every time."""

    url: str | None = None
    key: str | None = None


class KeptKey(NamedTuple):
    """A key, and the file of this user's that it is kept in."""

    key: str
    path: Path


def profile_path() -> Path:
    """Where the profile of this user is."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "foliot" / "profile.toml"


def read_profile() -> Profile:
    """What is in it; nothing when there is none."""
    path = profile_path()
    try:
        said = tomllib.loads(path.read_text())
    except FileNotFoundError:
        return Profile()
    except (OSError, ValueError) as error:
        raise Invalid(f'the profile {path} takes `url = "…"` and `key = "…"`: {error}') from error
    found = {name: said[name] for name in Profile._fields if name in said}
    if not all(isinstance(value, str) for value in found.values()):
        raise Invalid(f"the profile {path} takes url and key as text")
    return Profile(**found)


def write_profile(profile: Profile) -> Path:
    """Keep it where only this user can read it."""
    lines = [f'{name} = "{value}"\n' for name, value in profile._asdict().items() if value is not None]
    return keep_private(profile_path(), "".join(lines))


@contextmanager
def profile_in_hand() -> Iterator[None]:
    """Nobody else changes what is kept there: servers may start at the same moment."""
    with _writing(path := profile_path().with_suffix(".lock")):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def keep_private(path: Path, text: str) -> Path:
    """Write a file that is never readable by others, not even for a moment."""
    with _writing(path):
        for folder in (profile_path().parent, path.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        new.replace(path)
    return path


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = "name a folder of yours with XDG_CONFIG_HOME"
        raise Unavailable(f"{path} cannot be written: {error.strerror}: {remedy}") from error


def server_url(flag: str | None, profile: Profile) -> str:
    """Where to ask."""
    url = flag or os.environ.get(URL) or profile.url or DEFAULT_URL
    if not url.startswith(("http://", "https://")):
        raise Invalid(f"a server's URL begins with http:// or https://, got {url!r}")
    return url.rstrip("/")


def kept_key_path(url: str) -> Path:
    """Where the key is kept of a server of this machine, by where it listens."""
    return profile_path().parent / "keys" / f"{_place_of(url).replace(':', '_')}.key"


def is_same_server(one: str, other: str) -> bool:
    return _place_of(one) == _place_of(other)


def is_local(url: str) -> bool:
    """Whether it is this machine that is asked there."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _place_of(url: str) -> str:
    """Where it listens, in one spelling."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise Invalid(f"a server's URL is http://HOST:PORT or https://HOST:PORT, got {url!r}: {error}") from error
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname or ""
    return f"{host}:{port}{parts.path.rstrip('/').replace('/', '_')}"


def api_key(file: str | None, profile: Profile, url: str) -> str | None:
    """By which key that server is asked; one that is kept for another is not shown to it.

    Never a flag's own value, which every process on the machine could read.
    """
    if file is not None:
        return _read_key("--key-file", file)
    said, named = os.environ.get(KEY), os.environ.get(KEY_FILE)
    if said and named:
        raise Invalid(f"{KEY} and {KEY_FILE} are both set: say one of them")
    if named:
        return _read_key(KEY_FILE, named)
    kept = None if said else kept_key(profile, url)
    return said or (None if kept is None else kept.key)


def _read_key(name: str, file: str) -> str:
    try:
        key = Path(file).read_text().strip()
    except (OSError, ValueError) as error:
        raise Invalid(f"{name} takes a file with a key in it, got {file!r}: {error}") from error
    if not key:
        raise Invalid(f"{name} takes a file with a key in it, {file!r} is empty")
    return key


def kept_key(profile: Profile, url: str) -> KeptKey | None:
    """By which key that server is asked where none is said; None when none is kept for it."""
    if profile.key is not None and (profile.url is None or is_same_server(profile.url, url)):
        return KeptKey(profile.key, profile_path())
    path = kept_key_path(url)
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Invalid(f"{path} takes the key of {url}: {error}") from error
    return KeptKey(key, path) if key else None
