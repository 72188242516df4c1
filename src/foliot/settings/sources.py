"""Where settings come from: a flag, else the environment, else a TOML file, else the default."""

import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from foliot.domain.errors import Invalid
from foliot.domain.notices import SIGNING_VARIABLES
from foliot.settings.table import CONFIG, DATABASE, TABLE, Setting

T = TypeVar("T")

NOT_SHOWN = "(not shown)"
"""A secret, where somebody has said one."""
_HERE = "foliot.toml"
_FILE = "_file"
_PASSWORD_OPTION = re.compile(r"[?&]\w*password=.", re.IGNORECASE)


class Said(NamedTuple):
    """What was found of a setting."""

    text: str
    name: str
    """What it is called there."""
    origin: str


class Settings:
    """All settings, as they are said at this moment. A value is judged when it is asked for."""

    def __init__(
        self, flags: Mapping[str, Any], environment: Mapping[str, str], path: Path | None, written: Mapping[str, str]
    ) -> None:
        self._flags = {name: str(value) for name, value in flags.items() if value is not None}
        self._environment = environment
        self.path = path
        """The file that was read, if there is one."""
        self._written = written

    def value(self, setting: Setting[T]) -> T:
        """Invalid, saying where it is and what it takes, when it is wrong."""
        said = self._said(setting)
        return setting.default if said is None else setting.form.read(said.name, said.text)

    def name(self, setting: Setting[Any]) -> str:
        """What it is called where it was found, or may be set."""
        said = self._said(setting)
        return setting.variable if said is None else said.name

    def origin(self, setting: Setting[Any]) -> str:
        said = self._said(setting)
        return "default" if said is None else said.origin

    def shown(self, setting: Setting[Any]) -> str:
        """The value as it was written, and nothing of what is secret."""
        said = self._said(setting)
        if setting.is_secret:
            return "" if said is None else NOT_SHOWN
        if said is None:
            return "" if setting.default is None else setting.form.say(setting.default)
        return without_password(said.text) if setting is DATABASE else said.text

    def check(self) -> None:
        """Invalid when any of them is wrong."""
        for setting in TABLE:
            self.value(setting)

    def unknown(self) -> list[str]:
        """Variables that look like ours and are not, each with what may have been meant."""
        known = [name for setting in TABLE for name in _variables(setting)]
        ours = (name for name in self._environment if name.startswith("FOLIOT_") and name not in known)
        strange = sorted(name for name in ours if not name.startswith(SIGNING_VARIABLES))
        return [f"{name} is no setting{_meant(name, known)}" for name in strange]

    def _said(self, setting: Setting[Any]) -> Said | None:
        """An empty text counts as none."""
        flag = self._flags.get(setting.name)
        if flag:
            option = f"--{setting.name.replace('_', '-')}"
            return Said(flag, option, f"flag {option}")
        return self._from_environment(setting) or self._from_file(setting)

    def _from_environment(self, setting: Setting[Any]) -> Said | None:
        name = setting.variable
        found, path = self._environment.get(name), None
        if setting.may_be_file:
            path = self._environment.get(f"{name}_FILE")
        if found and path:
            raise Invalid(f"{name} and {name}_FILE are both set: say one of them")
        if path:
            return Said(_content(f"{name}_FILE", path), f"{name}_FILE", f"environment {name}_FILE")
        return Said(found, name, f"environment {name}") if found else None

    def _from_file(self, setting: Setting[Any]) -> Said | None:
        found = self._written.get(setting.name)
        if found:
            return Said(found, f"{setting.name} in {self.path}", f"file {self.path}")
        key = setting.name + _FILE
        path = self._written.get(key)
        if path:
            return Said(_content(f"{key} in {self.path}", path), f"{key} in {self.path}", f"file {self.path}")
        return None


def read_settings(flags: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """What is said now. Flags are by the names of settings; one that is None was not given."""
    environment = os.environ if environment is None else environment
    path = _path(environment)
    return Settings(flags or {}, environment, path, {} if path is None else _read_file(path))


def without_password(url: str) -> str:
    """A database's URL as it may be shown: no password, and no options, which may hold one."""
    scheme, sign, rest = url.partition("://")
    before, _, place = rest.rpartition("@")
    # With a question mark before it the sign may be one of a password among the options, and what follows its end.
    return f"{scheme}{sign}{'…' if '?' in before else place.partition('?')[0]}"


def _has_password(url: str) -> bool:
    """Whether a database's URL holds one, before its host or among its options."""
    account, _, _ = url.partition("://")[2].rpartition("@")
    return bool(account.partition(":")[2]) or _PASSWORD_OPTION.search(url) is not None


def _path(environment: Mapping[str, str]) -> Path | None:
    named = environment.get(CONFIG.variable)
    if named:
        if not Path(named).is_file():
            raise Invalid(f"{CONFIG.variable} takes {CONFIG.form.takes}, got {named!r}: there is no such file")
        return Path(named)
    for path in (Path(_HERE), config_folder(environment) / "config.toml"):
        if path.is_file():
            return path
    return None


def config_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where what belongs to this user is kept: $XDG_CONFIG_HOME/foliot."""
    environment = os.environ if environment is None else environment
    there = environment.get("XDG_CONFIG_HOME", "")
    # What is no absolute path counts as none, as the standard says.
    folder = Path(there) if Path(there).is_absolute() else Path(environment.get("HOME", "~")).expanduser() / ".config"
    return folder / "foliot"


def _read_file(path: Path) -> dict[str, str]:
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Invalid(f"{path} is no settings file: {error}") from error
    known = [key for setting in TABLE if setting.in_file for key in _keys(setting)]
    secrets = {setting.name: setting for setting in TABLE if setting.is_secret and setting.in_file}
    for key in written:
        if key in secrets:
            remedy = f"write {key}{_FILE} = the path of a file that holds it, or set {secrets[key].variable}"
            raise Invalid(f"{key} in {path} is a secret, which this file may not hold: {remedy}")
        if key not in known:
            raise Invalid(f"{key!r} in {path} is no setting{_meant(key, known)}")
    found = {key: _as_text(f"{key} in {path}", value) for key, value in written.items()}
    if _has_password(found.get(DATABASE.name, "")):
        remedy = f"write {DATABASE.name}{_FILE} = the path of a file that holds the URL, or set {DATABASE.variable}"
        raise Invalid(f"{DATABASE.name} in {path} has a password in it, which this file may not hold: {remedy}")
    return found


def _keys(setting: Setting[Any]) -> list[str]:
    own = [] if setting.is_secret else [setting.name]
    return [*own, setting.name + _FILE] if setting.may_be_file else own


def _variables(setting: Setting[Any]) -> list[str]:
    return [setting.variable, f"{setting.variable}_FILE"] if setting.may_be_file else [setting.variable]


def _as_text(name: str, value: object) -> str:
    if isinstance(value, list):
        return ",".join(_as_text(name, part) for part in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Invalid(f"{name} takes text, a number or a list of them, got {value!r:.80}")
    return str(value)


def _content(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise Invalid(f"{name} names {path!r}, which cannot be read: {reason}") from error


def _meant(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f": did you mean {close[0]}?" if close else ": `foliot settings show` lists what there is"
