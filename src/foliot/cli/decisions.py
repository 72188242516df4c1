"""`foliot decision`: runs that wait for a person."""

from typing import Annotated

from typer import Argument, Option

from foliot.cli.completion import complete_runs
from foliot.cli.given import json_given
from foliot.cli.lazily import new_app
from foliot.cli.output import View
from foliot.cli.session import Limit, Session, asking, path_of

app = new_app("See what waits for you, and answer it.")

RunId = Annotated[str, Argument(metavar="RUN", help="The run that asks.", autocompletion=complete_runs)]
Feedback = Annotated[
    str | None,
    Option("--feedback", metavar="JSON|@FILE", help="What the run is told besides; text in quotes is JSON too."),
]

_DECISION = View(
    {"RUN": "run", "SCHEDULE": "schedule", "ASKS": "kind", "DATA": "data", "EXPIRES": "expires_at"}, name="run"
)
_DECIDED = View({"RUN": "run", "STATUS": "status", "REASON": "reason", "BY": "decided_by"}, name="run")


@app.command("list")
@asking
def list_decisions(session: Session, limit: Limit = 100) -> None:
    """List what waits, and you may answer.

    \b
    Examples:
      foliot decision list
    """
    session.list("/decisions", _DECISION, limit)


@app.command("approve")
@asking
def approve(session: Session, run: RunId, feedback: Feedback = None) -> None:
    """Let a run go on.

    \b
    Examples:
      foliot decision approve digest:2026-11-15T09:00:00Z~1
    """
    _decide(session, run, "approve", feedback)


@app.command("revise")
@asking
def revise(session: Session, run: RunId, feedback: Feedback = None) -> None:
    """Let a run try again, with what you tell it.

    \b
    Examples:
      foliot decision revise digest:2026-11-15T09:00:00Z~1 --feedback '"shorter, please"'
    """
    _decide(session, run, "revise", feedback)


@app.command("reject")
@asking
def reject(session: Session, run: RunId, feedback: Feedback = None) -> None:
    """Let a run end here.

    \b
    Examples:
      foliot decision reject digest:2026-11-15T09:00:00Z~1
    """
    _decide(session, run, "reject", feedback)


def _decide(session: Session, run: str, verdict: str, feedback: str | None) -> None:
    body = {"verdict": verdict} | ({} if feedback is None else {"feedback": json_given("--feedback", feedback)})
    session.show(session.client.post(path_of("runs", run, "decision"), body), _DECIDED)
