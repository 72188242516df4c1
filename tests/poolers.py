"""A real PgBouncer before the tests' PostgreSQL, in transaction mode, where the machine has one."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from tests.cli.serving import wait_for
from tests.databases import PostgresqlServer

_CONFIGURATION = """
[databases]
* = host={server} user=postgres

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
min_pool_size = 0
max_client_conn = 200
logfile = {folder}/log
pidfile = {folder}/pid
"""


class Pooler:
    """One that lends four sessions of the server to all its clients, a transaction at a time."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._port = port

    def url(self, direct: str) -> str:
        """The same database, through it."""
        return f"postgresql://postgres@127.0.0.1:{self._port}/{make_url(direct).database}"

    def log(self) -> str:
        return (self._folder / "log").read_text()


@contextmanager
def a_pooler(server: PostgresqlServer) -> Iterator[Pooler]:
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("there is no pgbouncer here: Debian's package of that name has it")
    with tempfile.TemporaryDirectory(prefix="pgb-") as name:
        folder = Path(name)
        port = _free_port()
        settings = folder / "pgbouncer.ini"
        settings.write_text(_CONFIGURATION.format(server=server.folder, port=port, folder=folder))
        # Like the server, it does not run as root.
        user = server.server.system_user
        if user is not None:
            shutil.chown(folder, user)
        process = subprocess.Popen([program, "--quiet", str(settings)], user=user)
        pooler = Pooler(folder, port)
        try:
            wait_for("pgbouncer listens", lambda: _answers(pooler.url(server.url("postgres"))))
            yield pooler
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True
