"""Secrets are in the environment and in the program, and nowhere else."""

from pathlib import Path

from tests.diet import on_sqlite_every_day
from tests.http import canaries


@on_sqlite_every_day
def test_no_secret_is_found_in_anything_that_is_written_shown_or_kept(database_url: str, tmp_path: Path) -> None:
    search, asked = canaries.run(database_url, tmp_path)
    assert search.problems() == []
    assert asked > 50
    assert set(search.texts) >= {"log", "answers", "database", "doctor", "settings show --origin"}
    assert all(text.strip() for text in search.texts.values())
    assert "webhooks" in search.texts["log"]
    assert "(not shown)" in search.texts["settings show --origin"]
