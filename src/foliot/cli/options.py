"""All that can be said of a schedule, as options of `create` and `edit`."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from typer import Option

from foliot.cli.bundles import bundled, parameters_of
from foliot.cli.given import json_given, labels_given
from foliot.domain.errors import Invalid

Several = list[str] | None
Options = dict[str, Any]

SOURCES = ("cron", "every", "at", "calendars", "manual")
"""Which moments are meant; one of them replaces all of them."""
SPEC = (
    *SOURCES,
    "exclude",
    "timezone",
    "gap",
    "fold",
    "dialect",
    "start_at",
    "end_at",
    "jitter",
    "jitter_mode",
)


def said_of_when(
    cron: Annotated[Several, Option(metavar="TEXT", help="Cron text; several times.")] = None,
    every: Annotated[Several, Option(metavar="SPAN", help="An interval: 90m, or 90m/5m; several times.")] = None,
    at: Annotated[Several, Option(metavar="MOMENT", help="A moment, RFC 3339; several times.")] = None,
    calendar: Annotated[
        Several, Option(metavar="JSON", help='A calendar: \'{"hour": "9-17"}\'; several times.')
    ] = None,
    exclude: Annotated[Several, Option(metavar="JSON", help="A calendar to leave out; several times.")] = None,
    manual: Annotated[bool | None, Option("--manual", help="No moments of its own: only when triggered.")] = None,
    timezone: Annotated[str | None, Option(metavar="ZONE", help="An IANA name; UTC without one.")] = None,
    gap: Annotated[str | None, Option(help="A time that a clock change skips: auto, shift or skip.")] = None,
    fold: Annotated[str | None, Option(help="A repeated one: auto, first, second or both.")] = None,
    dialect: Annotated[str | None, Option(help="Whose cron text it is: cron or temporal.")] = None,
    start_at: Annotated[str | None, Option(metavar="MOMENT", help="Not before.")] = None,
    end_at: Annotated[str | None, Option(metavar="MOMENT", help="Not after.")] = None,
    jitter: Annotated[str | None, Option(metavar="SPAN", help="Start up to so much later.")] = None,
    jitter_mode: Annotated[str | None, Option(help="after or around.")] = None,
) -> Options:
    """Which moments are meant."""
    several = {"cron": cron, "every": every, "at": at}
    return {
        **{name: texts[0] if texts is not None and len(texts) == 1 else texts for name, texts in several.items()},
        "calendars": [json_given("--calendar", text) for text in calendar or ()] or None,
        "exclude": [json_given("--exclude", text) for text in exclude or ()] or None,
        "manual": manual,
        "timezone": timezone,
        "gap": gap,
        "fold": fold,
        "dialect": dialect,
        "start_at": start_at,
        "end_at": end_at,
        "jitter": jitter,
        "jitter_mode": jitter_mode,
    }


def said_of_how(
    target: Annotated[str | None, Option(help="What runs: provider:name, or the name of a Python function.")] = None,
    overlap: Annotated[
        str | None,
        Option(help="While one runs: skip, buffer_one, buffer_all, cancel_other, terminate_other or allow_all."),
    ] = None,
    buffer: Annotated[int | None, Option(help="How many buffer_all holds.")] = None,
    catchup: Annotated[str | None, Option(help="Of slots found late: none, last, all or spread.")] = None,
    catchup_window: Annotated[str | None, Option(metavar="SPAN", help="How old a slot may be.")] = None,
    catchup_cap: Annotated[int | None, Option(help="How many late slots at once.")] = None,
    grace: Annotated[str | None, Option(metavar="SPAN", help="So late is not late.")] = None,
    lookahead: Annotated[str | None, Option(metavar="SPAN", help="Over how long a backlog is spread.")] = None,
    retry: Annotated[str | None, Option(metavar="N|JSON", help="All attempts, or an object with backoff.")] = None,
    timeout: Annotated[str | None, Option(metavar="SPAN", help="How long a run may take.")] = None,
    starts: Annotated[int | None, Option("--starts", help="How many slots may start, ever.")] = None,
    pause_on_failure: Annotated[bool | None, Option(help="Pause it when a run fails.")] = None,
    budget: Annotated[str | None, Option(metavar="JSON", help='\'{"credits": 5000, "per": "day"}\'')] = None,
    max_calls: Annotated[int | None, Option(help="Billable calls of one run.")] = None,
    max_tokens: Annotated[int | None, Option(help="Tokens of one run.")] = None,
    max_credits: Annotated[int | None, Option(help="Credits of one run.")] = None,
    input: Annotated[str | None, Option(metavar="JSON|@FILE", help="What each run is given.")] = None,
    label: Annotated[Several, Option(metavar="NAME=VALUE", help="A label; several times.")] = None,
    memo: Annotated[str | None, Option(metavar="JSON|@FILE", help="Whatever you want to remember.")] = None,
    grant: Annotated[str | None, Option(metavar="GRANT", help="By which permission it runs.")] = None,
) -> Options:
    """What runs, how, and with what."""
    given = locals()
    return {
        **{name: given[name] for name in _PLAIN},
        "retry": json_given("--retry", retry),
        "limit": starts,
        "budget": json_given("--budget", budget),
        "input": json_given("--input", input),
        "labels": labels_given(label),
        "memo": json_given("--memo", memo),
    }


_READ = ("retry", "starts", "budget", "input", "label", "memo")
_PLAIN = tuple(name for name in parameters_of(said_of_how) if name not in _READ)
_SENT_AS = {"calendar": "calendars", "starts": "limit", "label": "labels"}
"""Options that a schedule knows by another name."""
CLEARED = {
    name: _SENT_AS.get(name, name)
    for name in (*parameters_of(said_of_when), *parameters_of(said_of_how))
    # A schedule always runs by one: it takes another, and has none to go back to.
    if name != "grant"
}
"""All that have a default, each with the name that it is sent by."""


def cleared_of(options: Iterable[str]) -> list[str]:
    """The names that these options are sent by; Invalid when one has no default."""
    found = []
    for option in options:
        name = option.replace("-", "_")
        sent = CLEARED.get(name, name)
        if sent not in CLEARED.values():
            known = ", ".join(own.replace("_", "-") for own in CLEARED)
            raise Invalid(f"--clear takes {known}, got {option!r}")
        found.append(sent)
    return found


def describing(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all that can be said of a schedule, instead of the `options` that it takes."""
    when, how = parameters_of(said_of_when), parameters_of(said_of_how)

    def said(**given: Any) -> Options:
        options = said_of_when(**{name: given[name] for name in when})
        options |= said_of_how(**{name: given[name] for name in how})
        return {name: value for name, value in options.items() if value is not None and value != []}

    return bundled(command, "options", {**when, **how}, said)
