"""`%mlc_trace why` and `jupyter_mlgpu.limit` in a real kernel."""

import pytest
from msgspec.structs import replace

import jupyter_mlgpu
from jupyter_mlgpu import save_records
from jupyter_mlgpu.measure.tracing import TracedBlock
from jupyter_mlgpu.record.record import Run
from jupyter_mlgpu.testing import example_record, limited_record

pytestmark = pytest.mark.kernel

PAGE = "application/vnd.jupyter-mlgpu.page+json"
OTHER = Run("f" * 32, "other.ipynb", "0" * 12)


def shown(result):
    (data,) = [data for kind, data in result.outputs if kind == "execute_result"]
    return data


@pytest.fixture
def loaded(plain):
    """A kernel with records of another run, the last one without a limit."""
    records = [limited_record(8001, confidence="likely"), example_record(8002)]
    save_records(plain.folder / "limits.jsonl", [replace(one, run=OTHER) for one in records])
    assert "Loaded 2 new" in plain.run("%mlc_trace load limits.jsonl").text.replace(
        "Loaded 2", "Loaded 2 new"
    )
    return plain


def test_the_whole_reasoning_of_a_cell_is_a_page_by_its_number(loaded):
    result = loaded.run("%mlc_trace why 8001")
    assert result.receipts == []
    data = shown(result)
    assert data["text/plain"].startswith("Waited 86 % of the time")
    assert data[PAGE]["title"]["fields"] == {"cell": "[8001]", "time": "14.7 s"}
    assert "<p>Waited 86 % of the time" in data["text/html"]


def test_without_a_number_it_is_the_last_cell(loaded):
    assert shown(loaded.run("%mlc_trace why"))["text/plain"].startswith("This record does not say")
    loaded.run("newest = 1")
    assert "Why cell" in str(shown(loaded.run("%mlc_trace why"))[PAGE]["title"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("9999", "There is no record of cell [9999]. `%mlc_trace show` lists them."),
        ("loop", "A cell is named by its number, not by 'loop'. `%mlc_trace show` lists them."),
    ],
)
def test_a_cell_that_there_is_no_record_of_is_said_in_one_sentence(plain, words, said):
    result = plain.run(f"%mlc_trace why {words}")
    assert result.text == f"UsageError: {said}\n"


def test_before_any_cell_it_says_what_to_do(plain):
    plain.run("%mlc_trace clear")
    said = plain.run("%mlc_trace why").text
    assert said == "UsageError: No cell has a record yet: run a cell with tracing on.\n"


def test_a_script_asks_for_the_limit_of_a_record_and_of_a_block():
    record = limited_record()
    assert jupyter_mlgpu.limit(record) is record.limit
    assert jupyter_mlgpu.limit(example_record()) is None
    block = TracedBlock()
    assert jupyter_mlgpu.limit(block) is None, "it has not ended"
    block._record = record
    assert jupyter_mlgpu.limit(block) is record.limit
