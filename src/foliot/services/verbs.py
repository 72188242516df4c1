"""All verbs of one caller."""

from foliot.services.accounts import AccountVerbs
from foliot.services.auditing import AuditVerbs
from foliot.services.backfills import BackfillVerbs
from foliot.services.bulk import BulkVerbs
from foliot.services.decisions import DecisionVerbs
from foliot.services.declaring import DeclarationVerbs
from foliot.services.desk import Desk
from foliot.services.grants import GrantVerbs
from foliot.services.launching import RunLauncher
from foliot.services.people import KeyVerbs, UserVerbs
from foliot.services.previewing import PreviewVerbs
from foliot.services.registrar import RegistrarVerbs
from foliot.services.requests import RequestVerbs
from foliot.services.runs import RunVerbs
from foliot.services.schedules import ScheduleVerbs
from foliot.services.system import SystemVerbs
from foliot.services.trail import TrailVerbs
from foliot.services.webhooks import WebhookVerbs
from foliot.services.workflows import WorkflowVerbs


class Verbs:
    """What one caller may ask for, by what it is about."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.schedules = ScheduleVerbs(desk)
        self.bulk = BulkVerbs(desk)
        self.previews = PreviewVerbs(desk)
        self.declarations = DeclarationVerbs(desk)
        self.runs = RunVerbs(desk)
        self.backfills = BackfillVerbs(desk)
        self.decisions = DecisionVerbs(desk)
        self.grants = GrantVerbs(desk)
        self.accounts = AccountVerbs(desk)
        self.workflows = WorkflowVerbs(desk)
        self.launcher = RunLauncher(desk)
        self.registrar = RegistrarVerbs(desk)
        self.requests = RequestVerbs(desk)
        self.users = UserVerbs(desk)
        self.keys = KeyVerbs(desk)
        self.system = SystemVerbs(desk)
        self.trail = TrailVerbs(desk)
        self.webhooks = WebhookVerbs(desk)
        self.audit = AuditVerbs(desk)
