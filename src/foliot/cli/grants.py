"""`foliot grant`: permissions, by which everything runs."""

from collections.abc import Sequence
from typing import Annotated, Any

from typer import Argument, Option

from foliot.cli.completion import complete_grants
from foliot.cli.consent import Yes, check_meant
from foliot.cli.given import json_given, moment_given
from foliot.cli.lazily import new_app
from foliot.cli.output import View
from foliot.cli.session import Limit, Session, asking, path_of
from foliot.domain.errors import Invalid
from foliot.domain.grants import EVERYTHING

app = new_app("Make, look at, extend and revoke permissions.")

GrantId = Annotated[str, Argument(metavar="GRANT", help="Its id, such as grant-7.", autocompletion=complete_grants)]
Scopes = Annotated[
    list[str] | None, Option("--scope", metavar="SCOPE", help="Such as graph:execute:python:digest; several times.")
]
Expires = Annotated[str | None, Option("--expires", metavar="MOMENT", help="Until when.")]
Everything = Annotated[
    bool, Option("--everything", help="Said besides the scope graph:execute:*: nobody permits everything by mistake.")
]
Budget = Annotated[str | None, Option("--budget", metavar="JSON", help='\'{"credits": 5000, "per": "day"}\'')]

_GRANT = View(
    {
        "ID": "id",
        "USER": "user",
        "SCOPES": "scopes",
        "EXPIRES": "expires_at",
        "REVOKED": "revoked_at",
        "BUDGET": "budget",
    }
)


@app.command("create")
@asking
def create_grant(
    session: Session,
    scope: Scopes = None,
    user: Annotated[str | None, Option(help="Whose it is, if not yours; for admins.")] = None,
    expires: Expires = None,
    budget: Budget = None,
    everything: Everything = False,
) -> None:
    """Make a permission to run what its scopes name.

    \b
    Examples:
      foliot grant create --scope graph:execute:python:digest --expires 2027-01-01T00:00:00Z
      foliot grant create --user ann --scope 'graph:execute:http:*' --budget '{"credits": 5000, "per": "day"}'
      foliot grant create --scope 'graph:execute:*' --everything
    """
    if not scope:
        raise Invalid("say what is permitted: --scope, such as graph:execute:python:digest; several times")
    _check_everything(scope, everything)
    said: dict[str, Any] = {"scopes": scope, "user": user, "expires_at": moment_given("--expires", expires)}
    said |= {"budget": json_given("--budget", budget)}
    wanted = {name: value for name, value in said.items() if value is not None}
    wanted |= {"everything": True} if everything else {}
    session.show(session.client.post("/grants", wanted), _GRANT)


@app.command("list")
@asking
def list_grants(
    session: Session, user: Annotated[str | None, Option(help="Whose; for admins.")] = None, limit: Limit = 100
) -> None:
    """List permissions.

    \b
    Examples:
      foliot grant list
      foliot grant list --user ann -o name
    """
    session.list("/grants", _GRANT, limit, user=user)


@app.command("show")
@asking
def show_grant(session: Session, grant: GrantId) -> None:
    """Show a permission.

    \b
    Examples:
      foliot grant show grant-7
    """
    session.show(session.client.get(path_of("grants", grant)), _GRANT)


@app.command("extend")
@asking
def extend_grant(
    session: Session,
    grant: GrantId,
    scope: Scopes = None,
    expires: Expires = None,
    budget: Budget = None,
    everything: Everything = False,
) -> None:
    """Change until when a permission holds, what it names, or what its runs may cost.

    \b
    Examples:
      foliot grant extend grant-7 --expires 2028-01-01T00:00:00Z
      foliot grant extend grant-7 --budget '{"credits": 9000, "per": "day"}'
    """
    said: dict[str, Any] = {"scopes": scope or None, "expires_at": moment_given("--expires", expires)}
    said |= {"budget": json_given("--budget", budget)}
    changes = {name: value for name, value in said.items() if value is not None}
    if not changes or (everything and not scope):
        raise Invalid("say what is to change: --expires, --scope or --budget; --everything goes with a --scope")
    _check_everything(scope or [], everything)
    changes |= {"everything": True} if everything else {}
    session.show(session.client.write("PATCH", path_of("grants", grant), changes), _GRANT)


@app.command("revoke")
@asking
def revoke_grant(
    session: Session,
    grant: GrantId,
    stop: Annotated[bool, Option("--stop", help="Also stop what runs by it.")] = False,
    yes: Yes = False,
) -> None:
    """Let nothing start by a permission any more, at once; its schedules skip their slots.

    \b
    Examples:
      foliot grant revoke grant-7
      foliot grant revoke grant-7 --stop --yes
    """
    if not yes:
        found = session.client.get(path_of("grants", grant))
        check_meant(f"Revoke {found['id']} of {found['user']}, for {', '.join(found['scopes'])}?", yes)
    session.show(session.client.post(path_of("grants", grant, "revoke"), {"stop": stop}), _GRANT)


def _check_everything(scopes: Sequence[str], everything: bool) -> None:
    if EVERYTHING in scopes and not everything:
        raise Invalid(
            f"{EVERYTHING!r} permits every target there will ever be: say --everything besides, or name targets"
        )
