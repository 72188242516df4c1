"""A crontab read as schedules of a declared set, with a word on whatever means something else here."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid, Refusal
from foliot.domain.schedule import slug_of, target_said
from foliot.domain.spec import Spec

_SETTING = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_ENTRY = re.compile(r"\s*(@\w+|(?:\S+\s+){4}\S+)\s+(.*\S)\s*")
_WITH_USER = re.compile(r"(\S+)\s+(.*)")
_ZONE = "CRON_TZ"
_MAIL = ("MAILTO", "MAILFROM")
_LONGEST_NAME = 60


class Line(NamedTuple):
    """An entry of a crontab."""

    number: int
    cron: str
    command: str
    stdin: str | None
    """What followed a `%`: the command was given it as its input."""
    timezone: str | None
    comment: str | None


class Warned(NamedTuple):
    """What somebody should know of a line."""

    number: int
    text: str
    is_refused: bool = False
    """What stands there became no schedule, though it was to."""

    def __str__(self) -> str:
        return f"line {self.number}: {self.text}"


def read_crontab(text: str, *, is_system: bool = False) -> tuple[list[Line], list[Warned]]:
    """The entries of a crontab, and what of it means nothing here."""
    lines: list[Line] = []
    warnings: list[Warned] = []
    timezone, comment = None, None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            comment = line.strip().lstrip("#").strip() or None
            continue
        if setting := _SETTING.fullmatch(line):
            name, value = setting[1], setting[2].strip().strip("\"'")
            if name == _ZONE:
                timezone = value or None
            else:
                why = (
                    "nobody is mailed: `foliot webhook create` tells of failures" if name in _MAIL else "it is left out"
                )
                warnings.append(Warned(number, f"{name} is set for commands, and not for targets: {why}"))
            continue
        entry = _entry(line, is_system)
        if entry is None:
            warnings.append(
                Warned(number, f"no schedule and command can be seen in {line.strip()[:80]!r}", is_refused=True)
            )
        else:
            cron, command = entry
            shown, stdin = _without_percent(command)
            lines.append(Line(number, cron, shown, stdin, timezone, comment))
        comment = None
    return lines, warnings


def schedules_of(
    lines: Sequence[Line], targets: Mapping[str, str], timezone: str
) -> tuple[list[dict[str, Any]], list[Warned]]:
    """The entries as schedules of a set, in that zone where they name none; what cannot be one is left out and said."""
    Spec(manual=True, timezone=timezone).compile()
    schedules: list[dict[str, Any]] = []
    warnings: list[Warned] = []
    names: set[str] = set()
    for line in lines:
        zone = line.timezone or timezone
        target = next((target for text, target in targets.items() if text in line.command), None)
        refusal = _refusal(line, zone, target)
        if target is None or refusal is not None:
            warnings.append(Warned(line.number, str(refusal), is_refused=True))
            continue
        if line.stdin is not None:
            warnings.append(
                Warned(line.number, "what follows % was the command's standard input: it is input.stdin now")
            )
        name = _name(line.command, names)
        names.add(name)
        schedules.append(_schedule(name, target, line, zone))
    return schedules, warnings


def targets_of(texts: Sequence[str], other: str | None) -> dict[str, str]:
    """What runs commands with these texts in them, the first that fits, and what runs all others."""
    targets = {}
    for given in texts:
        text, sign, target = given.rpartition("=")
        if not sign or not text:
            raise Invalid(f"--map takes text=target, such as backup.sh=python:backup, got {given!r}")
        targets[text] = target_said(target)
    return targets if other is None else {**targets, "": target_said(other)}


def _entry(line: str, is_system: bool) -> tuple[str, str] | None:
    entry = _ENTRY.fullmatch(line)
    if entry is None:
        return None
    cron, command = " ".join(entry[1].split()), entry[2]
    if is_system:
        user = _WITH_USER.fullmatch(command)
        if user is None:
            return None
        command = user[2]
    return cron, command


def _without_percent(command: str) -> tuple[str, str | None]:
    """`%` ends the command and begins its input, in which each further one ends a line; `\\%` is a plain one."""
    parts = [part.replace("\\%", "%") for part in re.split(r"(?<!\\)%", command)]
    return parts[0].strip(), "\n".join(parts[1:]) if len(parts) > 1 else None


def _refusal(line: Line, zone: str, target: str | None) -> str | None:
    if line.cron == "@reboot":
        return "@reboot names no moments: start that with the machine"
    try:
        Spec(cron=line.cron, timezone=zone).compile()
    except Refusal as refusal:
        return str(refusal)
    return f"nothing runs {line.command[:60]!r}: say what does, by --map or --target" if target is None else None


def _schedule(name: str, target: str, line: Line, zone: str) -> dict[str, Any]:
    given = {"command": line.command} | ({} if line.stdin is None else {"stdin": line.stdin})
    schedule = {"name": name, "target": target, "cron": line.cron, "timezone": zone, "input": given}
    return schedule if line.comment is None else {**schedule, "memo": line.comment}


def _name(command: str, taken: set[str]) -> str:
    """After the program that the command starts, with a number when there are several."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    program = next((word for word in words if "=" not in word), "entry")
    try:
        name = slug_of(PurePath(program).stem)[:_LONGEST_NAME]
    except Invalid:
        name = "entry"
    return next(each for each in _numbered(name) if each not in taken)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
