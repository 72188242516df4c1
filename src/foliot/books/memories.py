"""Memories: what a run is handed of those before it, and of what it was told itself."""

from foliot.domain.questions import Answer, Verdict
from foliot.ports import Launch, Transaction


def with_memories(tx: Transaction, launches: list[Launch]) -> list[Launch]:
    """The launches, each with the last result and failure of its schedule, and with what it was told."""
    launches = _with_answers(tx, launches)
    refs = {ref for launch in launches for ref in (launch.result_of, launch.failure_of) if ref is not None}
    if not refs:
        return launches
    endings = tx.endings(refs)
    nothing = (None, None)
    return [
        launch._replace(
            last_result=endings.get(launch.result_of or 0, nothing)[0],
            last_failure=endings.get(launch.failure_of or 0, nothing)[1],
        )
        for launch in launches
    ]


def _with_answers(tx: Transaction, launches: list[Launch]) -> list[Launch]:
    """The launches, those that were answered with what they were told last, and how often.

    That somebody had a run delivered once more is not an answer to what its code has asked.
    """
    asked = [launch.ref for launch in launches if launch.rounds]
    told: dict[int, list[Answer]] = {}
    for question in tx.questions_of(asked) if asked else ():
        if question.verdict is not None and question.is_answer:
            answer = Answer(Verdict(question.verdict), question.feedback, question.decided_by or "", question.reference)
            told.setdefault(question.run_ref, []).append(answer)
    if not told:
        return launches
    return [
        launch._replace(answer=told[launch.ref][-1], answered=len(told[launch.ref])) if launch.ref in told else launch
        for launch in launches
    ]
