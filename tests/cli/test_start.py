"""The command line starts at once, and completes what is typed with what the server has."""

import os
import subprocess
import sys

import pytest

from tests.cli.conftest import FOLIOT, CommandLine

HEAVY = {"rich", "httpx2", "yaml", "fastapi", "sqlalchemy", "pydantic", "structlog", "uvicorn"}


@pytest.mark.parametrize("arguments", [["--help"], ["schedule", "--help"], ["run", "list", "--help"]])
def test_help_needs_no_libraries_but_typer(arguments: list[str]) -> None:
    program = (
        f"import sys; sys.argv = ['foliot', *{arguments!r}]\n"
        "from foliot.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert "Usage: foliot" in result.stdout
    assert not HEAVY & set(result.stderr.split())


def completed(foliot: CommandLine, shell: str, words: str) -> str:
    environment = {**os.environ, **foliot.environment, "_FOLIOT_COMPLETE": f"complete_{shell}"}
    environment |= {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    environment |= {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    result = subprocess.run([FOLIOT], env=environment, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    return result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_are_completed(foliot: CommandLine, shell: str) -> None:
    assert "trigger" in completed(foliot, shell, "foliot schedule tr")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_ids_are_completed_from_the_server_and_in_silence_without_one(
    foliot: CommandLine, name: str, shell: str
) -> None:
    foliot("schedule", "create", name, "--target", "digest", "--manual")
    run = foliot.json("schedule", "trigger", name)["id"]
    # A colon is written as the shell reads it.
    assert run.replace(":", "") in completed(foliot, shell, f"foliot run show {name}").replace("\\", "").replace(
        ":", ""
    )
    foliot.environment["FOLIOT_URL"] = "http://127.0.0.1:1"
    assert run not in completed(foliot, shell, f"foliot run show {name}")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_schedules_are_completed_by_the_beginning_of_their_ids(foliot: CommandLine, name: str, shell: str) -> None:
    for part in ("first", "second"):
        foliot("schedule", "create", f"{name}-{part}", "--target", "digest", "--manual")
    for command in ("show", "pause", "label", "edit"):
        said = completed(foliot, shell, f"foliot schedule {command} {name}-f")
        assert (f"{name}-first" in said, f"{name}-second" in said) == (True, False), said


def completed_by_bash(foliot: CommandLine, line: str) -> list[str]:
    """What bash, with our script, puts in the place of the last word of the line, or of what is after its colon."""
    script = (
        f'source <(_FOLIOT_COMPLETE=source_bash {FOLIOT}); COMP_LINE="$1"; COMP_POINT=${{#1}}; '
        f"_foliot_completion {FOLIOT}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    environment = {**os.environ, **foliot.environment}
    result = subprocess.run(
        ["bash", "-c", script, "bash", line], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stderr == ""
    return result.stdout.split()


def test_bash_goes_on_after_the_colons_of_a_run_and_puts_in_no_more_than_that(foliot: CommandLine, name: str) -> None:
    foliot("schedule", "create", name, "--target", "digest", "--manual")
    run = foliot.json("schedule", "trigger", name)["id"]
    assert run.startswith(f"{name}:manual:")
    assert completed_by_bash(foliot, f"foliot run show {name}:manual:") == [run.removeprefix(f"{name}:manual:")]
    assert completed_by_bash(foliot, f"foliot run show {name}") == [run]
    assert completed_by_bash(foliot, f"foliot schedule show {name}") == [name]
    assert "trigger" in completed_by_bash(foliot, "foliot schedule ")


def test_completion_is_shown_for_the_shell_that_is_named() -> None:
    """The name was ignored, for the shell that it was asked in."""
    for shell, word in {
        "bash": "COMP_WORDBREAKS",
        "zsh": "#compdef foliot",
        "fish": "complete --command foliot",
    }.items():
        shown = subprocess.run([FOLIOT, "--show-completion", shell], capture_output=True, text=True, check=True)
        assert word in shown.stdout, shell
    refused = subprocess.run([FOLIOT, "--show-completion", "tcsh"], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--show-completion takes bash, zsh, fish, or nothing" in refused.stderr


def test_typer_has_the_places_that_our_script_for_bash_takes() -> None:
    shown = subprocess.run(
        [FOLIOT], env={**os.environ, "_FOLIOT_COMPLETE": "source_bash"}, capture_output=True, text=True, check=False
    )
    assert "COMP_WORDBREAKS" in shown.stdout
