"""Workflows to try things with, written in few words."""

from itertools import pairwise
from typing import Any

Json = dict[str, Any]


def node(node_id: str, type_: str, /, **data: Any) -> Json:
    return {"id": node_id, "type": type_, "data": data}


def manual(node_id: str = "start") -> Json:
    return node(node_id, "trigger", kind="manual")


def scheduled(node_id: str = "tick", cron: str = "*/5 * * * *", **schedule: Any) -> Json:
    return node(node_id, "trigger", kind="schedule_based", schedule={"cron_expr": cron, **schedule})


def act(node_id: str, action: str | None = None, **data: Any) -> Json:
    """An action that is named after its node, unless told otherwise, and is not tried again."""
    return node(node_id, "action", **{"action": action or node_id, "retry": {"retries": 0}} | data)


def edges(*written: str) -> list[Json]:
    """`a > b`, `a > b error`, and chains such as `a > b > c`."""
    found = []
    for text in written:
        chain, *when = text.rsplit(" ", 1) if text.rsplit(" ", 1)[-1] in ("error", "always", "success") else [text]
        names = [name.strip() for name in chain.split(">")]
        for source, target in pairwise(names):
            found.append({"source": source, "target": target} | ({"when": when[0]} if when else {}))
    return found


def a_dag(nodes: list[Json], *written: str, workflow_id: str = "flow", **more: Any) -> Json:
    return {"workflow_id": workflow_id, "nodes": nodes, "edges": edges(*written), **more}
