"""The gate as the workers of this process use it: a run that another had begun may have been begun by request.

A worker without graph code has its runs executed by requests, and its death does not end those.
"""

from collections.abc import Sequence

from foliot.domain.runs import OnUnknown
from foliot.domain.settlement import Outcome
from foliot.execution.gate import LocalGate
from foliot.execution.records import Records
from foliot.execution.requests import Requests
from foliot.ports import Control, Launch


class WorkersGate:
    """The gate inside this process, and before it the record of what was asked of it."""

    def __init__(self, gate: LocalGate, requests: Requests, records: Records) -> None:
        self._gate = gate
        self._requests = requests
        self._records = records

    def targets(self) -> Sequence[str]:
        return self._gate.targets()

    def room(self, target: str) -> int | None:
        return self._gate.room(target)

    def on_unknown(self, target: str) -> OnUnknown:
        return self._gate.on_unknown(target)

    def report_digest(self, target: str, run_id: str) -> str | None:
        return self._gate.report_digest(target, run_id)

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        if launch.was_begun:
            told = await self._records.write(lambda tx: self._requests.told_before(tx, launch))
            if told is not None:
                return told
        return await self._gate.execute(launch, control)
