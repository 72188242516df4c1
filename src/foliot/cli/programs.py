"""Programs: how the one that a command runs is found and imported."""

import importlib
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from foliot.domain.errors import Invalid, Refusal

if TYPE_CHECKING:
    from foliot.app import Foliot

_TAKES = "an app is file.py, file.py:name or module:name, such as my_module:app"
_OURS = Path(__file__).parents[1]
_NOBODYS = "foliot-serve"
"""Whose schedules an app without a program declares: nobody's."""


def load(where: str | None) -> "Foliot":
    """The Foliot that is there; of none, one that knows no program and declares nothing."""
    # Imported here: `--help` must not wait for the database's libraries.
    from foliot.app import Foliot  # noqa: PLC0415

    if where is None:
        return Foliot(name=_NOBODYS)
    place, _, name = where.partition(":")
    if place.endswith(".py"):
        module = _import_file(Path(place))
    elif place and name:
        module = _import_module(place)
    else:
        raise Invalid(f"{_TAKES}, got {where!r}")
    return _named(module, place, name) if name else _only(module, place)


def folder_of(where: str) -> Path:
    """Where the program's files are."""
    place = where.partition(":")[0]
    return Path(place).resolve().parent if place.endswith(".py") else Path.cwd()


def _only(module: ModuleType, place: str) -> "Foliot":
    found = _apps(module)
    if not found:
        raise Invalid(f"there is no Foliot in {place}: write `app = Foliot()` in it")
    if len({id(app) for app in found.values()}) > 1:
        names = " or ".join(f"{place}:{name}" for name in found)
        raise Invalid(f"there are several Foliots in {place}: say which, {names}")
    return next(iter(found.values()))


def _named(module: ModuleType, place: str, name: str) -> "Foliot":
    found = _apps(module)
    if name not in found:
        there = getattr(module, name, None)
        raise Invalid(f"{place}:{name} is no Foliot, got {there!r:.80}: write `{name} = Foliot(...)` in {place}")
    return found[name]


def _apps(module: ModuleType) -> "dict[str, Foliot]":
    from foliot.app import Foliot  # noqa: PLC0415

    return {name: value for name, value in vars(module).items() if isinstance(value, Foliot)}


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise Invalid(f"there is no file {path} here: say where it is, as in folder/app.py")
    path = path.resolve()
    sys.path.insert(0, str(path.parent))
    # Whatever else is called like it is left alone: a file may be called random.py.
    name = path.stem if path.stem not in sys.modules else f"{path.stem} of {path.parent}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    with _located(path.parent):
        spec.loader.exec_module(module)
    return module


def _import_module(name: str) -> ModuleType:
    sys.path.insert(0, "")
    try:
        with _located(Path.cwd()):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Not one that it imports itself: that is told with its lines.
        raise Invalid(f"there is no module {error.name!r} here: start foliot in the folder that it is in") from error


@contextmanager
def _located(folder: Path) -> Iterator[None]:
    """What is refused or goes wrong while the program is imported says in which line of it."""
    try:
        yield
    except Invalid as refusal:
        own = _own_frames(refusal, folder)
        if not own:
            raise
        raise Invalid(f"{Path(own[-1].filename).relative_to(folder)}, line {own[-1].lineno}: {refusal}") from refusal
    except Refusal:
        raise
    except Exception as error:
        own = _own_frames(error, folder)
        if not own and not isinstance(error, SyntaxError):
            raise
        told = [*traceback.format_list(own), *traceback.format_exception_only(error)]
        raise Invalid(f"the program cannot be imported:\n{''.join(told).rstrip()}") from error


def _own_frames(error: Exception, folder: Path) -> list[traceback.FrameSummary]:
    """Those of the program itself; libraries, this one too, may lie in its folder."""
    return [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if (path := Path(frame.filename)).is_relative_to(folder)
        and "site-packages" not in path.parts
        and not path.is_relative_to(_OURS)
    ]
