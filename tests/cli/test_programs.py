"""How the program of a command is found: what may be said, and what is refused in which words."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot import Conflict, Invalid
from foliot.cli.programs import folder_of, load
from foliot.cli.starter import init

FILES = {
    "one.py": "from foliot import Foliot\nimport beside\napp = Foliot('sqlite:///one.db', name='one')\nsame = app\n",
    "beside.py": "",
    "two.py": "from foliot import Foliot\na = Foliot('sqlite:///', name='a')\nb = Foliot('sqlite:///', name='b')",
    "none.py": "app = 7\n",
    "random.py": "from foliot import Foliot\napp = Foliot('sqlite:///one.db', name='mine')\n",
    "wrong.py": "from foliot import Foliot\napp = Foliot('sqlite:///x.db')\n\n\n@app.schedule(cron='0 25 * * *')\n"
    "def digest(input, ctx): ...\n",
    "lost.py": "import nowhere_at_all\n",
    "open.py": "from foliot import Foliot\napp = Foliot(\n",
    "sick.py": "def fall():\n    open('absent')\nfall()\n",
    "using.py": "import library\nlibrary.fail()\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = dict(sys.modules)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    yield tmp_path
    for name in set(sys.modules) - set(before):
        del sys.modules[name]


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("one.py", "one"),
        ("./one.py", "one"),
        ("one.py:app", "one"),
        ("one:app", "one"),
        ("two.py:b", "b"),
        ("random.py", "mine"),
        (None, "foliot-serve"),
    ],
)
def test_a_program_is_a_file_or_a_module(where: str | None, name: str) -> None:
    assert load(where).name == name


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("one", r"an app is file\.py, file\.py:name or module:name, such as my_module:app, got 'one'"),
        (":app", r"an app is file\.py"),
        ("absent:app", "there is no module 'absent' here: start foliot in the folder that it is in"),
        ("absent.py", r"there is no file absent\.py here"),
        ("one.py:nothing", r"one\.py:nothing is no Foliot, got None: write `nothing = Foliot\(\.\.\.\)` in one\.py"),
        ("none:app", "none:app is no Foliot, got 7"),
        ("none.py", r"there is no Foliot in none\.py: write `app = Foliot\(\)` in it"),
        ("two.py", r"there are several Foliots in two\.py: say which, two\.py:a or two\.py:b"),
        ("wrong.py", r"wrong\.py, line 5: cron field 'hour' takes 0-23"),
        ("wrong:app", r"wrong\.py, line 5: cron field 'hour' takes 0-23"),
    ],
)
def test_what_is_no_program_is_refused_in_words(where: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        load(where)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("lost:app", 'lost.py", line 1, in <module>\n    import nowhere_at_all\nModuleNotFoundError: No module named'),
        ("lost.py", 'lost.py", line 1, in <module>\n    import nowhere_at_all\nModuleNotFoundError: No module named'),
        ("open.py", "open.py\", line 2\n    app = Foliot(\n                ^\nSyntaxError: '(' was never closed"),
        ("sick.py", 'sick.py", line 3, in <module>\n    fall()\n  File "{folder}/sick.py", line 2, in fall\n'),
    ],
)
def test_a_program_that_fails_is_told_with_its_own_lines_and_no_others(folder: Path, where: str, words: str) -> None:
    """A traceback of twenty lines of ours was shown, and the exit code was that of a defect."""
    with pytest.raises(Invalid) as refused:
        load(where)
    assert words.format(folder=folder) in str(refused.value)
    assert "importlib" not in str(refused.value)


def test_a_library_in_the_folder_of_a_program_is_not_the_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the environments that people make beside their files."""
    packages = folder / ".venv" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "library.py").write_text("def fail(): 1 / 0\n")
    monkeypatch.syspath_prepend(str(packages))
    with pytest.raises(Invalid) as refused:
        load("using.py")
    assert "library.py" not in str(refused.value)
    assert str(refused.value).endswith("library.fail()\nZeroDivisionError: division by zero")


def test_the_files_of_a_program_are_beside_it(folder: Path) -> None:
    assert folder_of("deep/one.py:app") == folder / "deep"
    assert folder_of("one:app") == folder


def test_the_starter_is_a_program_and_is_not_written_over_another(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    init(Path("new"))
    assert capsys.readouterr().out == "Wrote new/app.py and new/foliot.toml. Now:\ncd new\nfoliot serve app.py\n"
    assert load("new/app.py").name == "starter"
    (folder / "new" / "app.py").unlink()
    with pytest.raises(Conflict, match=r"there is .*new/foliot\.toml already, and nothing is overwritten"):
        init(Path("new"))
    assert not (folder / "new" / "app.py").exists()


@pytest.mark.parametrize("name", ["app.py", "app.py/new"])
def test_a_file_in_the_place_of_the_folder_is_in_the_way_of_the_starter(folder: Path, name: str) -> None:
    """It was told to be asked later."""
    (folder / "app.py").write_text("mine")
    with pytest.raises(Conflict, match="is no folder, or is in none: name another, or remove the file that is there"):
        init(Path(name))
    assert (folder / "app.py").read_text() == "mine"
