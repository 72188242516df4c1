"""Texts: whatever a person or a program wrote comes back as it was, through every way into the database."""

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foliot.domain.runs import Kind, Reason, Status
from foliot.domain.settlement import Outcome
from foliot.rows import Finish
from foliot.stores.dialect import number_array, text_array
from foliot.stores.transaction import SqlTransaction
from tests.builders import NOON, a_new_run
from tests.stores.stage import Stage

NASTY = (
    "",
    " ",
    "NULL",
    "null",
    "\\",
    '"',
    "'",
    "\\'\"\\\\",
    "{a,b}",
    "{}",
    ",",
    "a\nb\r\nc\td",
    "%s %% %(x)s ? ?? :x $1",
    "é ü ñ 中文 🦉 \u202e\u200b\ufeff",
    "\x01\x1f\x7f\x85",
    "--; DROP TABLE runs;",
    "x" * 100_000,
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
NUMBERS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.none() | TEXTS | st.sampled_from(NASTY[:-1])))
def test_an_array_of_texts_is_what_postgresql_reads(shared_postgresql: Stage, texts: list[str | None]) -> None:
    assert _read_back(shared_postgresql, "text", text_array(texts)) == texts


@given(st.lists(st.none() | NUMBERS))
def test_an_array_of_numbers_is_what_postgresql_reads(shared_postgresql: Stage, numbers: list[int | None]) -> None:
    assert _read_back(shared_postgresql, "bigint", number_array(numbers)) == numbers


def _read_back(stage: Stage, kind: str, array: str) -> list[object]:
    ((found,),) = stage.read(lambda tx: tx._all(f"SELECT ?::{kind}[]", array))
    return list(found)


def test_zero_characters_which_postgresql_cannot_hold_are_left_out(shared_postgresql: Stage) -> None:
    with psycopg.connect(shared_postgresql.url) as cx:
        row = cx.execute("SELECT %s::text[]", [text_array(["a\0b", "\0", "c"])]).fetchone()

    assert row == (["ab", "", "c"],)


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text[:20]))
def test_every_text_of_a_run_comes_back_as_it_was(stage: Stage, text: str) -> None:
    schedule = stage.schedule()
    ref = stage.recorded(schedule, input=text)
    stage.write(lambda tx: tx.start([(1, 1, 1, 1, NOON, ref)]))
    stage.write(lambda tx: tx.note_progress([(text, ref, 1)]))

    outcome = Outcome(Status.ERROR, Reason.INTERNAL, result=text, error=text)
    assert stage.write(lambda tx: tx.finish([Finish(ref, 1, outcome, NOON)]))

    row = stage.row(ref)
    assert (row.input, row.progress, row.result, row.error) == (text, text, text, text)
    assert stage.read(lambda tx: tx.endings([ref])) == {ref: (text, text)}


@pytest.mark.parametrize("text", NASTY[:-1], ids=lambda text: ascii(text[:20]))
def test_every_text_of_a_schedule_its_target_backfill_and_worker_comes_back_as_it_was(stage: Stage, text: str) -> None:
    ref = stage.schedule(text, text, name=text, app=text, spec=text, policies=text, input=text, memo=text)
    backfill = stage.backfill(ref, input=text)
    stage.write(lambda tx: tx.update_schedule(ref, pause_note=text, paused_by=text))
    stage.write(lambda tx: tx.renew(tx.register(text), NOON - 1))

    row = stage.read(lambda tx: tx.schedule(text))
    assert row is not None
    assert {row.id, row.target_name, row.name, row.app, row.spec, row.policies, row.input, row.memo} == {text}
    assert (row.pause_note, row.paused_by) == (text, text)
    assert stage.write(lambda tx: tx.backfills([backfill]))[0].input == text
    assert stage.write(lambda tx: tx.expired(0))[0].name == text


@settings(max_examples=30)
@given(texts=st.lists(st.none() | TEXTS, min_size=1, max_size=20))
def test_a_batch_of_texts_comes_back_text_by_text(
    shared_sqlite: Stage, shared_postgresql: Stage, texts: list[str | None]
) -> None:
    for stage in (shared_sqlite, shared_postgresql):
        stage.clear()
        schedule = stage.schedule()

        def act(tx: SqlTransaction, schedule: int = schedule) -> list[str | None]:
            refs = [tx.next_ref() for _ in texts]
            tx.record(
                [
                    a_new_run(ref, schedule, NOON + ref, kind=Kind.MANUAL, input=text)
                    for ref, text in zip(refs, texts, strict=True)
                ]
            )
            return [row.input for row in tx.open_runs(schedule)]

        assert stage.write(act) == texts
