"""`foliot simulate`: what the days to come will bring, of a file, a database or a server, by the engine itself."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from foliot import Context, Foliot
from foliot.cli.main import app as commands
from foliot.domain.credits import Pricing
from foliot.domain.errors import Conflict
from foliot.domain.instants import MICROSECONDS, instant_of
from foliot.domain.pace import Pace
from foliot.domain.simulation import lengths_of
from foliot.serving import Server
from foliot.simulator import a_rehearsal
from foliot.testing import virtual
from tests.cli.conftest import CommandLine, Served

START = "2027-03-20T00:00:00Z"
PRICES = json.dumps({"large": {"usd_per_token": "0.000001"}})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["simulate", "--from", START, *arguments], prog_name="foliot")


def simulated(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "-o", "json")
    assert result.exit_code == 0, result.output + repr(result.exception)
    found = json.loads(result.stdout)
    return {one["schedule"]: one for one in found["schedules"]} | {"total": found["total"]}


def written(folder: Path, *schedules: dict[str, Any]) -> str:
    path = folder / "schedules.yaml"
    path.write_text(yaml.safe_dump({"set": "mail", "schedules": list(schedules)}))
    return str(path)


@pytest.fixture
def program(database_url: str) -> Foliot:
    return Foliot(database_url)


def test_a_file_is_simulated_and_fires_overlaps_skips_and_the_peak_are_told(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"name": "digest", "cron": "0 9 * * *"},
        {"name": "sync", "every": "1m"},
        {"name": "queue", "every": "1h", "overlap": "buffer_one"},
    )
    found = simulated("-f", file, "--days", "1", "--durations", "90s", "--durations", "queue=90m")
    assert (found["digest"]["slots"], found["digest"]["fires"], found["digest"]["duration"]) == (1, 1, "1m30s")
    sync, queue = found["sync"], found["queue"]
    assert (sync["slots"], sync["fires"], sync["overlaps"], sync["skips"]) == (1440, 720, 720, {"overlap": 720})
    assert queue["fires"] + queue["skips"]["superseded"] + 1 == queue["slots"] == 24
    assert (queue["longest_wait"], queue["peak"]) == ("1h", 1)
    assert (found["total"]["slots"], found["total"]["peak"]) == (1465, 3)


@pytest.mark.parametrize(("overlap", "turns"), [("skip", 1440), ("allow_all", 1440), ("buffer_all", 2880)])
def test_an_end_that_nothing_waits_for_takes_no_turn_of_its_own(overlap: str, turns: int) -> None:
    """Each end of a run took one, and each turn a commit: a month of many schedules took most of a minute."""
    with a_rehearsal(instant_of(START, "start"), Pricing()) as rehearsal:
        rehearsal.parts.verbs.schedules.create("tick", target="job", every="1m", overlap=overlap)
        found = rehearsal.play(24 * 3600 * MICROSECONDS, lengths_of([]), {}, lambda *_: None)
        (engine,) = rehearsal.parts.engines
        assert turns <= engine.counters.turns <= turns + 3
    assert (found.total.slots, found.total.fires, found.total.open) == (1440, 1440, 1)


def test_what_raises_on_a_rehearsal_undoes_only_itself() -> None:
    with a_rehearsal(instant_of(START, "start"), Pricing()) as rehearsal:
        schedules = rehearsal.parts.verbs.schedules
        schedules.create("one", target="job", every="1m")
        with pytest.raises(Conflict):
            schedules.create("one", target="job", every="1m")
        schedules.create("two", target="job", every="1m")
        assert [one.id for one in schedules.list()] == ["one", "two"]


@pytest.mark.slow
def test_what_was_simulated_is_what_happens_then(tmp_path: Path) -> None:
    options: dict[str, dict[str, Any]] = {
        "skipping": {"every": "7m"},
        "queueing": {"every": "10m", "overlap": "buffer_all"},
        "latest": {"cron": "*/4 * * * *", "overlap": "buffer_one"},
        "cancelling": {"every": "9m", "overlap": "cancel_other"},
        "ending": {"every": "15m", "timeout": "5m", "retry": 2},
        "allowing": {"every": "5m", "overlap": "allow_all", "jitter": "40s"},
        "limited": {"every": "1h", "limit": 5},
    }
    said = {"skipping": 11, "queueing": 12, "latest": 6, "cancelling": 13, "ending": 8, "allowing": 12, "limited": 1}
    app = Foliot("sqlite:///not-used.db")

    @app.graph("job")
    async def job(input: dict[str, int], ctx: Context) -> None:
        await asyncio.sleep(input["minutes"] * 60)

    file = written(
        tmp_path,
        *({"name": name, "target": "job", "input": {"minutes": said[name]}, **options[name]} for name in options),
    )
    durations = [word for name in options for word in ("--durations", f"{name}={said[name]}m")]
    found = simulated("-f", file, "--days", "1", *durations)
    with virtual(app, START) as world:
        for name, option in options.items():
            app.schedules.create(name, target="job", input={"minutes": said[name]}, **option)
        world.advance(days=1)
        for name in options:
            runs = world.runs(name)
            fired = [one for one in runs if one.started_at is not None]
            assert found[name]["fires"] == len(fired), name
            assert found[name]["open"] == sum(one.status in ("pending", "running") for one in runs), name
            reasons = [one.reason for one in runs if one.status == "skipped"]
            assert found[name]["skips"] == {reason: reasons.count(reason) for reason in reasons}, name
            ended = [one.reason for one in runs if one.status in ("error", "cancelled")]
            assert found[name]["failures"] == {reason: ended.count(reason) for reason in ended}, name


def test_clock_changes_that_move_a_time_are_told(tmp_path: Path) -> None:
    nightly = {"name": "nightly", "cron": "30 2 * * *", "timezone": "Europe/Berlin"}
    file = written(tmp_path, nightly, {"name": "hourly", "cron": "30 * * * *", "timezone": "Europe/Berlin"})
    found = simulated("-f", file, "--days", "10")
    change = {"at": "2027-03-28T01:00:00Z", "effect": "shifted", "times": ["2027-03-28 02:30:00"]}
    assert (found["nightly"]["clock_changes"], found["hourly"]["clock_changes"]) == ([change], [])
    shown = run("-f", file, "--days", "10").output
    assert "nightly   2027-03-28T01:00:00Z  shifted  2027-03-28 02:30:00" in shown


def test_what_a_database_has_is_simulated_as_it_stands_and_left_as_it_is(program: Foliot) -> None:
    program.schedules.create("plain", target="digest", every="1h")
    program.schedules.create("paused", target="digest", every="1h")
    program.schedules.pause("paused")
    program.schedules.create("returning", target="digest", every="1h")
    program.schedules.pause("returning", until="2027-03-20T12:00:00Z")
    program.schedules.create("few", target="digest", every="1h", limit=3)
    program.schedules.create("gone", target="digest", every="1h")
    program.schedules.delete("gone")
    program.schedules.skip("plain", "2027-03-20T05:00:00Z")
    ends = program.grants.create("graph:execute:python:*", expires_at="2027-03-20T06:30:00Z")
    program.schedules.create("permitted", target="digest", every="1h", grant=ends.id)
    before = [(one.id, one.swept_to, one.standing) for one in program.schedules.list()]
    found = simulated("--database", program.url, "--days", "1")
    assert sorted(found) == ["few", "paused", "permitted", "plain", "returning", "total"]
    assert (found["plain"]["fires"], found["plain"]["skips"]) == (23, {"skipped_by_user": 1})
    assert (found["paused"]["fires"], found["paused"]["paused"]) == (0, True)
    assert found["returning"]["fires"] == 13
    assert found["few"]["fires"] == 3
    assert (found["permitted"]["fires"], found["permitted"]["skips"]) == (6, {"grant_expired": 18})
    assert [(one.id, one.swept_to, one.standing) for one in program.schedules.list()] == before
    assert program.runs.list("permitted") == []
    program.close()


def test_a_grant_that_does_not_cover_its_target_skips_as_in_earnest(program: Foliot) -> None:
    grant = program.grants.create(["graph:execute:python:digest", "graph:execute:python:report"])
    program.schedules.create("digest", target="digest", every="1h", grant=grant.id)
    program.schedules.create("report", target="report", every="1h", grant=grant.id)
    program.grants.change(grant.id, scopes="graph:execute:python:digest")
    found = simulated("--database", program.url, "--days", "1")
    assert (found["digest"]["fires"], found["report"]["skips"]) == (24, {"grant_scope": 24})
    program.close()


def test_runs_take_the_median_of_the_past_and_cost_what_the_past_cost(database_url: str) -> None:
    app = Foliot(database_url)
    lengths = iter([60, 600, 120])

    @app.graph("job")
    async def job(input: object, ctx: Context) -> None:
        await asyncio.sleep(next(lengths))
        ctx.report_usage("call", cost="0.001")

    with virtual(app, "2027-03-19T20:30:00Z", database=database_url) as world:
        app.schedules.create("job", target="job", every="1h")
        world.advance(hours=3)
    found = simulated("--database", database_url, "--days", "1")["job"]
    assert (found["duration"], found["fires"], found["credits"], found["unpriced"]) == ("2m", 24, 24 * 20_000, 0)
    assert simulated("--database", database_url, "--days", "1", "--durations", "5s")["job"]["duration"] == "5s"
    app.close()


def test_who_runs_out_of_credits_is_skipped_from_then_on(
    program: Foliot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.json").write_text(PRICES)
    monkeypatch.setenv("FOLIOT_CATALOGUE", str(tmp_path / "prices.json"))
    program.accounts.top_up("ann", 1_000_000, "invoice-1")
    program.schedules.create("paid", target="digest", every="1h", input={"model": "large"}, user="ann")
    found = simulated("--database", program.url, "--days", "1")["paid"]
    each = found["credits"] // found["fires"]
    assert found["fires"] == 1_000_000 // each
    assert found["skips"] == {"insufficient_credits": 24 - found["fires"]}
    program.close()


def test_a_budget_is_kept_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prices.json").write_text(PRICES)
    monkeypatch.setenv("FOLIOT_CATALOGUE", str(tmp_path / "prices.json"))
    paid = {"name": "paid", "every": "1h", "input": {"model": "large"}}
    each = simulated("-f", written(tmp_path, paid), "--days", "1")["paid"]["credits"] // 24
    limited = {**paid, "budget": {"credits": 5 * each, "per": "day"}}
    found = simulated("-f", written(tmp_path, limited), "--days", "1")["paid"]
    assert (found["fires"], found["skips"]) == (5, {"over_budget": 19})


def test_more_slots_than_anybody_waits_for_are_refused_before_anything_is_run(tmp_path: Path) -> None:
    file = written(tmp_path, {"name": "tick", "every": "1s"})
    result = run("-f", file, "--days", "30")
    assert result.exit_code == 2
    assert "up to 1,000,000 slots, got 2,592,000, 2,592,000 of them of 'tick'" in result.stderr
    assert simulated("-f", file, "--days", "0.01")["tick"]["slots"] == 864
    assert run("-f", file, "--days", "0.01", "--most", "863").exit_code == 2


def test_what_is_not_there_or_makes_no_sense_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, {"name": "digest", "every": "1h"})
    for code, words in (
        (3, ["-f", file, "nobody"]),
        (2, ["-f", file, "--durations", "nobody=1s"]),
        (2, ["-f", file, "--durations", "soon"]),
        (2, ["-f", file, "--days", "0"]),
        (2, ["-f", file, "--database", "sqlite:///x.db"]),
        (2, ["-f", str(tmp_path / "nothing.yaml")]),
        (3, ["--database", f"sqlite:///{tmp_path / 'nothing.db'}"]),
    ):
        result = run(*words)
        assert (result.exit_code, result.stdout) == (code, ""), result.output


def test_it_is_printed_as_the_other_commands_do(tmp_path: Path) -> None:
    file = written(tmp_path, {"name": "a", "every": "1h"}, {"name": "b", "every": "2h"})
    words = ("-f", file, "--days", "1")
    assert run(*words, "-o", "name").stdout.split() == ["a", "b"]
    assert [json.loads(line)["fires"] for line in run(*words, "-o", "jsonl").stdout.splitlines()] == [24, 12]
    assert yaml.safe_load(run(*words, "-o", "yaml").stdout)["total"]["fires"] == 36
    table = run(*words).stdout.splitlines()
    assert table[0] == "From 2027-03-20T00:00:00Z to 2027-03-21T00:00:00Z: 2 schedules."
    assert table[2].split() == ["a", "1s", "24", "24", "0", "0", "0", "1", "unknown"]
    assert run("a", *words, "-o", "name").stdout.split() == ["a"]


def test_what_a_server_has_is_simulated(foliot: CommandLine, name: str) -> None:
    ends = ("--expires", "2027-03-20T06:30:00Z")
    grant = foliot.json("grant", "create", "--scope", "graph:execute:python:digest", *ends)["id"]
    foliot("schedule", "create", name, "--target", "digest", "--every", "1h")
    foliot("schedule", "create", f"{name}-paused", "--target", "digest", "--every", "1h", "--starts", "9")
    foliot("schedule", "pause", f"{name}-paused", "--until", "2027-03-20T12:00:00Z")
    foliot("schedule", "create", f"{name}-granted", "--target", "digest", "--every", "1h", "--grant", grant)
    names = [name, f"{name}-paused", f"{name}-granted"]
    found = foliot.json("simulate", *names, "--from", START, "--days", "1")
    fires = {one["schedule"]: (one["fires"], one["skips"]) for one in found["schedules"]}
    assert fires[name] == (24, {})
    assert fires[f"{name}-paused"] == (9, {"paused": 11})
    assert fires[f"{name}-granted"] == (6, {"grant_expired": 18})
    assert f"no schedule nobody in {foliot.environment['FOLIOT_URL']}" in foliot.refused(3, "simulate", "nobody")


def test_a_server_knows_how_long_runs_take_of_a_schedule_however_often_others_ran_since(tmp_path: Path) -> None:
    """Only the newest 2,000 successes of all schedules together were looked at."""
    url = f"sqlite:///{tmp_path / 'busy.db'}"
    program = Foliot(url)

    @program.graph("job")
    async def job(input: dict[str, float], ctx: Context) -> None:
        await asyncio.sleep(input["seconds"])

    with virtual(program, "2027-03-19T20:00:00Z", database=url) as world:
        program.schedules.create("rare", target="job", at="2027-03-19T20:00:02Z", input={"seconds": 60})
        for number in range(30):
            program.schedules.create(f"busy {number}", target="job", every="1s", input={"seconds": 0.5})
        world.advance(seconds=75)
    server = Server(program.parts.http(Pace(1e6, 10**6)), "127.0.0.1", 0)
    server.start()
    try:
        key = program.parts.verbs.keys.create("test").secret
        foliot = CommandLine({"FOLIOT_URL": server.url, "FOLIOT_KEY": str(key), "XDG_CONFIG_HOME": str(tmp_path)})
        found = foliot.json("simulate", "rare", "busy-1", "--from", START, "--days", "0.01")
    finally:
        server.stop()
        program.close()
    assert [(one["schedule"], one["duration"]) for one in found["schedules"]] == [("busy-1", "500ms"), ("rare", "1m")]


def test_what_is_skipped_already_does_not_fire_whoever_is_asked(foliot: CommandLine, served: Served, name: str) -> None:
    """A server was not asked for it; of a paused schedule it counted twice, and also when an edit had taken it away."""
    plain, resting, edited = names = [f"{name}-{part}" for part in ("plain", "resting", "edited")]
    for one in names:
        foliot("schedule", "create", one, "--target", "digest", "--every", "1h")
        foliot("schedule", "skip", one, "2027-03-20T05:00:00Z")
    for moment in ("2027-03-20T00:00:00Z", "2027-03-21T00:00:00Z", "2027-03-21T01:00:00Z"):
        foliot("schedule", "skip", plain, moment)
    foliot("schedule", "pause", resting)
    foliot("schedule", "edit", edited, "--every", "2h", "--yes")
    for where in ((), ("--database", served.program.url)):
        found = foliot.json("simulate", *names, "--from", START, "--days", "1", *where)
        skips = {one["schedule"]: (one["slots"], one["fires"], one["skips"]) for one in found["schedules"]}
        assert skips[plain] == (24, 22, {"skipped_by_user": 2}), where
        assert skips[resting] == (24, 0, {"paused": 23, "skipped_by_user": 1}), where
        assert skips[edited] == (12, 12, {}), where
