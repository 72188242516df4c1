"""The yardstick of the service: a route as FastAPI's documentation has it, which keeps what it is sent in SQLite.

It checks nothing, knows nobody, has no slots beside it, and writes one row where a schedule is several.
"""

import sqlite3
import threading

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from benchmarks.children import Found, Stage
from foliot.stores.sqlite_files import prepare_writer


class Sent(BaseModel):
    name: str
    target: str
    cron: str
    timezone: str


def app(path: str) -> FastAPI:
    cx = sqlite3.connect(path, check_same_thread=False)
    prepare_writer(cx, None)
    cx.execute("CREATE TABLE sent (ref integer PRIMARY KEY, name text UNIQUE, body text)")
    writing, made = threading.Lock(), FastAPI()

    @made.post("/api/v1/schedules", status_code=201)
    def create(sent: Sent) -> Sent:
        with writing, cx:
            cx.execute("INSERT INTO sent (name, body) VALUES (?, ?)", (sent.name, sent.model_dump_json()))
        return sent

    return made


def serve(stage: Stage, path: str, port: int, seconds: int) -> Found:
    config = uvicorn.Config(app(path), host="127.0.0.1", port=port, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    timer = threading.Timer(seconds, lambda: setattr(server, "should_exit", True))
    stage.ready()
    timer.start()
    server.run()
    return {}
