"""`foliot schedule plan`, `apply`, `export` and `import-crontab`: schedules that a file declares."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from typer import Argument, Exit, Option

from foliot.cli.consent import DryRun, Yes, check_meant
from foliot.cli.exits import FAILED
from foliot.cli.given import document_in, text_in
from foliot.cli.output import Item, Output, View, cell_text, columns_of
from foliot.cli.progress import working
from foliot.cli.session import Session, path_of_schedule
from foliot.domain.errors import Invalid, NotFound, Refusal
from foliot.domain.schedule import slug_of

File = Annotated[str, Option("--file", "-f", metavar="FILE", help="The declared set, as YAML; - is standard input.")]
SetName = Annotated[
    str | None, Option("--set", metavar="NAME", help="The name of the set; else the one that the file says.")
]
Overwrite = Annotated[bool, Option("--overwrite", help="Also what somebody has changed since it was applied last.")]
User = Annotated[str | None, Option("--user", help="Whose the schedules are to be; for admins.")]

_SIGNS = {"create": "+", "adopt": "+", "change": "~", "resume": "~", "pause": "-", "vanished": "-", "none": "="}
_IDLE = ("vanished", "none")
"""Nothing is done."""
_PLANNED = {
    "create": "to create",
    "adopt": "to adopt",
    "change": "to change",
    "resume": "to resume",
    "pause": "to pause",
    "vanished": "vanished (paused already)",
    "none": "as declared",
    "drifted": "drifted",
}
_APPLIED = {
    "create": "created",
    "adopt": "adopted",
    "change": "changed",
    "resume": "resumed",
    "pause": "paused",
    "vanished": "vanished (paused already)",
    "none": "as declared",
    "drifted": "drifted",
}
_EXPORTED = "exported"
_LONGEST_SET = 100
"""So many letters of a set's name can be asked for."""
_VIEW = View({"ID": "id", "MEASURE": "measure", "MOVED": "moved", "NOTE": "note"})


def plan(
    session: Session,
    file: File = "schedules.yaml",
    set_name: SetName = None,
    overwrite: Overwrite = False,
    check: Annotated[bool, Option("--check", help="Exit with 1 when anything would change, or has drifted.")] = False,
) -> None:
    """Show what applying a declared set would do: each field, and how it moves the next times.

    What somebody has changed since the set was applied last is shown as drift, and stays unless it is overwritten.

    \b
    Examples:
      foliot schedule plan -f schedules.yaml
      foliot schedule plan -f schedules.yaml --check -q
    """
    planned = session.client.post("/schedules/plan", {**declared_in(file, set_name), "overwrite": overwrite})
    _show(session, planned)
    if check and any(one["measure"] not in _IDLE or one["changes"] for one in planned["schedules"]):
        raise Exit(FAILED)


def apply(
    session: Session,
    file: File = "schedules.yaml",
    set_name: SetName = None,
    overwrite: Overwrite = False,
    user: User = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Make the schedules what a file declares, all or none.

    What vanished from the file is paused with a note, never deleted, and resumed when it is back. Pauses, notes and
    budgets are the operator's, and stay.

    \b
    Examples:
      foliot schedule apply -f schedules.yaml
      foliot schedule apply -f schedules.yaml --dry-run
      git show HEAD:schedules.yaml | foliot schedule apply -f - --yes
    """
    wanted = {**declared_in(file, set_name), "overwrite": overwrite}
    if dry_run or not yes:
        planned = session.client.post("/schedules/plan", wanted)
        if dry_run:
            _show(session, planned)
            return
        # Also what changes nothing is applied: how the file says it, and what has vanished from it, is remembered.
        if any(one["measure"] not in _IDLE for one in planned["schedules"]):
            for line in _lines(planned):
                session.say(line)
            check_meant("Apply this?", yes)
    with working(session, f"applying {len(wanted['schedules'])} schedules"):
        applied = session.client.post("/schedules/apply", wanted if user is None else {**wanted, "user": user})
    _show(session, applied)


def export(
    session: Session,
    schedules: Annotated[
        list[str] | None, Argument(metavar="SCHEDULE", help="Only these, by their ids or names.")
    ] = None,
    set_name: Annotated[str | None, Option("--set", metavar="NAME", help="Only those of this set.")] = None,
) -> None:
    """Write schedules as `apply` reads them: those of a set, those that are named, or all that nobody declares.

    What vanished from its set, and is paused, is left out unless it is named. Without --set the set is called exported,
    with the names behind it where some are given: what is applied under one name pauses what else was.

    \b
    Examples:
      foliot schedule export --set mail > schedules.yaml
      foliot schedule export digest weekly -o json
    """
    items = list(session.client.items("/declared", {"set": set_name}))
    if set_name is not None and not items:
        raise NotFound(f"there is no set {set_name!r} with anything in it: `foliot schedule list` shows what there is")
    called = set_name or _EXPORTED
    if not schedules:
        items = _of_set(session, items, called)
    else:
        items = _named(session, items, schedules)
        called = set_name or "-".join([_EXPORTED, *(slug_of(item["name"]) for item in items)])[:_LONGEST_SET]
    _print_set(session, called, [{"name": item["name"], **item["options"]} for item in items])


def _named(session: Session, items: Sequence[Item], schedules: Sequence[str]) -> list[Item]:
    """Those of these ids or names; NotFound or Invalid when one of them is not there, or not to be exported."""
    wanted = {slug_of(name): name for name in schedules}
    found = [item for item in items if slug_of(item["name"]) in wanted]
    if missing := {*wanted} - {slug_of(item["name"]) for item in found}:
        raise _nothing_to_export(session, sorted(wanted[one] for one in missing))
    return found


def _of_set(session: Session, items: Sequence[Item], called: str) -> list[Item]:
    """What is in that set, and what is in none: what the file leaves out is paused when it is applied."""
    if others := sorted({item["set"] for item in items} - {None, called}):
        session.say(f"foliot: schedules of other sets are left out, export each by --set: {', '.join(others)}")
    items = [item for item in items if item["set"] in (None, called)]
    if gone := sum(item["vanished"] for item in items):
        session.say(f"foliot: {gone} that vanished from the set, and are paused, are left out")
    return [item for item in items if not item["vanished"]]


def _nothing_to_export(session: Session, names: Sequence[str]) -> Refusal:
    """NotFound, unless there are schedules of all these names."""
    for name in names:
        try:
            session.client.get(path_of_schedule(name))
        except NotFound as refusal:
            return refusal
    return Invalid(f"there is nothing to export named {', '.join(names)}: programs declare their own")


def import_crontab(
    session: Session,
    file: Annotated[str, Argument(metavar="FILE", help="A crontab; - is standard input.")] = "-",
    set_name: Annotated[str, Option("--set", metavar="NAME", help="The name of the set.")] = "crontab",
    mapped: Annotated[
        list[str] | None,
        Option("--map", metavar="TEXT=TARGET", help="What runs commands with this text in them; several times."),
    ] = None,
    target: Annotated[
        str | None, Option("--target", metavar="TARGET", help="What runs all others; it is given the command.")
    ] = None,
    timezone: Annotated[
        str | None, Option("--timezone", metavar="ZONE", help="Where no CRON_TZ is set; else UTC.")
    ] = None,
    system: Annotated[bool, Option("--system", help="A user stands before each command, as in /etc/crontab.")] = False,
) -> None:
    """Turn a crontab into a file that `apply` reads, for targets of yours. Offline.

    A command becomes the input of its target, as {"command": "..."}. Warnings go to standard error. The exit code is 2
    when an entry became no schedule; where none did, nothing is written.

    \b
    Examples:
      crontab -l | foliot schedule import-crontab --target python:shell --timezone Europe/Berlin > schedules.yaml
      foliot schedule import-crontab /etc/crontab --system --map backup.sh=http:backup
    """
    # Imported here: the core of time is of no use to the other commands.
    from foliot.cli import crontab  # noqa: PLC0415

    targets = crontab.targets_of(mapped or [], target)
    lines, warnings = crontab.read_crontab(text_in(file), is_system=system)
    schedules, more = crontab.schedules_of(lines, targets, timezone or "UTC")
    if timezone is None and any(line.timezone is None for line in lines):
        session.say(
            "foliot: times of a crontab are those of its machine: they are taken for UTC, unless --timezone says"
        )
    said = sorted([*warnings, *more])
    for warning in said:
        session.say(f"foliot: {warning}")
    if schedules:
        _print_set(session, set_name, schedules)
    total = len(schedules) + sum(warning.is_refused for warning in said)
    if not total:
        raise Invalid(f"there is no entry in {file!r} that could become a schedule: `crontab -l` prints a user's")
    became = f"{len(schedules)} of {total} entries became schedules"
    if len(schedules) < total:
        raise Invalid(f"{became}: mend the others, or take them out of the crontab")
    session.say(f"foliot: {became}")


def _print_set(session: Session, name: str, schedules: Sequence[Item]) -> None:
    if session.output in (Output.JSONL, Output.NAME):
        session.show_all(schedules, View({}, name="name"))
    else:
        session.show_document({"set": name, "schedules": schedules})


def declared_in(file: str, set_name: str | None) -> dict[str, Any]:
    """The set that a file declares, by that name or its own."""
    document = document_in(file)
    if not isinstance(document, dict) or not isinstance(document.get("schedules"), list):
        raise Invalid(
            f"{file!r} takes `set: name` and `schedules:` with a list below it: `foliot schedule export` writes one"
        )
    if unknown := set(document) - {"set", "schedules"}:
        raise Invalid(f"{file!r} takes set and schedules, got {', '.join(sorted(unknown))}")
    name = set_name or document.get("set")
    if not name:
        raise Invalid(f"{file!r} does not say which set it is: write `set: name` into it, or give --set")
    return {"set": str(name), "schedules": document["schedules"]}


def _show(session: Session, answer: Mapping[str, Any]) -> None:
    if not session.is_for_people:
        session.show_all(answer["schedules"], _VIEW)
        return
    for line in _lines(answer):
        print(line)


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    counts = Counter(_standing(one) for one in answer["schedules"])
    verb, done = ("applied", _APPLIED) if answer["applied"] else ("planned", _PLANNED)
    said = [f"{counts[standing]} {words}" for standing, words in done.items() if counts[standing]]
    yield f"{answer['set']}, {verb}: {', '.join(said) or 'nothing in it'}"
    for one in answer["schedules"]:
        if one["measure"] != "none" or one["changes"]:
            yield from _lines_of(one)


def _standing(one: Item) -> str:
    """What is done to a schedule; of those that are left alone, drifted when somebody has changed it since."""
    has_drifted = one["measure"] == "none" and any(change["drift"] for change in one["changes"])
    return "drifted" if has_drifted else str(one["measure"])


def _lines_of(one: Item) -> Iterator[str]:
    yield f"{_SIGNS[one['measure']]} {one['id']}: {_headline(one)}"
    for line in columns_of([_change(change) for change in one["changes"]]) if one["changes"] else ():
        yield f"    {line}"
    if one["next_now"] != one["next_wanted"]:
        rows = [["next now", _times(one["next_now"])], ["next then", _times(one["next_wanted"])]]
        for line in columns_of(rows):
            yield f"    {line}"


def _headline(one: Item) -> str:
    words = [one["measure"] if one["measure"] != "none" else "as it is"]
    if one["moved"] and one["measure"] in ("change", "adopt"):
        words.append(f"moves {one['moved']} of the next 20 times")
    if one["note"]:
        words.append(one["note"])
    return ", ".join(words)


def _change(change: Item) -> list[str]:
    note = "the operator's: kept" if change["kept"] else ""
    if change["drift"]:
        note = "changed by somebody since: " + ("kept" if change["kept"] else "overwritten")
    return [change["field"], f"{_said(change['now'])} -> {_said(change['wanted'])}", note]


def _said(value: Any) -> str:
    return "default" if value is None else cell_text(value)


def _times(times: Sequence[str]) -> str:
    return ", ".join(times) or "none"
