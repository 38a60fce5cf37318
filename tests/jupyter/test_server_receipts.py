"""What the server says of records that stand in a notebook: open receipts, comparisons, and why not."""

import json

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.server import receipts
from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts import notebook_answer, view
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.testing import example_record, limited_record
from tests.show import forty_records


def saved(record):
    """A record as a notebook's file has it."""
    return json.loads(json.dumps(bundle(record)[MIME_TYPE]))


@pytest.mark.parametrize("name", forty_records.forty())
def test_an_open_receipt_is_what_a_kernel_would_say_of_what_the_notebook_has(name):
    data = saved(forty_records.forty()[name])
    answer = receipts.receipt({"record": data})
    assert answer == to_json(view.data(Record.from_json(data), data.get("cut")), texts=False)
    json.dumps(answer)


def test_two_records_are_compared_as_their_kernel_would():
    first = example_record()
    second = replace(first, cell=replace(first.cell, sequence=9, source_digest="f" * 12, name="another"))
    answer = receipts.comparison({"a": saved(first), "b": saved(second)})
    assert answer["kind"] == "page"
    assert answer["charts"] == []
    assert answer["parts"]


def test_one_sentence_says_what_a_saved_notebook_spent_its_time_on():
    cells = [saved(limited_record(number, confidence="sure")) for number in (1, 2)]
    answer = receipts.answer({"records": cells})["answer"]
    assert answer["template"] == "About {share} of {time} was {cause}"
    assert answer["fields"]["cause"] == {"template": "preparing input"}
    assert receipts.answer({"records": []}) == receipts.answer({}) == {"answer": None}


def test_a_sentence_about_very_many_cells_says_that_it_is_about_the_last_ones():
    cells = [limited_record(number) for number in (1, 2, 3)]
    said = notebook_answer.newest_in_words(cells, most=2)
    assert said.startswith("The last 2 cells: ")
    assert notebook_answer.newest_in_words(cells, most=3) == notebook_answer.answer(cells)


@pytest.mark.parametrize("data", [None, 7, [], {}, {"schema": 99}, {"schema": 2}])
def test_what_is_no_record_is_refused_with_a_sentence(data):
    with pytest.raises(RecordError, match=r"record|cell"):
        receipts.receipt({"record": data})
    with pytest.raises(RecordError, match=r"record|cell"):
        receipts.comparison({"a": saved(example_record()), "b": data})


@pytest.mark.parametrize("cut", [7, [1], {"ops": "many"}, {"ops": -1}, None])
def test_what_was_cut_from_a_receipt_is_counted_where_it_is_a_count(cut):
    data = saved(example_record()) | {"cut": cut}
    assert receipts.receipt({"record": data})["left_out"] == []
