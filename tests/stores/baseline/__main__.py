"""Tells the story on both databases and keeps how it ended: `python -m tests.stores.baseline`.

For a schema that is not released yet. One that is stays as it is, and the next one is kept beside it.
"""

import tempfile
from pathlib import Path

from foliot.stores.migration import NEWEST
from tests.databases import a_postgresql_server
from tests.stores.baseline import dumps, story


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'baseline.db'}"
        with story.told(url):
            _keep("sqlite", dumps.of_sqlite(url))
    with a_postgresql_server() as server:
        url = server.new_database()
        with story.told(url):
            _keep("postgresql", dumps.of_postgresql(server, url))


def _keep(kind: str, text: str) -> None:
    path = dumps.FOLDER / f"{NEWEST}.{kind}.sql"
    path.write_text(text, encoding="utf-8")
    print(f"{path.relative_to(Path.cwd())}: {len(text):,} characters")


if __name__ == "__main__":
    main()
