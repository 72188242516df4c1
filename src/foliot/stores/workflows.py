"""Workflows: their versions, and what is recorded of the nodes of each run."""

from foliot.lines import NodeLine, WorkflowLine
from foliot.rows import NodeRow, WorkflowRow
from foliot.stores.part import Part

_WORKFLOW = ", ".join(WorkflowRow._fields)
_LINE = ", ".join(WorkflowLine._fields)
_NODE = ", ".join(NodeRow._fields)
_NODE_LINE = ", ".join("substr(error, 1, 200)" if name == "error" else name for name in NodeLine._fields)
_ENDS = ("status", "attempt", "output", "vars", "reason", "error", "usages", "ended_at")
"""What changes when a node that runs has ended."""
_SAVE = (
    f"INSERT INTO node_states ({_NODE}) VALUES ({', '.join('?' * len(NodeRow._fields))})"
    f" ON CONFLICT (run, node, path) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _ENDS)}"
    " WHERE node_states.status = 'RUNNING' RETURNING ref"
)


class Workflows(Part):
    def workflow(self, workflow_id: str, version: int | None) -> WorkflowRow | None:
        """That version of it, or the latest."""
        if version is None:
            rows = self._workflows("WHERE id = ? ORDER BY version DESC LIMIT 1", workflow_id)
        else:
            rows = self._workflows("WHERE id = ? AND version = ?", workflow_id, version)
        return rows[0] if rows else None

    def workflow_at(self, ref: int) -> WorkflowRow:
        return self._workflows("WHERE ref = ?", ref)[0]

    def workflow_versions(self, workflow_id: str) -> list[WorkflowRow]:
        """The newest first."""
        return self._workflows("WHERE id = ? ORDER BY version DESC", workflow_id)

    def list_workflows(self) -> list[WorkflowRow]:
        """The latest version of each, by id."""
        latest = "(SELECT max(version) FROM workflows AS other WHERE other.id = workflows.id)"
        return self._workflows(f"WHERE version = {latest} ORDER BY id")

    def workflows_after(self, owner: str | None, after: str, limit: int) -> list[WorkflowLine]:
        """The same without their documents, that user's or everybody's, from the id after that."""
        condition, values = ("AND owner = ? ", [owner]) if owner is not None else ("", [])
        latest = "version = (SELECT max(version) FROM workflows AS other WHERE other.id = workflows.id)"
        text = f"SELECT {_LINE} FROM workflows WHERE id > ? {condition}AND {latest} ORDER BY id LIMIT ?"
        return [WorkflowLine(*row) for row in self._all(text, after, *values, limit)]

    def versions_before(self, workflow_id: str, before: int, limit: int) -> list[WorkflowLine]:
        """Its versions without their documents, the newest first, from the one before that."""
        text = f"SELECT {_LINE} FROM workflows WHERE id = ? AND version < ? ORDER BY version DESC LIMIT ?"
        return [WorkflowLine(*row) for row in self._all(text, workflow_id, before, limit)]

    def _workflows(self, condition: str, *values: object) -> list[WorkflowRow]:
        return [WorkflowRow(*row) for row in self._all(f"SELECT {_WORKFLOW} FROM workflows {condition}", *values)]

    def insert_workflow(
        self, workflow_id: str, version: int, dag: str, digest: str, owner: str, by: str
    ) -> WorkflowRow:
        text = (
            "INSERT INTO workflows (id, owner, version, dag, hash, created_at, created_by) VALUES (?, ?, ?, ?, ?, ?, ?)"
            f" RETURNING {_WORKFLOW}"
        )
        return WorkflowRow(*self._all(text, workflow_id, owner, version, dag, digest, self.now, by)[0])

    def node_states(self, run: str) -> list[NodeRow]:
        """In the order in which they came to be."""
        text = f"SELECT {_NODE} FROM node_states WHERE run = ? ORDER BY ref"
        return [NodeRow(*row) for row in self._all(text, run)]

    def node_lines(self, run: str, limit: int) -> list[NodeLine]:
        """The last of them, in their order, without what they were given and have come to."""
        text = f"SELECT {_NODE_LINE} FROM node_states WHERE run = ? ORDER BY ref DESC LIMIT ?"
        return [NodeLine(*row) for row in self._all(text, run, limit)][::-1]

    def save_node(self, row: NodeRow) -> NodeRow:
        """Record the node, unless its end is recorded already; what stands there now."""
        if self._all(_SAVE, *row):
            return row
        text = f"SELECT {_NODE} FROM node_states WHERE run = ? AND node = ? AND path = ?"
        return NodeRow(*self._all(text, row.run, row.node, row.path)[0])

    def cached_node(self, user: str, workflow_id: str, node: str, key: str, since: int) -> NodeRow | None:
        """The user's last success of the workflow's node under that key since that moment, in any run and version."""
        chosen = ", ".join(f"n.{name}" for name in NodeRow._fields)
        text = (
            f"SELECT {chosen} FROM node_states n JOIN workflows w ON w.ref = n.workflow_ref"
            " WHERE n.idempotency_key = ? AND n.status = 'DONE' AND n.attempt > 0 AND w.id = ? AND n.node = ?"
            " AND n.user_id = ? AND n.ended_at > ? ORDER BY n.ref DESC LIMIT 1"
        )
        rows = self._all(text, key, workflow_id, node, user, since)
        return NodeRow(*rows[0]) if rows else None

    def remove_node_states(self, before: int) -> int:
        """Delete what came to be before that moment."""
        return self._do("DELETE FROM node_states WHERE started_at < ?", before)
