"""Coverage-guided fuzzing of the cron parser: `make test-all` runs it for two minutes."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

sys.path.insert(0, str(Path(__file__).parents[2]))

with atheris.instrument_imports(include=["foliot"]):
    from tests.fuzz.reading import read_anything

SEEDS = (
    "*/15 9-17 * * MON-FRI",
    "0 0 13 * FRI",
    "30 0 9 1,L-3,15W JAN-mar/2 ? 2026-2030/2",
    "0 0 LW * 5#2,FRIL",
    "TZ=Europe/Berlin @daily",
    "@every 1h30m/5m",
    "0 9 * * * 2026 # a comment",
)


def fuzz(data: bytes) -> None:
    read_anything(data.decode("utf-8", "replace"))


if __name__ == "__main__":
    with TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS):
            (Path(corpus) / str(number)).write_text(seed)
        atheris.Setup([*sys.argv, corpus], fuzz)
        atheris.Fuzz()
