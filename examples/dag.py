"""A workflow with a loop, a join and an error edge, every minute. `python examples/dag.py` runs it once and exits.

With `--serve` it keeps running, on the database that FOLIOT_DATABASE names.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from foliot import ActionContext, Foliot

NEWS = {"tech": ["A faster clock", "A slower clock"], "sport": ["Nil to nil"]}

DIGEST: dict[str, Any] = {
    "workflow_id": "digest",
    "nodes": [
        {
            "id": "every-minute",
            "type": "trigger",
            "data": {
                "kind": "schedule_based",
                "schedule": {"cron_expr": "* * * * *", "timezone": "Europe/Paris", "overlap_policy": "skip"},
            },
        },
        # Two branches at once: headlines, one topic after the other, and the weather, which fails.
        {"id": "both", "type": "parallel"},
        {
            "id": "topics",
            "type": "loop_foreach",
            "data": {"source": "globals.values.topics", "item_var": "topic", "body_start": "headlines"},
        },
        {
            "id": "headlines",
            "type": "action",
            "data": {
                "action": "headlines",
                "input_template": {"topic": "{{ topic }}"},
                "output_vars": {"lines": "output"},
            },
        },
        {
            "id": "weather",
            "type": "action",
            "data": {"action": "weather", "retry": {"retries": 1, "delay_ms": 100}, "timeout_ms": 5000},
        },
        {
            "id": "no-weather",
            "type": "action",
            "data": {"action": "say", "input_template": "no weather today", "output_vars": {"weather": "output"}},
        },
        {"id": "together", "type": "join", "data": {"mode": "all"}},
        {
            "id": "send",
            "type": "action",
            "data": {
                "action": "say",
                "input_template": "{{ len(nodes.topics.output.results) }} topics, {{ get(vars, 'weather', 'fair') }}",
            },
        },
        {"id": "done", "type": "end", "data": {"outputs": {"sent": "{{ nodes.send.output }}"}}},
    ],
    "edges": [
        {"source": "every-minute", "target": "both"},
        {"source": "both", "target": "topics"},
        {"source": "both", "target": "weather"},
        {"source": "weather", "target": "no-weather", "when": "error"},
        {"source": "topics", "target": "together"},
        {"source": "weather", "target": "together"},
        {"source": "no-weather", "target": "together"},
        {"source": "together", "target": "send"},
        {"source": "send", "target": "done"},
    ],
    "globals": {"max_parallelism": 3, "values": {"topics": ["tech", "sport"]}},
}


def the_app(database: str | None = None) -> Foliot:
    app = Foliot(database, name="digest")

    @app.action("headlines")
    async def headlines(input: Any, ctx: ActionContext) -> list[str]:
        await asyncio.sleep(0.1)
        return NEWS[input["topic"]]

    @app.action("weather")
    def weather(input: Any, ctx: ActionContext) -> None:
        raise ConnectionError(f"the weather does not answer (attempt {ctx.attempt})")

    @app.action("say")
    def say(input: Any, ctx: ActionContext) -> Any:
        print(f"{ctx.node}: {input}", flush=True)
        return input

    return app


async def run_once(app: Foliot) -> str:
    """Deploy it, run it now, and say what became of each node."""
    (schedule,) = app.workflows.deploy(DIGEST).created
    async with app:
        run = app.schedules.trigger(schedule)
        while run.ended_at is None:
            await asyncio.sleep(0.05)
            run = app.runs.get(run.id)
        for state in app.workflows.nodes(run.id):
            place = f"{state.node}[{state.path}]" if state.path else state.node
            print(f"  {place:<14} {state.status:<8} {(state.error or '').partition(chr(10))[0]}")
        print(f"{run.id}: {run.status}, {run.result['outputs'] if run.result else run.error}")
        return str(run.status)


def main(words: list[str]) -> int:
    if "--serve" in words:
        app = the_app()
        app.workflows.deploy(DIGEST)
        app.run()
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(run_once(the_app(f"sqlite:///{Path(folder) / 'digest.db'}"))) == "success" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
