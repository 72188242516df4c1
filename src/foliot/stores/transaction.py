"""The database inside a transaction: all its parts as one."""

from foliot.stores.auditing import Audits
from foliot.stores.backfills import Backfills
from foliot.stores.condition import Condition
from foliot.stores.cursors import Cursors
from foliot.stores.grants import Grants
from foliot.stores.money import Money
from foliot.stores.questions import Questions
from foliot.stores.requests import KeptRequests
from foliot.stores.run_lists import RunLists
from foliot.stores.runs import Runs
from foliot.stores.schedule_lists import ScheduleLists
from foliot.stores.schedules import Schedules
from foliot.stores.spendings import Spendings
from foliot.stores.targets import Targets
from foliot.stores.trail import Trail
from foliot.stores.troubles import Troubles
from foliot.stores.users import Users
from foliot.stores.webhooks import Webhooks
from foliot.stores.workers import Workers
from foliot.stores.workflows import Workflows


class SqlTransaction(
    Cursors,
    Runs,
    RunLists,
    Schedules,
    ScheduleLists,
    Targets,
    Backfills,
    Workers,
    Troubles,
    Condition,
    Grants,
    Money,
    Spendings,
    Questions,
    KeptRequests,
    Workflows,
    Users,
    Trail,
    Webhooks,
    Audits,
):
    """What `ports.Transaction` asks for."""

    def notify(self, what: str) -> None:
        self.dialect.notify(self.cursor, what)
