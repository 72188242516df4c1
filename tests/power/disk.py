"""A disk that notes all that SQLite does to it, and shows what is left when the power fails after any of it.

What was written and not yet synced may be there or not, whole or in part, in any combination; a file's name may be
forgotten until its folder is synced. Nothing else is: that is what SQLite, and we with it, take for granted.
"""

import random
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import apsw

SECTOR = 512
_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
_NOTED = _JOURNALS | apsw.SQLITE_OPEN_MAIN_DB


class Write(NamedTuple):
    file: str
    offset: int
    data: bytes


class Truncate(NamedTuple):
    file: str
    size: int


class Sync(NamedTuple):
    file: str


class Create(NamedTuple):
    file: str


class Delete(NamedTuple):
    file: str


class SyncFolder(NamedTuple):
    file: str
    """The one on whose behalf."""


Operation = Write | Truncate | Sync | Create | Delete | SyncFolder
Change = Write | Truncate


class Kept(StrEnum):
    """What a power failure leaves of that which was not synced."""

    NONE = "none"
    HALF = "half"
    TORN = "torn"


class RecordingDisk(apsw.VFS):
    """SQLite's own file system, named so that connections can ask for it, with every change noted."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.operations: list[Operation] = []
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if not flags[0] & _NOTED:
            return super().xOpen(name, flags)
        path = Path(name if isinstance(name, str) else name.filename())
        # The store makes its file itself, empty, before it is opened.
        is_new = not path.exists() or (not path.stat().st_size and Create(path.name) not in self.operations)
        if flags[0] & apsw.SQLITE_OPEN_CREATE and is_new:
            self.operations.append(Create(path.name))
        return _RecordedFile(self, path.name, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        name = Path(filename).name
        self.operations.append(Delete(name))
        if syncdir:
            self.operations.append(SyncFolder(name))


class _RecordedFile(apsw.VFSFile):
    def __init__(self, disk: RecordingDisk, file: str, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._file = file
        # SQLite syncs the folder with the first sync of a log that it has opened.
        self._folder_is_due = bool(flags[0] & _JOURNALS)
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._disk.operations.append(Write(self._file, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._disk.operations.append(Truncate(self._file, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        # Not passed on: no power fails here but in thought.
        self._disk.operations.append(Sync(self._file))
        if self._folder_is_due:
            self._disk.operations.append(SyncFolder(self._file))
            self._folder_is_due = False


class _Content:
    """A file without its name: the bytes that are safe, and the changes that are not."""

    def __init__(self) -> None:
        self.safe = bytearray()
        self.unsynced: list[Change] = []

    def sync(self) -> None:
        for change in self.unsynced:
            _apply(self.safe, change)
        self.unsynced.clear()

    def after_crash(self, kept: Kept, chance: random.Random) -> bytes:
        left = bytearray(self.safe)
        for change in self.unsynced if kept is not Kept.NONE else ():
            if chance.random() < 0.5:
                for part in _torn(change, chance) if kept is Kept.TORN else (change,):
                    _apply(left, part)
        return bytes(left)


def _apply(content: bytearray, change: Change) -> None:
    match change:
        case Truncate(_, size):
            del content[size:]
            content.extend(bytes(size - len(content)))
        case Write(_, offset, data):
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(data)] = data


def _torn(change: Change, chance: random.Random) -> Iterator[Change]:
    """Some of the sectors that it touches."""
    if isinstance(change, Truncate):
        yield change
        return
    first = change.offset
    end = first + len(change.data)
    while first < end:
        last = min(end, first - first % SECTOR + SECTOR)
        if chance.random() < 0.5:
            yield Write(change.file, first, change.data[first - change.offset : last - change.offset])
        first = last


class Crashes:
    """The same operations once more, one by one, and the files as they are if the power fails just now."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations
        self._done = 0
        self._named: dict[str, _Content] = {}
        self._safely_named: dict[str, _Content] = {}
        self._renamings: list[Create | Delete] = []
        self._contents: dict[str, _Content] = {}

    def advance(self, count: int) -> None:
        """Until so many operations are done."""
        while self._done < count:
            self._do(self._operations[self._done])
            self._done += 1

    def _do(self, operation: Operation) -> None:
        match operation:
            case Write() | Truncate():
                self._named[operation.file].unsynced.append(operation)
            case Sync(file):
                self._named[file].sync()
            case Create(file):
                self._named[file] = _Content()
                self._renamings.append(operation)
            case Delete(file):
                del self._named[file]
                self._renamings.append(operation)
            case SyncFolder():
                self._safely_named = dict(self._named)
                self._renamings.clear()

    def files(self, kept: Kept, chance: random.Random) -> dict[str, bytes]:
        names = dict(self._safely_named)
        # A folder keeps its changes in their order.
        for renaming in self._renamings[: 0 if kept is Kept.NONE else chance.randint(0, len(self._renamings))]:
            if isinstance(renaming, Delete):
                names.pop(renaming.file, None)
            elif renaming.file in self._named:
                names[renaming.file] = self._named[renaming.file]
        return {name: content.after_crash(kept, chance) for name, content in names.items()}
