"""How the command line finds its server, says who asks, and tells what went wrong."""

import socket
import threading
from pathlib import Path

import pytest

from foliot.cli.profile import Profile, keep_private, kept_key_path, write_profile
from tests.cli.conftest import CommandLine, Served


def test_a_refusal_of_the_servers_has_the_exit_code_of_its_kind_and_names_commands(foliot: CommandLine) -> None:
    said = foliot.refused(3, "schedule", "show", "absent")
    assert said == "foliot: there is no schedule 'absent': `foliot schedule list` shows those that there are\n"


def test_who_has_no_key_is_told_where_to_put_one(foliot: CommandLine) -> None:
    foliot.environment["FOLIOT_KEY"] = ""
    assert "FOLIOT_KEY" in foliot.refused(6, "schedule", "show", "absent")


def test_who_has_a_wrong_key_is_denied_without_its_words(foliot: CommandLine) -> None:
    foliot.environment["FOLIOT_KEY"] = "flt_canary"
    said = foliot.refused(6, "schedule", "show", "absent", "--debug")
    assert "opens nothing" in said
    assert "canary" not in said


def test_where_nobody_listens_it_says_how_to_start_a_server(foliot: CommandLine) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        said = foliot.refused(5, "schedule", "show", "absent", "--url", url)
    assert said.startswith(f"foliot: nobody listens at {url}: start a server with `foliot serve`")


def test_what_is_no_server_of_ours_is_said_to_be_none(foliot: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            connection, _ = other.accept()
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope")
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        said = foliot.refused(5, "schedule", "show", "x", "--url", f"http://127.0.0.1:{other.getsockname()[1]}")
    assert "is that a Foliot server?" in said


def test_a_url_that_is_none_is_refused(foliot: CommandLine) -> None:
    assert "http://" in foliot.refused(2, "schedule", "show", "x", "--url", "localhost")


def test_request_ids_and_times_are_said_when_they_are_asked_for(foliot: CommandLine) -> None:
    said = foliot.refused(3, "schedule", "show", "absent", "--debug")
    assert "GET /api/v1/schedules/absent: 404 in " in said
    assert "request " in said


def test_the_flag_goes_before_the_environment_and_that_before_the_profile(
    foliot: CommandLine, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = write_profile(Profile(served.url, served.key))
    assert path.stat().st_mode & 0o777 == 0o600
    foliot.environment.update(FOLIOT_URL="", FOLIOT_KEY="")
    assert "no schedule" in foliot.refused(3, "schedule", "show", "absent")
    foliot.environment["FOLIOT_URL"] = "http://127.0.0.1:1"
    assert "127.0.0.1:1" in foliot.refused(5, "schedule", "show", "absent")
    assert "no schedule" in foliot.refused(3, "schedule", "show", "absent", "--url", served.url)
    key = tmp_path / "key"
    key.write_text("flt_wrong\n")
    assert "opens nothing" in foliot.refused(
        6, "schedule", "show", "absent", "--url", served.url, "--key-file", str(key)
    )


def test_a_file_with_the_key_may_be_named_in_the_environment(
    foliot: CommandLine, served: Served, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_text(f"{served.key}\n")
    foliot.environment.update(FOLIOT_URL=served.url, FOLIOT_KEY="", FOLIOT_KEY_FILE=str(key))
    assert "no schedule" in foliot.refused(3, "schedule", "show", "absent")
    assert foliot("key", "show") == f"{served.key}\n"
    foliot.environment["FOLIOT_KEY"] = served.key
    assert "FOLIOT_KEY and FOLIOT_KEY_FILE are both set" in foliot.refused(2, "schedule", "show", "absent")
    foliot.environment.update(FOLIOT_KEY="", FOLIOT_KEY_FILE=str(tmp_path / "nowhere"))
    assert "FOLIOT_KEY_FILE takes a file with a key in it" in foliot.refused(2, "schedule", "list")


def test_each_server_of_this_machine_is_asked_by_the_key_that_is_kept_for_it(
    foliot: CommandLine, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    write_profile(Profile("http://127.0.0.1:1", "flt_of_the_other"))
    keep_private(kept_key_path(served.url), f"{served.key}\n")
    foliot.environment.update(FOLIOT_URL="", FOLIOT_KEY="")
    assert "no schedule" in foliot.refused(3, "schedule", "show", "absent", "--url", served.url)
    assert foliot("key", "show", "--url", served.url) == f"{served.key}\n"
    assert foliot("key", "show") == "flt_of_the_other\n"
    foliot.environment["FOLIOT_URL"] = served.url
    assert "no schedule" in foliot.refused(3, "schedule", "show", "absent")
    assert "URL" in foliot.refused(2, "schedule", "show", "absent", "--url", "http://127.0.0.1:port")


@pytest.mark.parametrize("text", ["url = [", "key = 7"])
def test_a_profile_that_cannot_be_read_is_refused_in_words(foliot: CommandLine, tmp_path: Path, text: str) -> None:
    (tmp_path / "foliot").mkdir()
    (tmp_path / "foliot" / "profile.toml").write_text(text)
    assert "profile" in foliot.refused(2, "schedule", "show", "absent")


def test_a_key_file_that_is_not_there_or_empty_is_refused(foliot: CommandLine, tmp_path: Path) -> None:
    assert "--key-file" in foliot.refused(2, "schedule", "show", "x", "--key-file", str(tmp_path / "none"))
    (tmp_path / "empty").touch()
    assert "is empty" in foliot.refused(2, "schedule", "show", "x", "--key-file", str(tmp_path / "empty"))


def test_a_mistyped_command_is_guessed(foliot: CommandLine) -> None:
    assert "did you mean 'schedule'?" in foliot.refused(2, "shedule")
