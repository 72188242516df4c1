"""`foliot key`, `foliot user`, `foliot trail`: who may ask, and who did what."""

from pathlib import Path

import pytest

from foliot import Foliot
from tests.cli.conftest import CommandLine


def test_a_key_is_printed_once_and_opens_what_it_may(foliot: CommandLine) -> None:
    result = foliot.run("key", "create", "reader", "--right", "read")
    assert result.exit_code == 0
    key = result.stdout.strip()
    assert "printed this once" in result.stderr
    assert key not in foliot("key", "list", "-o", "json", "--limit", "0")
    foliot.environment["FOLIOT_KEY"] = key
    foliot.refused(3, "schedule", "show", "absent")
    assert "write" in foliot.refused(6, "schedule", "resume", "absent")


def test_a_key_that_is_saved_is_the_profiles(foliot: CommandLine, tmp_path: Path) -> None:
    result = foliot.run("key", "create", "laptop", "--save")
    profile = tmp_path / "foliot" / "profile.toml"
    assert (result.stdout, str(profile) in result.stderr) == ("", True)
    assert profile.stat().st_mode & 0o777 == 0o600
    foliot.environment.update(FOLIOT_URL="", FOLIOT_KEY="")
    foliot.refused(3, "schedule", "show", "absent")


def test_no_key_is_made_whose_secret_nobody_would_see(foliot: CommandLine, name: str) -> None:
    """Its id was printed, and that was all that anybody ever had of it."""
    assert "--save keeps it, and -o json prints both" in foliot.refused(2, "key", "create", name, "-o", "name")
    assert name not in foliot("key", "list", "--limit", "0")
    made = foliot("key", "create", name, "--save", "-o", "name").strip()
    foliot.environment["FOLIOT_KEY"] = ""
    assert foliot("key", "show").startswith(f"fol_{made}")


def test_the_key_that_commands_ask_by_is_shown_for_other_programs(foliot: CommandLine) -> None:
    assert foliot("key", "show").strip() == foliot.environment["FOLIOT_KEY"]
    foliot("key", "create", "laptop", "--save")
    foliot.environment["FOLIOT_KEY"] = ""
    assert foliot("key", "show").startswith("fol_")


def test_without_a_key_it_is_said_who_makes_one(foliot: CommandLine, tmp_path: Path) -> None:
    foliot.environment["FOLIOT_KEY"] = ""
    said = foliot.refused(3, "key", "show")
    assert f"there is no key of {foliot.environment['FOLIOT_URL']} in FOLIOT_KEY or {tmp_path}" in said


def test_a_revoked_key_opens_nothing(foliot: CommandLine) -> None:
    made = foliot.json("key", "create", "lost")
    assert "nobody here to ask" in foliot.refused(2, "key", "revoke", made["id"])
    assert foliot.json("key", "revoke", made["id"], "--yes")["revoked_at"] is not None
    foliot.environment["FOLIOT_KEY"] = made["secret"]
    assert "opens nothing" in foliot.refused(6, "schedule", "show", "absent")


def test_users_are_put_disabled_and_enabled(foliot: CommandLine) -> None:
    assert foliot.json("user", "put", "zoe of/sales", "--role", "viewer")["role"] == "viewer"
    assert foliot.json("user", "disable", "zoe of/sales", "--yes")["disabled_at"] is not None
    assert foliot.json("user", "enable", "zoe of/sales")["disabled_at"] is None
    assert "zoe of/sales\n" in foliot("user", "list", "-o", "name", "--limit", "0")


def test_a_list_says_when_there_is_more(foliot: CommandLine) -> None:
    foliot("user", "put", "yan")
    foliot("user", "put", "xia")
    result = foliot.run("user", "list", "--limit", "1")
    assert len(result.stdout.splitlines()) == 2
    assert "There are more than 1" in result.stderr
    assert "more than" not in foliot.run("user", "list", "--limit", "1", "-q").stderr


def test_who_did_what_is_listed(foliot: CommandLine) -> None:
    foliot("user", "put", "will", "--role", "admin")
    (deed,) = foliot.json("trail", "list", "--subject", "user/will", "--actor", "local")
    assert (deed["action"], deed["details"]) == ("user.put", {"role": "admin"})


def test_the_first_key_is_made_without_a_server(
    foliot: CommandLine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foliot.environment.update(FOLIOT_URL="http://127.0.0.1:1", FOLIOT_KEY="")
    key = foliot("key", "create", "first", "--database", database_url).strip()
    program = Foliot(database_url)
    principal = program.parts.doorkeeper.identify(key)
    program.close()
    assert principal is not None
    assert (principal.user, principal.role) == ("local", "admin")


def test_a_database_that_is_none_is_refused(foliot: CommandLine) -> None:
    assert "a database URL is" in foliot.refused(2, "key", "create", "first", "--database", "mysql://x/y")
