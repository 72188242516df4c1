"""Coverage-guided fuzzing of the cron parser: `make test-all` runs it for two minutes."""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[2]))

with atheris.instrument_imports(include=["foliot"]):
    from tests.fuzz.reading import read_anything


def fuzz(data: bytes) -> None:
    read_anything(atheris.FuzzedDataProvider(data).ConsumeUnicodeNoSurrogates(len(data)))


if __name__ == "__main__":
    corpus = Path(__file__).parent / "corpus"
    atheris.Setup([*sys.argv, str(corpus)] if corpus.is_dir() else sys.argv, fuzz)
    atheris.Fuzz()
