"""`foliot key`, `foliot user` and `foliot trail`: who may ask, and who did what."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from foliot.cli.consent import Yes, check_meant
from foliot.cli.given import moment_given
from foliot.cli.lazily import new_app
from foliot.cli.output import Output, View
from foliot.cli.profile import Profile, api_key, profile_path, read_profile, server_url, write_profile
from foliot.cli.session import Limit, Session, asking, path_of
from foliot.domain.errors import Conflict, Invalid, NotFound

if TYPE_CHECKING:
    from foliot.services.people import ApiKey

keys = new_app("Make, look at and revoke API keys.")
users = new_app("Say who may do what; for admins.")
trail = new_app("See who changed what; for admins.")

KeyId = Annotated[str, Argument(metavar="KEY", help="Its id, which is no secret.")]
UserId = Annotated[str, Argument(metavar="USER", help="Whatever you call your users.")]

_KEY = View(
    {
        "ID": "id",
        "USER": "user",
        "NAME": "name",
        "RIGHTS": "rights",
        "EXPIRES": "expires_at",
        "USED": "used_at",
        "REVOKED": "revoked_at",
    }
)
_USER = View({"USER": "id", "ROLE": "role", "DISABLED": "disabled_at", "SINCE": "created_at"})
_DEED = View(
    {"NUMBER": "number", "AT": "at", "ACTOR": "actor", "ACTION": "action", "SUBJECT": "subject", "DETAILS": "details"},
    name="number",
)


@keys.command("create")
@asking
def create_key(
    session: Session,
    name: Annotated[str, Argument(metavar="NAME", help="What it is for, such as laptop.")],
    user: Annotated[str | None, Option(help="Whose it is, if not yours; for admins.")] = None,
    right: Annotated[list[str] | None, Option(help="read, write, decide or admin; several times. Else all.")] = None,
    expires: Annotated[str | None, Option(metavar="MOMENT", help="Until when it opens anything.")] = None,
    database: Annotated[
        str | None, Option(metavar="URL", help="Ask no server but make an admin's key in this database: the first one.")
    ] = None,
    save: Annotated[bool, Option("--save", help="Keep it in the profile, which only you can read.")] = False,
) -> None:
    """Make an API key. It is printed once, on standard output, and kept nowhere but as a digest.

    \b
    Examples:
      foliot key create laptop --save
      foliot key create ci --right read --expires 2027-01-01T00:00:00Z > ci.key
      foliot key create first --database sqlite:///foliot.db --save
    """
    if session.output is Output.NAME and not save:
        raise Invalid(
            "-o name prints a key's id and not its secret, which is told once: --save keeps it, and -o json prints both"
        )
    wanted = {"name": name, "user": user, "rights": right or None, "expires_at": moment_given("--expires", expires)}
    given = {option: value for option, value in wanted.items() if value is not None}
    made = session.client.post("/keys", given) if database is None else _made_in(database, given)
    if made["secret"] is None:
        raise Conflict(
            f"the key {made['id']} was made, but what is secret of it was lost on the way: revoke it, and ask again"
        )
    if save:
        url = session.client.url if database is None else read_profile().url
        session.say(
            f"foliot: the key {made['id']} of {made['user']} is in {write_profile(Profile(url, made['secret']))}"
        )
    elif session.is_for_people:
        session.say(f"foliot: the key {made['id']} of {made['user']}, printed this once:")
        print(made["secret"])
    if not session.is_for_people:
        session.show(made, _KEY)


def _made_in(database: str, given: dict[str, Any]) -> dict[str, Any]:
    """A key made without a server, by whoever can write the database."""
    # Imported here: who asks a server needs no libraries of databases.
    from foliot.http.v1.keys import shown  # noqa: PLC0415
    from foliot.wiring import Parts  # noqa: PLC0415

    parts = Parts(database, {})
    try:
        made: ApiKey = parts.verbs.keys.create(**given)
        return {**shown(made).model_dump(mode="json"), "secret": made.secret}
    finally:
        parts.close()


@keys.command("list")
@asking
def list_keys(
    session: Session, user: Annotated[str | None, Option(help="Whose; for admins.")] = None, limit: Limit = 100
) -> None:
    """List keys, without what is secret of them.

    \b
    Examples:
      foliot key list
      foliot key list --user ann -o json
    """
    session.list("/keys", _KEY, limit, user=user)


@keys.command("show")
def show_key(
    url: Annotated[str | None, Option(metavar="URL", help="Of which server; else FOLIOT_URL, the profile.")] = None,
) -> None:
    """Print the key that your commands ask by, of FOLIOT_KEY or the profile: for the Authorization header of curl.

    \b
    Examples:
      foliot key show
      foliot key show --url http://127.0.0.1:8431
    """
    profile = read_profile()
    where = server_url(url, profile)
    key = api_key(None, profile, where)
    if key is None:
        raise NotFound(
            f"there is no key of {where} in FOLIOT_KEY or {profile_path()}: `foliot serve` makes one on this machine, "
            "`foliot key create NAME --save` another"
        )
    print(key)


@keys.command("revoke")
@asking
def revoke_key(session: Session, key: KeyId, yes: Yes = False) -> None:
    """Let a key open nothing any more, at once.

    \b
    Examples:
      foliot key revoke 4f2a9c01b7de
    """
    if not yes:
        found = session.client.get(path_of("keys", key))
        check_meant(f"Revoke {found['id']}, {found['name']!r} of {found['user']}?", yes)
    session.show(session.client.write("DELETE", path_of("keys", key)), _KEY)


@users.command("list")
@asking
def list_users(session: Session, limit: Limit = 100) -> None:
    """List users, and what each may do.

    \b
    Examples:
      foliot user list
    """
    session.list("/users", _USER, limit)


@users.command("put")
@asking
def put_user(
    session: Session,
    user: UserId,
    role: Annotated[str, Option(help="admin, member or viewer.")] = "member",
) -> None:
    """Make a user one of that role, known or not.

    \b
    Examples:
      foliot user put ann --role admin
    """
    session.show(session.client.write("PUT", path_of("users", user), {"role": role}), _USER)


@users.command("disable")
@asking
def disable_user(session: Session, user: UserId, yes: Yes = False) -> None:
    """Let none of a user's keys be taken any more; what is theirs goes on.

    \b
    Examples:
      foliot user disable ann
    """
    check_meant(f"Take no key of {user} any more?", yes)
    session.show(session.client.post(path_of("users", user, "disable")), _USER)


@users.command("enable")
@asking
def enable_user(session: Session, user: UserId) -> None:
    """Let a user's keys be taken again.

    \b
    Examples:
      foliot user enable ann
    """
    session.show(session.client.post(path_of("users", user, "enable")), _USER)


@trail.command("list")
@asking
def list_trail(
    session: Session,
    subject: Annotated[str | None, Option(metavar="KIND/ID", help="Of what, such as schedule/digest.")] = None,
    actor: Annotated[str | None, Option(metavar="USER", help="By whom.")] = None,
    limit: Limit = 50,
) -> None:
    """List who changed what, the newest first.

    \b
    Examples:
      foliot trail list --subject schedule/digest
      foliot trail list --actor ann -o jsonl --limit 0
    """
    session.list("/trail", _DEED, limit, subject=subject, actor=actor)
