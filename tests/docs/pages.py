"""The pages of the docs, taken apart: programs, files, commands and what each is said to give.

A page is one session in one folder. `python` blocks share their names from top to bottom; one that begins with
`# name.py` is a file of that name, and so is a `yaml` block that begins with `# name.yaml`. After an expression, a
comment that is a literal is its value. In what a command prints, `…` stands for anything, and after `^C` comes what it
prints when it is interrupted. `shell-session` blocks are one session of bash, while the server runs that the page
starts.
"""

import ast
import re
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_FILE = re.compile(r"# (\w+\.(?:py|yaml))\n")


class Block(NamedTuple):
    page: Path
    line: int
    """The first of its own, below the fence."""
    text: str

    @property
    def file(self) -> str | None:
        """The name of the file that it is."""
        named = _FILE.match(self.text)
        return named and named[1]


class Command(NamedTuple):
    page: Path
    text: str
    output: str

    @property
    def is_server(self) -> bool:
        """Whether it goes on while the rest of the page is read."""
        return " serve" in self.text and "^C\n" not in self.output


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[Block]:
    text = page.read_text()
    return [
        Block(page, text[: fence.start()].count("\n") + 2, fence[2])
        for fence in _FENCE.finditer(text)
        if fence[1] == language
    ]


def commands(page: Path, language: str = "console") -> list[Command]:
    """The commands of the page, and the output shown below each."""
    return [
        Command(page, match[1], match[2]) for block in blocks(page, language) for match in _COMMAND.finditer(block.text)
    ]


def pattern_of(output: str) -> re.Pattern[str]:
    """What the shown output stands for."""
    return re.compile(re.escape(output).replace("…", ".*"), re.DOTALL)


class Program:
    """A page's `python` blocks, run one after another with the same names."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "docs", "_is": _is}
        self.shown = 0
        """How many values were compared with what the page shows."""

    def run(self, block: Block) -> None:
        lines = block.text.splitlines()
        tree = ast.parse(block.text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and node.end_lineno is not None:
                self._compare(node, lines[node.end_lineno - 1][node.end_col_offset or 0 :])
        ast.increment_lineno(ast.fix_missing_locations(tree), block.line - 1)
        exec(compile(tree, str(block.page), "exec"), self.names)

    def _compare(self, node: ast.Expr, rest: str) -> None:
        """Make of an expression and the literal behind it a comparison of both."""
        _, sign, comment = rest.partition("# ")
        try:
            shown = ast.literal_eval(comment)
        except (SyntaxError, ValueError):
            return
        if sign:
            self.shown += 1
            called = ast.Name("_is", ast.Load())
            node.value = ast.copy_location(ast.Call(called, [node.value, ast.Constant(repr(shown))], []), node)


def _is(value: object, shown: str) -> None:
    assert value == ast.literal_eval(shown), f"it is {value!r}, the page shows {shown}"
