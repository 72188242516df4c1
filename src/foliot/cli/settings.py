"""`foliot settings`: every setting, its value and where that comes from."""

from typing import Annotated, Any

from typer import Option

from foliot.cli.lazily import new_app
from foliot.cli.output import View
from foliot.cli.profile import Profile, kept_key, profile_path, read_profile, server_url
from foliot.cli.session import Session, printing
from foliot.settings.sources import NOT_SHOWN, Settings, read_settings
from foliot.settings.table import KEY, TABLE, URL, Setting

app = new_app("Look at the settings, and where they come from.")


@app.callback()
def _all() -> None:
    pass


@app.command()
@printing
def show(
    session: Session,
    origin: Annotated[bool, Option("--origin", help="Say where each value comes from.")] = False,
) -> None:
    """Show what holds here: environment, file, profile, defaults. Secrets are never shown. Offline.

    \b
    Examples:
      foliot settings show --origin
      foliot settings show -o json
    """
    said = read_settings()
    said.check()
    profile = read_profile()
    found = [{"name": one.name, **_held(said, profile, one)} for one in TABLE]
    columns = {"SETTING": "name", "VALUE": "value"} | ({"ORIGIN": "origin"} if origin else {})
    session.show_all(found, View(columns, name="name"))
    for strange in said.unknown():
        session.say(f"warning: {strange}")


def _held(said: Settings, profile: Profile, setting: Setting[Any]) -> dict[str, str]:
    """Its value, and where that comes from: where nothing says how commands ask, they look into the profile."""
    if said.origin(setting) == "default":
        if setting is URL:
            origin = "default" if profile.url is None else f"file {profile_path()}"
            return {"value": server_url(None, profile), "origin": origin}
        if setting is KEY and (kept := kept_key(profile, server_url(None, profile))) is not None:
            return {"value": NOT_SHOWN, "origin": f"file {kept.path}"}
    return {"value": said.shown(setting), "origin": said.origin(setting)}
