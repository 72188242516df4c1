"""A service that dies at the commit of a write, before it or after it; run as a process by `test_killed`."""

import sys
import threading

from foliot import Foliot
from foliot.domain.pace import Pace
from foliot.serving import Server
from tests.crash.doom import Countdown, Did, _watch_commits

WRITES = {"create": "insert_schedules", "trigger": "record", "top-up": "post"}


def main(url: str, dies_at: str, moment: str) -> None:
    app = Foliot(url, name="mortal")

    @app.graph("digest")
    def digest(input: object, ctx: object) -> object:
        return input

    if dies_at:

        def is_it(did: Did) -> bool:
            # Its last call: the answer that is kept under the key.
            return WRITES[dies_at] in did and "keep_answer" in did

        _watch_commits(app, is_it, moment, Countdown(1))
    server = Server(app.parts.http(Pace(1e6, 10**6)), "127.0.0.1", 0)
    server.start()
    print(server.port, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
