"""`foliot workflow`: DAGs, each version of them kept."""

from typing import Annotated

from typer import Argument, Option

from foliot.cli.completion import complete_workflows
from foliot.cli.given import document_in
from foliot.cli.lazily import new_app
from foliot.cli.output import View
from foliot.cli.session import Limit, Session, asking, path_of

app = new_app("Deploy workflows, and look at their versions.")

_WORKFLOW = View({"ID": "id", "VERSION": "version", "HASH": "hash", "CREATED": "created_at", "BY": "created_by"})
_DEPLOYED = View(
    {"ID": "workflow_id", "VERSION": "version", "CREATED": "created", "UPDATED": "updated", "PAUSED": "paused"},
    name="workflow_id",
)


@app.command("deploy")
@asking
def deploy_workflow(
    session: Session,
    file: Annotated[str, Argument(metavar="FILE", help="A DAG as JSON or YAML; - is standard input.")],
) -> None:
    """Deploy a workflow: a new version when it differs from the last; its triggers become schedules.

    \b
    Examples:
      foliot workflow deploy pipeline.json
    """
    session.show(session.client.post("/workflows", document_in(file)), _DEPLOYED)


@app.command("list")
@asking
def list_workflows(session: Session, limit: Limit = 100) -> None:
    """List workflows, each with its newest version.

    \b
    Examples:
      foliot workflow list
    """
    session.list("/workflows", _WORKFLOW, limit)


@app.command("show")
@asking
def show_workflow(
    session: Session,
    workflow: Annotated[str, Argument(metavar="WORKFLOW", help="Its id.", autocompletion=complete_workflows)],
    version: Annotated[int | None, Option(metavar="N", help="Which version; else the newest.")] = None,
) -> None:
    """Show a workflow as it was deployed.

    \b
    Examples:
      foliot workflow show pipeline
      foliot workflow show pipeline --version 2 -o json
    """
    path = path_of("workflows", workflow)
    session.show(session.client.get(path if version is None else f"{path}/versions/{version}"), _WORKFLOW)
