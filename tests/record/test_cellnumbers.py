"""Cells are named by the number that stands before them; what is typed means these cells and no others."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.cellnumbers import cell_number, parse, select, select_one, span
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record, Repeat
from jupyter_mlgpu.testing import example_record

OURS = "a" * 32
LOADED = "9f2c" + "0" * 28


def record(own: int, count: int | None, *, run: str = OURS, repeat: Repeat | None = None) -> Record:
    made = example_record(own, run=run)
    return replace(made, cell=replace(made.cell, execution_count=count), repeat=repeat)


def repeated(own: int, count: int, times: int) -> list[Record]:
    return [record(own + turn, count, repeat=Repeat(turn, times)) for turn in range(times + 2)]


def own_numbers(word: str, *records: Record) -> list[int]:
    return [one.cell.sequence for one in select(cell_number(word), records, OURS)]


def refused(word: str, *records: Record) -> str:
    with pytest.raises(UsageError) as found:
        select_one(cell_number(word), records, OURS)
    return str(found.value)


def test_a_number_is_the_execution_count_and_not_the_records_own():
    records = record(3, 10), record(10, 17)
    assert own_numbers("10", *records) == [3]
    assert own_numbers("[10]", *records) == [3]
    assert own_numbers("#10", *records) == [10]


def test_a_cell_that_ran_several_times_is_all_its_runs_or_one_of_them():
    records = record(1, 10), record(2, 11), record(3, 10)
    assert own_numbers("10", *records) == [1, 3]
    assert own_numbers("10.2", *records) == [3]
    assert refused("10", *records) == ("Cell [10] ran 2 times: choose 10.1, 10.2.")
    assert refused("10.3", *records) == "Cell [10] has no run 3: choose 10.1, 10.2."


def test_of_a_cell_that_repeats_the_timed_runs_count_from_one_and_zero_warms_up():
    records = repeated(1, 10, 5)
    assert own_numbers("10.0", *records) == [1]
    assert own_numbers("10.2", *records) == [3]
    assert [cellnumbers.name(one) for one in records] == [f"[10.{turn}]" for turn in range(7)]


def test_many_runs_are_not_all_listed():
    assert refused("10", *repeated(1, 10, 50)).endswith(
        "choose 10.0, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, …, 10.51."
    )


def test_this_run_comes_before_a_loaded_one_and_a_loaded_one_can_be_named():
    records = record(1, 10, run=LOADED), record(2, 10)
    assert own_numbers("10", *records) == [2]
    assert own_numbers("10@9f2c", *records) == [1]
    assert own_numbers("#1@9f", *records) == [1]
    assert own_numbers("10", records[0]) == [1], "the one loaded run that has it"


def test_where_several_loaded_runs_have_it_the_choices_are_listed():
    records = record(1, 10, run=LOADED), record(1, 10, run="77aa" + "0" * 28)
    assert refused("10", *records) == ("Cell [10] is in 2 loaded runs: choose 10@9f2c, 10@77aa.")


def test_runs_that_begin_alike_are_named_by_more_letters():
    records = [record(1, 10, run=f"9f2c{letter}" + "0" * 27) for letter in "ab"]
    assert [*cellnumbers.names(records, OURS).values()] == ["[10@9f2ca]", "[10@9f2cb]"]


def test_names_tell_records_apart_and_can_be_typed_as_they_stand():
    records = [
        record(1, 10),
        record(2, 11),
        record(3, 10),
        record(4, None),
        record(1, 10, run=LOADED),
        *repeated(5, 12, 1),
    ]
    called = cellnumbers.names(records, OURS)
    assert [*called.values()] == [
        "[10.1]",
        "[11]",
        "[10.2]",
        "#4",
        "[10@9f2c]",
        "[12.0]",
        "[12.1]",
        "[12.2]",
    ]
    for one in records:
        assert select_one(cell_number(called[one.key]), records, OURS) is one


def test_a_number_that_was_a_records_own_leads_to_it():
    assert refused("3", record(3, 10)) == (
        "There is no record of cell [3]. Did you mean #3? `%mlc_trace show` lists them."
    )
    assert refused("#9", record(3, 10)) == "There is no record #9. `%mlc_trace show` lists them."


@pytest.mark.parametrize(
    "word", ["", "ten", "10.", "-3", "#3.1", "1e3", "\N{ARABIC-INDIC DIGIT ONE}", "1" * 19, "1 2"]
)
def test_what_is_no_number_is_said_in_one_sentence(word):
    assert parse(word) is None
    with pytest.raises(UsageError, match="A cell is named by its number, not by"):
        cell_number(word)


def test_a_range_is_of_execution_counts_or_of_own_numbers_and_of_this_run_alone():
    records = record(1, 3), record(2, 5), record(3, 9), record(4, None), record(4, 4, run=LOADED)

    def found(word: str) -> list[int]:
        return [one.cell.sequence for one in span(word, records, OURS) or ()]

    assert found("3-7") == [1, 2]
    assert found("#3-#7") == found("#3-7") == [3, 4]
    assert span("before.jsonl", records, OURS) is None


def test_a_record_from_before_repeats_were_told_is_no_run_of_one():
    assert Record.from_json(example_record().to_json()).repeat is None
    assert "repeat" not in example_record().to_json()
    there = record(1, 10, repeat=Repeat(2, 2, (3.0, None, 1.5)))
    assert Record.from_json(there.to_json()).repeat == Repeat(2, 2, (3.0, None, 1.5))
