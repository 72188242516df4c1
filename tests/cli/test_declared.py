"""`foliot schedule plan`, `apply`, `export`: a file of schedules, there and back."""

from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import CommandLine, Served

MAIL = """
set: {name}
schedules:
  - name: {name} digest
    target: python:digest
    cron: 0 9 * * MON-FRI
    timezone: Europe/Berlin
  - name: {name} weekly
    target: python:digest
    at: 2030-01-01T09:00:00Z
    timeout: 5m
"""


@pytest.fixture
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A set of its own for each test, all on one server."""
    path = tmp_path / "schedules.yaml"
    path.write_text(MAIL.format(name=f"s{abs(hash(request.node.name))}"))
    return path


def set_in(file: Path) -> str:
    return str(yaml.safe_load(file.read_text())["set"])


def test_a_plan_shows_what_would_be_and_changes_nothing(foliot: CommandLine, file: Path) -> None:
    shown = foliot("schedule", "plan", "-f", str(file))
    assert "2 to create" in shown
    assert f"+ {set_in(file)}-digest: create" in shown
    assert "next then  2030-01-01T09:00:00Z" in shown
    foliot.refused(3, "schedule", "show", f"{set_in(file)}-digest")
    foliot("schedule", "plan", "-f", str(file), "--check", code=1)


def test_what_is_applied_is_there_and_a_change_is_shown_with_its_effect(foliot: CommandLine, file: Path) -> None:
    foliot("schedule", "apply", "-f", str(file), "--yes")
    assert foliot("schedule", "plan", "-f", str(file), "--check") == f"{set_in(file)}, planned: 2 as declared\n"
    file.write_text(file.read_text().replace("0 9 * * MON-FRI", "0 10 * * MON-FRI").replace("5m", "10m"))
    lines = foliot("schedule", "apply", "-f", str(file), "--dry-run").splitlines()
    assert lines[0] == f"{set_in(file)}, planned: 2 to change"
    assert lines[1] == f"~ {set_in(file)}-digest: change, moves 20 of the next 20 times"
    assert lines[2].split(maxsplit=1)[0] == "spec"
    assert "At 09:00" in lines[2]
    assert "At 10:00" in lines[2]
    assert "    timeout  5m -> 10m" in lines
    applied = foliot("schedule", "apply", "-f", str(file), "--yes")
    assert f"{set_in(file)}, applied: 2 changed" in applied


def test_each_schedule_is_counted_once_also_when_it_has_drifted(foliot: CommandLine, file: Path) -> None:
    """One that had drifted was told to be as declared, too."""
    foliot("schedule", "apply", "-f", str(file), "--yes")
    foliot("schedule", "edit", f"{set_in(file)}-weekly", "--timeout", "10m", "--yes")
    shown = foliot("schedule", "plan", "-f", str(file), "--check", code=1).splitlines()
    assert shown[0] == f"{set_in(file)}, planned: 1 as declared, 1 drifted"
    assert "changed by somebody since: kept" in shown[2]
    shown = foliot("schedule", "plan", "-f", str(file), "--overwrite").splitlines()
    assert shown[0] == f"{set_in(file)}, planned: 1 to change, 1 as declared"


def test_nobody_is_asked_where_nobody_can_answer(foliot: CommandLine, file: Path) -> None:
    said = foliot.refused(2, "schedule", "apply", "-f", str(file))
    assert "2 to create" in said
    assert "There is nobody here to ask: say --yes" in said
    foliot.refused(3, "schedule", "show", f"{set_in(file)}-digest")


def test_what_is_exported_plans_nothing(foliot: CommandLine, file: Path, tmp_path: Path) -> None:
    foliot("schedule", "apply", "-f", str(file), "--yes")
    exported = tmp_path / "exported.yaml"
    exported.write_text(foliot("schedule", "export", "--set", set_in(file)))
    assert len(yaml.safe_load(exported.read_text())["schedules"]) == 2
    shown = foliot("schedule", "plan", "-f", str(exported), "--check")
    assert shown == f"{set_in(file)}, planned: 2 as declared\n"


def test_the_set_is_the_one_that_is_given_and_else_the_files(foliot: CommandLine, file: Path) -> None:
    """It was told to be the file's where that has one."""
    assert foliot("schedule", "plan", "-f", str(file), "--set", "given").startswith("given, planned")
    assert foliot("schedule", "plan", "-f", str(file)).startswith(f"{set_in(file)}, planned")
    said = " ".join(foliot("schedule", "plan", "--help").split())
    assert "The name of the set; else the one that the file says." in said


def test_what_vanished_is_paused(foliot: CommandLine, file: Path) -> None:
    foliot("schedule", "apply", "-f", str(file), "--yes")
    file.write_text(f"set: {set_in(file)}\nschedules: []\n")
    found = foliot.json("schedule", "apply", "-f", str(file), "--yes")
    assert [one["measure"] for one in found] == ["pause", "pause"]
    assert foliot.json("schedule", "show", f"{set_in(file)}-digest")["standing"] == "paused"


def test_what_vanished_is_not_exported_so_that_applying_the_export_changes_nothing(
    foliot: CommandLine, file: Path, tmp_path: Path
) -> None:
    """To declare it again is to resume it: an export that was applied undid what its set had said."""
    foliot("schedule", "apply", "-f", str(file), "--yes")
    document = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({**document, "schedules": document["schedules"][:1]}))
    foliot("schedule", "apply", "-f", str(file), "--yes")
    exported = foliot.run("schedule", "export", "--set", set_in(file))
    assert "foliot: 1 that vanished from the set" in exported.stderr
    (tmp_path / "exported.yaml").write_text(exported.stdout)
    assert [one["name"] for one in yaml.safe_load(exported.stdout)["schedules"]] == [f"{set_in(file)} digest"]
    foliot("schedule", "plan", "-f", str(tmp_path / "exported.yaml"), "--check")
    foliot("schedule", "apply", "-f", str(tmp_path / "exported.yaml"), "--yes")
    assert foliot.json("schedule", "show", f"{set_in(file)}-weekly")["standing"] == "paused"
    named = f"{set_in(file)} weekly"
    assert foliot("schedule", "export", named, "-o", "name") == f"{named}\n"


def test_what_vanished_and_is_paused_already_is_not_told_to_be_as_declared(foliot: CommandLine, file: Path) -> None:
    foliot("schedule", "apply", "-f", str(file), "--yes")
    digest = f"{set_in(file)}-digest"
    foliot("schedule", "pause", digest, "--note", "mine")
    first, rest = file.read_text().split("- name:", 1)
    file.write_text(first + "- name:" + rest.split("- name:", 1)[1])
    shown = foliot("schedule", "plan", "-f", str(file), "--check").splitlines()
    assert shown[0] == f"{set_in(file)}, planned: 1 vanished (paused already), 1 as declared"
    assert shown[1] == f"- {digest}: vanished, it stays paused: mine"
    assert foliot("schedule", "apply", "-f", str(file)).startswith(f"{set_in(file)}, applied: 1 vanished")


def test_what_vanished_is_not_exported_also_when_somebody_had_paused_it_before(foliot: CommandLine, file: Path) -> None:
    """Whose pause it was hid that it had vanished: who committed the export had declared it again."""
    foliot("schedule", "apply", "-f", str(file), "--yes")
    foliot("schedule", "pause", f"{set_in(file)}-weekly", "--note", "mine")
    whole = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({**whole, "schedules": whole["schedules"][:1]}))
    foliot("schedule", "apply", "-f", str(file))
    exported = foliot.json("schedule", "export", "--set", set_in(file))
    assert [one["name"] for one in exported["schedules"]] == [f"{set_in(file)} digest"]
    file.write_text(yaml.safe_dump(whole))
    foliot("schedule", "apply", "-f", str(file))
    assert foliot.json("schedule", "show", f"{set_in(file)}-weekly")["note"] == "mine"
    assert len(foliot.json("schedule", "export", "--set", set_in(file))["schedules"]) == 2


def test_names_of_what_is_exported_can_be_chosen(foliot: CommandLine, file: Path) -> None:
    foliot("schedule", "apply", "-f", str(file), "--yes")
    name = f"{set_in(file)} weekly"
    assert foliot("schedule", "export", name, "-o", "name") == f"{name}\n"
    assert name not in foliot("schedule", "export")
    assert "there is no set 'absent'" in foliot.refused(3, "schedule", "export", "--set", "absent")
    assert "there is no schedule 'absent'" in foliot.refused(3, "schedule", "export", name, "absent")


def test_exports_of_single_schedules_are_applied_one_after_the_other(
    foliot: CommandLine, name: str, tmp_path: Path
) -> None:
    """All were the set `exported`: applying the second paused what was in the first, as vanished."""
    files = []
    for part in ("one", "two"):
        foliot("schedule", "create", f"{name} {part}", "--target", "digest", "--cron", "0 9 * * *")
        files.append(tmp_path / f"{part}.yaml")
        files[-1].write_text(foliot("schedule", "export", f"{name}-{part}"))
    for file in files:
        foliot("schedule", "apply", "-f", str(file), "--yes")
    assert [set_in(file) for file in files] == [f"exported-{name}-one", f"exported-{name}-two"]
    assert [foliot.json("schedule", "show", f"{name}-{part}")["standing"] for part in ("one", "two")] == ["active"] * 2


def test_what_was_exported_and_applied_is_in_the_next_export_of_all(
    foliot: CommandLine, name: str, tmp_path: Path
) -> None:
    """It was left out as of another set, so that applying the next export paused it."""
    file = tmp_path / "exported.yaml"
    for part in ("one", "two"):
        foliot("schedule", "create", f"{name}-{part}", "--target", "digest", "--cron", "0 9 * * *")
        written = yaml.safe_load(foliot("schedule", "export"))
        mine = [one for one in written["schedules"] if one["name"].startswith(name)]
        file.write_text(yaml.safe_dump({**written, "schedules": mine}))
        foliot("schedule", "apply", "-f", str(file), "--yes")
    assert [foliot.json("schedule", "show", f"{name}-{part}")["standing"] for part in ("one", "two")] == ["active"] * 2


def test_who_deletes_what_is_declared_is_told_when_it_is_made_again(foliot: CommandLine, file: Path) -> None:
    """Of a file's set it was said to be at its next start, which a file does not have."""
    foliot("schedule", "apply", "-f", str(file), "--yes")
    name = f"{set_in(file)} weekly"
    again = f"{set_in(file)} declares it, and makes it again the next time that it starts or is applied"
    assert again in foliot.run("schedule", "delete", name, "--yes").stderr
    assert "1 created" in foliot("schedule", "apply", "-f", str(file), "--yes")


def test_what_a_program_declares_is_there_but_not_exported(foliot: CommandLine, served: Served, name: str) -> None:
    served.program.schedules.upsert(name, target="digest", manual=True, app="another")
    said = foliot.refused(2, "schedule", "export", name)
    assert f"there is nothing to export named {name}: programs declare their own" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schedules: {", "is no YAML"),
        ("[]", "takes `set: name` and `schedules:`"),
        ("schedules: []", "does not say which set it is"),
        ("set: a\nschedules: []\nmore: 1", "takes set and schedules, got more"),
        ("set: a\nschedules:\n- name: x\n  cron: 0 25 * * *", "takes 0-23"),
        ("set: a\nschedules:\n- name: x\n  every: 1h\n- name: X\n  every: 2h", "take different names, got 'x'"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_words(foliot: CommandLine, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    assert said in foliot.refused(2, "schedule", "plan", "-f", str(path))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("cron: 0 9 * *", "'second': cron text takes 5, 6 or 7"), ("crn: 0 9 * * *", "'second': a schedule takes target")],
)
def test_which_schedule_of_a_file_is_wrong_is_said(foliot: CommandLine, tmp_path: Path, wrong: str, said: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(f"set: a\nschedules:\n- name: first\n  every: 1h\n- name: second\n  {wrong}\n")
    assert said in foliot.refused(2, "schedule", "plan", "-f", str(path))


def test_a_file_that_cannot_be_read_is_named_and_why_in_words(foliot: CommandLine, tmp_path: Path) -> None:
    """What the operating system calls it, [Errno 2] and the name once more, was said."""
    absent, latin = tmp_path / "absent.yaml", tmp_path / "latin.yaml"
    latin.write_bytes("set: für\n".encode("latin-1"))
    for file, why in {
        absent: "there is no such file: mend its name, or give - for standard input",
        tmp_path: "it is a directory: name a file in it",
        latin: "it is no text in UTF-8",
    }.items():
        said = foliot.refused(2, "schedule", "plan", "-f", str(file))
        assert said == f"foliot: '{file}' cannot be read: {why}\n"
