"""Settings: which source wins, what is refused and in which words, and that nothing secret is shown."""

import json
from pathlib import Path

import pytest

from foliot import Foliot, Invalid
from foliot.cli.output import Output
from foliot.cli.profile import Profile, keep_private, kept_key_path, write_profile
from foliot.cli.settings import show
from foliot.engine.settings import EngineSettings
from foliot.settings import engine_settings, pace_of
from foliot.settings.sources import Settings, config_folder, read_settings, without_password
from foliot.settings.table import (
    DATABASE,
    HTTP_ALLOW,
    INTERNAL_SECRET,
    JWT_REVOKED_KIDS,
    PORT,
    TABLE,
    TICK_MS,
)

SECRET = "canary-canary-canary-canary"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory; nothing is said anywhere."""
    monkeypatch.chdir(tmp_path)
    for setting in TABLE:
        monkeypatch.delenv(setting.variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def said(folder: Path, flags: dict[str, object] | None = None, **environment: str) -> Settings:
    return read_settings(flags, {"XDG_CONFIG_HOME": str(folder / "config"), **environment})


def test_a_flag_wins_over_the_environment_which_wins_over_the_file_which_wins_over_the_default(folder: Path) -> None:
    seen = [said(folder)]
    (folder / "foliot.toml").write_text("port = 1\n")
    seen.append(said(folder))
    seen.append(said(folder, FOLIOT_PORT="2"))
    seen.append(said(folder, {"port": 3, "host": None}, FOLIOT_PORT="2"))
    assert [one.value(PORT) for one in seen] == [8420, 1, 2, 3]
    assert [one.origin(PORT) for one in seen] == [
        "default",
        "file foliot.toml",
        "environment FOLIOT_PORT",
        "flag --port",
    ]


def test_the_file_is_the_one_named_else_the_one_here_else_the_users(folder: Path) -> None:
    users = config_folder({"XDG_CONFIG_HOME": str(folder / "config")})
    users.mkdir(parents=True)
    (users / "config.toml").write_text("port = 1\n")
    assert said(folder).value(PORT) == 1
    (folder / "foliot.toml").write_text("port = 2\n")
    assert said(folder).value(PORT) == 2
    (folder / "other.toml").write_text("port = 3\n")
    assert said(folder, FOLIOT_CONFIG="other.toml").value(PORT) == 3
    with pytest.raises(Invalid, match=r"FOLIOT_CONFIG takes the path of a TOML file, got 'nowhere\.toml'"):
        said(folder, FOLIOT_CONFIG="nowhere.toml")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("prot = 1", r"'prot' in foliot.toml is no setting: did you mean port\?"),
        ("wholly_different = 1", r"is no setting: `foliot settings show` lists what there is"),
        ("config = 'x.toml'", "'config' in foliot.toml is no setting"),
        ("port = 70000", "port in foliot.toml takes a whole number from 0 to 65,535, got '70000'"),
        ("port = true", "port in foliot.toml takes text, a number or a list of them, got True"),
        ("port = ", "foliot.toml is no settings file"),
        ("log_level = 'loud'", "log_level in foliot.toml takes debug, info, warning or error, got 'loud'"),
        ("rate_limit = 'many'", "rate_limit in foliot.toml takes a number from 0.1 to 1,000,000, got 'many'"),
        ("lease = 30", "lease in foliot.toml takes a duration such as .* give each number its unit"),
        ("trace_url = 'https://x'", "trace_url in foliot.toml takes an address with {trace_id} in it"),
        (f"internal_secret = '{SECRET}'", "internal_secret in foliot.toml is a secret, which this file may not hold"),
        (
            f"database = 'postgresql://u:{SECRET}@db/jobs'",
            "database in foliot.toml has a password in it, which this file may not hold: write database_file",
        ),
        (f"database = 'postgresql://db/jobs?password={SECRET}'", "or set FOLIOT_DATABASE"),
        (f"database = 'postgresql+psycopg://u@db/jobs?a=b&sslpassword={SECRET}'", "has a password in it"),
        (f"database = 'postgresql://u:{SECRET}/?#@db/jobs'", "has a password in it"),
        ("jwt_key_file = 'nowhere'", "jwt_key_file in foliot.toml names 'nowhere', which cannot be read: No such file"),
    ],
)
def test_what_is_wrong_in_the_file_is_refused_in_words(folder: Path, written: str, words: str) -> None:
    (folder / "foliot.toml").write_text(written + "\n")
    with pytest.raises(Invalid, match=words) as refused:
        said(folder).check()
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///foliot.db",
        "sqlite:////srv/a:b/foliot.db",
        "postgresql://db.internal:5432/jobs",
        "postgresql://user@db/jobs?passfile=/run/secrets/pgpass",
    ],
)
def test_a_url_of_a_database_without_a_password_is_taken_from_the_file(folder: Path, url: str) -> None:
    (folder / "foliot.toml").write_text(f"database = '{url}'\n")
    assert said(folder).value(DATABASE) == url


def test_a_database_with_a_password_comes_from_the_environment_or_a_file_that_is_named(folder: Path) -> None:
    url = f"postgresql://u:{SECRET}@db/jobs"
    assert said(folder, FOLIOT_DATABASE=url).value(DATABASE) == url
    (folder / "url").write_text(f"{url}\n")
    (folder / "foliot.toml").write_text("database_file = 'url'\n")
    assert said(folder).value(DATABASE) == url


def test_a_secret_comes_from_the_environment_or_a_file_that_is_named(folder: Path) -> None:
    (folder / "secret").write_text(f"{SECRET}\n")
    assert said(folder, FOLIOT_INTERNAL_SECRET=SECRET).value(INTERNAL_SECRET) == SECRET
    by_variable = said(folder, FOLIOT_INTERNAL_SECRET_FILE="secret")
    assert by_variable.value(INTERNAL_SECRET) == SECRET
    assert by_variable.origin(INTERNAL_SECRET) == "environment FOLIOT_INTERNAL_SECRET_FILE"
    (folder / "foliot.toml").write_text("internal_secret_file = 'secret'\n")
    assert said(folder).value(INTERNAL_SECRET) == SECRET
    with pytest.raises(Invalid, match="are both set: say one of them"):
        said(folder, FOLIOT_INTERNAL_SECRET=SECRET, FOLIOT_INTERNAL_SECRET_FILE="secret").check()
    with pytest.raises(Invalid, match="takes at least 16 characters that nobody can guess, got 7") as refused:
        said(folder, FOLIOT_INTERNAL_SECRET="hunter2").check()
    assert "hunter2" not in str(refused.value)


def test_all_are_shown_with_their_origin_and_no_secret_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for setting in TABLE:
        if setting.is_secret:
            monkeypatch.setenv(setting.variable, SECRET)
    monkeypatch.setenv("FOLIOT_DATABASE", f"postgresql://me:{SECRET}@db/jobs?password={SECRET}")
    monkeypatch.setenv("FOLIOT_PROT", "1")
    show(output=Output.TABLE, quiet=False, origin=True)
    shown, said = capsys.readouterr()
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in shown.splitlines()}
    assert set(lines) == {"SETTING", *(setting.name for setting in TABLE)}
    assert lines["database"].split() == ["postgresql://db/jobs", "environment", "FOLIOT_DATABASE"]
    assert lines["internal_secret"].split() == ["(not", "shown)", "environment", "FOLIOT_INTERNAL_SECRET"]
    assert lines["port"].split() == ["8420", "default"]
    assert said == "warning: FOLIOT_PROT is no setting: did you mean FOLIOT_PORT?\n"
    assert SECRET not in shown
    show(output=Output.JSON, quiet=True)
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert listed["port"] == {"name": "port", "value": "8420", "origin": "default"}
    assert listed["internal_secret"]["value"] == "(not shown)"
    show(output=Output.TABLE, quiet=True)
    assert "ORIGIN" not in capsys.readouterr().out


def test_what_commands_have_of_the_profile_is_shown_with_it_as_its_origin(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It looked as if there were no key, and no server to be asked."""

    def shown() -> list[tuple[str, str]]:
        show(output=Output.JSON, quiet=True)
        text = capsys.readouterr().out
        assert SECRET not in text
        listed = {one["name"]: one for one in json.loads(text)}
        return [(listed[name]["value"], listed[name]["origin"]) for name in ("url", "key")]

    assert shown() == [("http://127.0.0.1:8420", "default"), ("", "default")]
    path = write_profile(Profile("http://127.0.0.1:1", SECRET))
    assert shown() == [("http://127.0.0.1:1", f"file {path}"), ("(not shown)", f"file {path}")]
    monkeypatch.setenv("FOLIOT_URL", "http://127.0.0.1:2")
    assert shown() == [("http://127.0.0.1:2", "environment FOLIOT_URL"), ("", "default")]
    kept = keep_private(kept_key_path("http://127.0.0.1:2"), f"{SECRET}\n")
    assert shown()[1] == ("(not shown)", f"file {kept}")


def test_lists_are_written_with_commas_or_as_lists(folder: Path) -> None:
    (folder / "foliot.toml").write_text('http_allow = ["10.0.0.0/8", "127.0.0.1"]\njwt_revoked_kids = "a, b"\n')
    allowed = said(folder).value(HTTP_ALLOW)
    assert [str(network) for network in allowed] == ["10.0.0.0/8", "127.0.0.1/32"]
    assert said(folder).value(JWT_REVOKED_KIDS) == ("a", "b")


def test_those_of_the_registrar_keep_their_names(folder: Path) -> None:
    assert said(folder, TICK_MS="250").value(TICK_MS) == 250


def test_the_engine_is_set_as_it_is_said_and_by_its_own_defaults_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine_settings() == EngineSettings()
    monkeypatch.setenv("FOLIOT_LEASE", "1m")
    monkeypatch.setenv("FOLIOT_STOP_GRACE", "0")
    (folder / "foliot.toml").write_text("max_running = 7\nrate_limit = 2.5\n")
    found = Foliot("sqlite:///never-opened.db").settings
    assert (found.lease, found.stop_grace, found.max_running) == (60_000_000, 0, 7)
    assert Foliot("sqlite:///never-opened.db", settings=EngineSettings(lease=9)).settings.lease == 9
    assert pace_of(read_settings()) == (2.5, 200)
    monkeypatch.setenv("FOLIOT_HEARTBEAT", "40s")
    with pytest.raises(Invalid, match="FOLIOT_LEASE and FOLIOT_HEARTBEAT: a lease lasts for two heartbeats"):
        Foliot("sqlite:///never-opened.db")


def test_the_file_names_the_database_of_a_program_that_names_none(folder: Path) -> None:
    (folder / "foliot.toml").write_text("database = 'sqlite:///other.db'\n")
    assert Foliot().url == "sqlite:///other.db"
    assert Foliot("sqlite:///mine.db").url == "sqlite:///mine.db"


def test_every_default_is_written_as_its_form_reads_it() -> None:
    for setting in TABLE:
        if setting.default not in (None, ()):
            assert setting.form.read(setting.name, setting.form.say(setting.default)) == setting.default, setting.name
    assert DATABASE in TABLE


def test_the_secret_of_a_webhook_is_not_taken_for_a_setting_that_was_misspelt(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOLIOT_WEBHOOK_SHOP", SECRET)
    show(output=Output.TABLE, quiet=False, origin=True)
    shown, said = capsys.readouterr()
    assert "warning:" not in shown + said
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:pw@host/db", "postgresql://host/db"),
        ("postgresql://me:p@w@host:5432/db?password=x", "postgresql://host:5432/db"),
        ("postgresql://host/db?password=a@b", "postgresql://…"),
        ("postgresql://me:p?w@host/db", "postgresql://…"),
        ("sqlite:///jobs.db", "sqlite:///jobs.db"),
    ],
)
def test_no_part_of_a_password_is_shown_wherever_it_is_in_the_address(url: str, shown: str) -> None:
    assert without_password(url) == shown
