"""The trail: who changed what, each entry bound to the one before it, so that none can be altered unseen."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid

_NUMBER = re.compile(r"[1-9]\d{0,17}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}")
BEGINNING = "0" * 64
"""What the first entry is bound to."""


class Deed(NamedTuple):
    """A change that somebody made."""

    action: str
    """What was done, such as `schedule.pause`,"""
    subject: str
    """and to what: its kind and id, such as `schedule/digest`."""
    details: str | None = None
    """As JSON; what was given to run is never among them."""


class SignedDeed(NamedTuple):
    """A deed, whose it was, and how it was asked for."""

    deed: Deed
    actor: str
    request_id: str | None = None
    address: str | None = None


class TrailEntry(NamedTuple):
    """A deed as it is kept."""

    ref: int
    at: int
    actor: str
    action: str
    subject: str
    details: str | None
    request_id: str | None
    address: str | None
    hash: str


class Break(NamedTuple):
    """Where the chain does not hold."""

    ref: int
    what: str


class Noted(NamedTuple):
    """An entry that somebody has noted elsewhere: nobody who writes the database can change that."""

    ref: int
    hash: str


def deed(action: str, kind: str, subject: str, details: Mapping[str, Any]) -> Deed:
    given = {name: value for name, value in details.items() if value is not None}
    text = json.dumps(given, sort_keys=True, separators=(",", ":"), default=str) if given else None
    return Deed(action, f"{kind}/{subject}", text)


def binding(previous: str, entry: TrailEntry) -> str:
    """The hash that binds an entry to the one before it; the entry's own is not looked at."""
    said = json.dumps([previous, *entry[:-1]], separators=(",", ":"), ensure_ascii=True)
    return sha256(said.encode()).hexdigest()


def breaks(entries: Iterable[TrailEntry], previous: str = BEGINNING, after: int = 0) -> Iterator[Break]:
    """Where these entries, which follow that one, are not what they were when they were written."""
    for entry in entries:
        if entry.ref <= after:
            yield Break(entry.ref, f"entry {entry.ref} was put in: none was ever written there")
            continue
        if entry.ref != after + 1:
            gone = f"{after + 1}" if entry.ref == after + 2 else f"{after + 1} to {entry.ref - 1}"
            yield Break(entry.ref, f"entry {gone} is missing")
        elif binding(previous, entry) != entry.hash:
            yield Break(entry.ref, f"entry {entry.ref} is not as it was written")
        previous, after = entry.hash, entry.ref


def cut_off(last: int, written: int) -> Break | None:
    """What is missing of a chain that ends with that last entry, where so many were ever written; None: nothing is."""
    if last >= written:
        return None
    if last == written - 1:
        return Break(written, f"the newest entry, {written}, is missing")
    return Break(written, f"the newest {written - last:,} entries, {last + 1} to {written}, are missing")


def noted_of(text: str) -> Noted:
    """`17:5f2c…`: the number of an entry and its hash; Invalid when it is none."""
    number, _, digest = text.partition(":")
    if not _NUMBER.fullmatch(number) or not _DIGEST.fullmatch(digest):
        raise Invalid(f"an entry is noted as its number and its hash, as in 17:5f2c…, got {text[:100]!r}")
    return Noted(int(number), digest)


def against(noted: Noted, last: int, digest: str) -> Break | None:
    """What is wrong with a chain that was verified up to that last entry, or to its end; None when nothing is."""
    if last < noted.ref:
        return Break(noted.ref, f"entry {noted.ref} was noted and is not there: the end was cut off")
    if last == noted.ref and digest != noted.hash:
        return Break(noted.ref, f"entry {noted.ref} is not the one that was noted: all of it was written anew")
    return None
