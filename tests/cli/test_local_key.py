"""The key of whoever starts a server: when it is made, where it is kept, and when none is needed or nobody has one."""

import socket
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from foliot import Conflict, Foliot, Invalid
from foliot.cli.local_key import find_key
from foliot.cli.profile import Profile, api_key, profile_path, read_profile, write_profile
from foliot.cli.welcome import welcome
from foliot.serving import Server

MADE_ELSEWHERE = "fol_0123456789ab_" + "A" * 43


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "foliot"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Foliot]:
    app = Foliot(f"sqlite:///{tmp_path / 'one.db'}", name="mail")
    yield app
    app.close()


@pytest.fixture
def server(program: Foliot) -> Iterator[Server]:
    server = Server(program.asgi(), "127.0.0.1", 0)
    yield server
    server.stop()


@pytest.fixture
def open_server(program: Foliot) -> Iterator[Server]:
    server = Server(program.asgi(), "0.0.0.0", 0)
    yield server
    server.stop()


def keys(program: Foliot) -> list[str]:
    return [key.id for key in program.parts.verbs.keys.list()]


def key_in_profile(program: Foliot) -> bool:
    key = read_profile().key
    return key is not None and program.parts.doorkeeper.identify(key) is not None


def test_the_first_start_makes_a_key_that_only_its_user_can_read(program: Foliot, server: Server, config: Path) -> None:
    assert find_key(program, server) == (config / "profile.toml", None)
    assert read_profile().url == server.url
    assert key_in_profile(program)
    private = [config, config / "keys", config / "profile.toml", *(config / "keys").iterdir()]
    assert [stat.S_IMODE(path.stat().st_mode) & 0o077 for path in private] == [0] * 5


def test_a_profile_that_opens_the_database_is_kept(program: Foliot, server: Server) -> None:
    find_key(program, server)
    before = profile_path().read_text()
    find_key(program, server)
    assert profile_path().read_text() == before
    write_profile(Profile("http://localhost:1", read_profile().key))
    find_key(program, server)
    assert profile_path().read_text() == before
    assert len(keys(program)) == 1


def test_who_goes_to_another_database_and_back_finds_the_same_key(
    program: Foliot, server: Server, tmp_path: Path
) -> None:
    find_key(program, server)
    first = read_profile().key
    other = Foliot(f"sqlite:///{tmp_path / 'two.db'}")
    find_key(other, server)
    assert read_profile().key != first
    assert key_in_profile(other)
    find_key(program, server)
    assert read_profile().key == first
    assert (len(keys(program)), len(keys(other))) == (1, 1)
    other.close()


def test_servers_that_start_at_the_same_moment_agree_on_one_key(program: Foliot, server: Server) -> None:
    """Each made one of its own, and either could find the other at the file that both wrote."""
    with ThreadPoolExecutor(6) as threads:
        found = [threads.submit(find_key, program, server) for _ in range(6)]
    assert all(one.result() is not None for one in found)
    assert len(keys(program)) == 1


def test_a_key_that_was_revoked_is_replaced(program: Foliot, server: Server) -> None:
    find_key(program, server)
    program.parts.verbs.keys.revoke(keys(program)[0])
    program.parts.doorkeeper.forget()
    find_key(program, server)
    assert key_in_profile(program)
    assert len(keys(program)) == 2


def test_a_profile_for_another_machine_is_left_alone(program: Foliot, server: Server, config: Path) -> None:
    write_profile(Profile("https://foliot.example", MADE_ELSEWHERE))
    kept = find_key(program, server)
    assert read_profile() == Profile("https://foliot.example", MADE_ELSEWHERE)
    assert kept is not None
    assert kept.path.parent == config / "keys"
    assert program.parts.doorkeeper.identify(kept.path.read_text().strip()) is not None
    asked = f"commands ask https://foliot.example, as the profile says: have them ask this one by --url {server.url}"
    assert kept.note == asked
    assert api_key(None, read_profile(), server.url) == kept.path.read_text().strip()


def test_a_second_server_leaves_the_profile_to_the_first_while_that_answers(
    program: Foliot, server: Server, tmp_path: Path
) -> None:
    server.start()
    find_key(program, server)
    first = read_profile()
    other = Foliot(f"sqlite:///{tmp_path / 'two.db'}", name="other")
    second = Server(other.asgi(), "127.0.0.1", 0)
    kept = find_key(other, second)
    assert kept is not None
    assert read_profile() == first
    said = f"        commands ask {server.url}, as the profile says: have them ask this one by --url {second.url}"
    assert welcome(other, second, kept).splitlines()[3] == said
    keys_kept = {url: api_key(None, read_profile(), url) for url in (server.url, second.url)}
    assert program.parts.doorkeeper.identify(keys_kept[server.url] or "") is not None
    assert other.parts.doorkeeper.identify(keys_kept[second.url] or "") is not None
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    second.stop()
    other.close()


def test_a_server_takes_the_profile_of_one_that_no_longer_answers_and_says_so(
    program: Foliot, server: Server, tmp_path: Path
) -> None:
    find_key(program, server)
    before = read_profile()
    server.start()
    server.stop()
    other = Foliot(f"sqlite:///{tmp_path / 'two.db'}", name="other")
    second = Server(other.asgi(), "127.0.0.1", 0)
    kept = find_key(other, second)
    assert kept == (profile_path(), f"commands ask this one now: nobody answers at {before.url} any more")
    assert read_profile().url == second.url
    assert key_in_profile(other)
    assert api_key(None, read_profile(), server.url) == before.key
    second.stop()
    other.close()


def test_what_answers_and_is_no_server_of_ours_does_not_keep_the_profile(program: Foliot, server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:

        def answer() -> None:
            connection, _ = stranger.accept()
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope")
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        write_profile(Profile(f"http://127.0.0.1:{stranger.getsockname()[1]}", MADE_ELSEWHERE))
        find_key(program, server)
    assert read_profile().url == server.url


def test_a_key_is_shown_to_no_server_but_its_own(server: Server) -> None:
    write_profile(Profile("https://foliot.example", MADE_ELSEWHERE))
    assert api_key(None, read_profile(), "https://foliot.example/") == MADE_ELSEWHERE
    assert api_key(None, read_profile(), "https://elsewhere.example") is None
    write_profile(Profile(None, MADE_ELSEWHERE))
    assert api_key(None, read_profile(), "https://elsewhere.example") == MADE_ELSEWHERE


def test_localhost_and_its_number_are_one_server(program: Foliot, server: Server) -> None:
    find_key(program, server)
    assert api_key(None, read_profile(), f"http://localhost:{server.port}") == read_profile().key


def test_it_does_not_listen_to_other_machines_while_nobody_has_a_key(program: Foliot, open_server: Server) -> None:
    with pytest.raises(Invalid, match=r"0\.0\.0\.0 can be reached from other machines, and nobody has a key yet") as no:
        find_key(program, open_server)
    assert "`foliot key create NAME --database sqlite:///" in str(no.value)
    assert "FOLIOT_ADMIN_KEY_FILE" in str(no.value)
    program.parts.verbs.keys.create("mine", expires_at="2199-01-01T00:00:00Z")
    assert find_key(program, open_server) is None
    assert not profile_path().exists()
    program.parts.verbs.keys.revoke(keys(program)[0])
    with pytest.raises(Invalid):
        find_key(program, open_server)


def test_a_key_that_was_made_elsewhere_opens_it(
    program: Foliot, open_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text(MADE_ELSEWHERE + "\n")
    monkeypatch.setenv("FOLIOT_ADMIN_KEY_FILE", str(tmp_path / "key"))
    for _ in range(2):
        assert find_key(program, open_server) is None
    assert keys(program) == ["0123456789ab"]
    admin = program.parts.doorkeeper.identify(MADE_ELSEWHERE)
    assert admin is not None
    assert (admin.user, "admin" in admin.rights) == ("local", True)
    program.parts.verbs.keys.revoke("0123456789ab")
    with pytest.raises(Conflict, match="admin_key was revoked, and stays so"):
        find_key(program, open_server)
    (tmp_path / "key").write_text(MADE_ELSEWHERE[:-1] + "B\n")
    with pytest.raises(Conflict, match="admin_key is called 0123456789ab, as another key is"):
        find_key(program, open_server)
    (tmp_path / "key").write_text("something-else-altogether\n")
    with pytest.raises(Invalid, match="admin_key is no API key: one is fol_") as refused:
        find_key(program, open_server)
    assert "altogether" not in str(refused.value)


def test_what_is_said_at_the_start_is_where_what_next_and_what_is_odd(program: Foliot, server: Server) -> None:
    program.schedules.create("tick", every="1h", target="python:tick")
    # Not for a month: at night its time would come before that of the other.
    later = datetime.now(UTC) + timedelta(days=30)
    berlin: dict[str, Any] = {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "start_at": later}
    program.schedules.create("daily", target="python:tick", **berlin)
    program.schedules.create("off", every="1s", target="python:tick")
    program.schedules.pause("off")
    said = welcome(program, server, find_key(program, server)).splitlines()
    assert said[0] == f"foliot: mail works on {program.url}"
    assert said[1:3] == [f"  API   {server.url}", f"  key   {profile_path()}"]
    assert said[3].startswith("  next  tick")
    assert all(line.startswith("        ") for line in said[4:6])
    assert said[6].startswith("warning: daily: On ")
    assert said[6].endswith(" [dst]")
    assert said[7:] == ["Stop it with Ctrl-C."]


def test_a_schedule_whose_zone_is_not_known_here_is_told_of_and_does_not_stop_the_start(
    program: Foliot, server: Server
) -> None:
    """It did: the list of what comes next could not be made, and so there was no service."""
    program.schedules.create("abroad", cron="0 9 * * *", target="python:tick", timezone="Europe/Paris")
    program.schedules.create("by-hand", manual=True, target="python:tick")
    replaced = (
        "UPDATE schedules SET spec = replace(replace(spec, 'Europe/Paris', 'Mars/Olympus'), 'UTC', 'Mars/Olympus')"
    )
    program.parts.database.write(lambda tx: tx._do(replaced))

    said = welcome(program, server, find_key(program, server)).splitlines()

    assert said[3].startswith("  next  abroad  ")
    assert said[4].startswith("warning: abroad is set aside: timezone takes an IANA name such as 'Europe/Berlin'")
    assert said[4].endswith("got 'Mars/Olympus' [unreadable]")
    assert program.schedules.get("by-hand").standing == "active"


def test_an_api_without_a_worker_says_so(program: Foliot, server: Server) -> None:
    said = welcome(program, server, is_worker=False).splitlines()
    assert said[0].endswith("nothing runs in this process, on SQLite nothing else can: leave out --no-worker")
    assert said[2] == "  next  nothing to come: `foliot schedule create` makes a schedule"
