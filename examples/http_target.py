"""A schedule that calls an HTTP endpoint, and the endpoint: it checks the signature, and does each thing once.

Run it with `python examples/http_target.py`. It calls once and ends; with `--serve` it goes on, every ten seconds.
"""

import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from foliot import Foliot
from foliot.domain.signing import SIGNATURE_HEADER, is_signed

SECRET = "known to the caller and the receiver"
charged: dict[str, Any] = {}
"""What was done, by idempotency key: asked a second time, the receiver answers the same and does nothing."""


class Billing(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not is_signed(body, self.headers.get(SIGNATURE_HEADER, ""), [SECRET], int(time.time())):
            return self._answer(401, {"error": "not signed by whom I know"})
        message = json.loads(body)
        key = self.headers["Idempotency-Key"]
        print(f"receiver: {message['run_id']} is genuine, {'seen before' if key in charged else 'new'}", flush=True)
        return self._answer(200, charged.setdefault(key, {"bills": 3, "month": message["input"]["month"]}))

    def _answer(self, status: int, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """It says what it does itself."""


async def call_once(app: Foliot) -> None:
    async with app:
        run = app.schedules.trigger("bills")
        while app.runs.get(run.id).ended_at is None:
            await asyncio.sleep(0.02)
        ended = app.runs.get(run.id)
        print(f"caller:   {ended.id} is a {ended.status}: {ended.result or ended.error}")
        print(f"caller:   its key, the same for every attempt, was {ended.idempotency_key}")


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Billing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Without it only the open Internet may be called.
    os.environ.setdefault("FOLIOT_HTTP_ALLOW", "127.0.0.1")
    with tempfile.TemporaryDirectory() as folder:
        app = Foliot(f"sqlite:///{folder}/bills.db", name="bills")
        app.endpoint("billing", f"http://127.0.0.1:{server.server_port}/bills", secret=SECRET)
        app.schedules.create("bills", target="http:billing", every="10s", input={"month": "2026-10"})
        if "--serve" in sys.argv:
            app.run()
        else:
            asyncio.run(call_once(app))
        app.close()
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
