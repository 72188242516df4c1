"""The database inside a transaction: all its parts as one."""

from foliot.stores.backfills import Backfills
from foliot.stores.cursors import Cursors
from foliot.stores.grants import Grants
from foliot.stores.money import Money
from foliot.stores.questions import Questions
from foliot.stores.requests import KeptRequests
from foliot.stores.runs import Runs
from foliot.stores.schedules import Schedules
from foliot.stores.spendings import Spendings
from foliot.stores.targets import Targets
from foliot.stores.workers import Workers
from foliot.stores.workflows import Workflows


class SqlTransaction(
    Cursors, Runs, Schedules, Targets, Backfills, Workers, Grants, Money, Spendings, Questions, KeptRequests, Workflows
):
    """What `ports.Transaction` asks for."""

    def notify(self, what: str) -> None:
        self.dialect.notify(self.cursor, what)
