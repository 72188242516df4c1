"""The proof: one story for each way to set SQLite, and the power fails in each at so many points."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.power.story import tell
from tests.power.verdicts import Fate, Verdict, go_on, judge, points_of

_SHORT_LOG = {"wal_autocheckpoint": "20"}


class Mode(NamedTuple):
    name: str
    pragmas: Mapping[str, str]
    """What is set otherwise than the store does."""
    is_control: bool
    """It is known to lose commits: a harness that does not see it proves nothing."""


MODES = (
    Mode("FULL, as the store is", {}, False),
    Mode("FULL, many checkpoints", _SHORT_LOG, False),
    Mode("NORMAL, a control", {"synchronous": "NORMAL", **_SHORT_LOG}, True),
    Mode("OFF, a control", {"synchronous": "OFF", **_SHORT_LOG}, True),
)


class Result(NamedTuple):
    mode: Mode
    operations: int
    commits: int
    verdicts: list[Verdict]
    begun: list[int]
    """How many runs each new process began that took up what was left."""
    broken: list[str]

    @property
    def fates(self) -> Counter[Fate]:
        return Counter(verdict.fate for verdict in self.verdicts)

    @property
    def worst(self) -> int:
        return max(verdict.commits for verdict in self.verdicts)

    @property
    def problems(self) -> list[str]:
        if self.mode.is_control:
            seen = self.fates[Fate.LOST]
            return [] if seen else [f"{self.mode.name}: no loss was seen, so the harness is blind"]
        bad = [verdict for verdict in self.verdicts if verdict.fate is not Fate.KEPT]
        return [f"{self.mode.name}: {what}" for what in (*bad, *self.broken)]

    def __str__(self) -> str:
        fates = self.fates
        figures = (len(self.verdicts), fates[Fate.LOST], self.worst, fates[Fate.CORRUPT])
        return f"{self.mode.name:24}" + "".join(f"{figure:>12,}" for figure in figures)


HEADING = f"{'synchronous':24}" + "".join(f"{word:>12}" for word in ("points", "lost", "worst loss", "corrupt"))


def fail(
    mode: Mode, points: int, continued: int, seed: int, progress: Callable[[int], None] = lambda _: None
) -> Result:
    """Tell the story, and let the power fail at so many points of it; after some of them a new process goes on."""
    chance = random.Random(f"{seed} {mode.name}")
    with tempfile.TemporaryDirectory(prefix="power-") as folder:
        story = tell(Path(folder), mode.pragmas)
        chosen = points_of(story, points, chance)
        # Spread evenly over the story: by chance all of them could fall on its beginning, where nothing is owed yet.
        goes_on = {chosen[(number + 1) * len(chosen) // (continued + 1)] for number in range(continued)}
        left = Path(folder) / "left"
        verdicts: list[Verdict] = []
        begun: list[int] = []
        broken: list[str] = []
        for verdict in judge(story, chosen, left, chance):
            verdicts.append(verdict)
            if verdict.point in goes_on and verdict.fate is Fate.KEPT:
                try:
                    begun.append(go_on(story, verdict.point, left))
                except AssertionError as error:
                    broken.append(f"going on after operation {verdict.point.operations}: {error}")
            progress(len(verdicts))
    return Result(mode, len(story.operations), len(story.promises), verdicts, begun, broken)
