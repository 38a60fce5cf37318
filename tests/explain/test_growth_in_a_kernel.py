"""A leak in a real kernel is found and sized; a cell that keeps nothing is not suspected."""

import re

import pytest

pytestmark = pytest.mark.kernel

MIB = 1024**2
LEAK = "kept = globals().get('kept', [])\nkept.append(bytearray(20 * 1024**2))"
NONE = "gone = bytearray(20 * 1024**2)\ndel gone"


def grew(note: str) -> tuple[float, float, float]:
    """Growth and interval, in MiB a run, as a receipt says them."""
    told = re.search(r"process memory grew by ([\d.]+) MiB per run \[([\d.]+) to ([\d.]+) MiB\]", note)
    assert told, note
    return tuple(map(float, told.groups()))


@pytest.fixture(scope="module")
def leaky(start_for_module):
    """The receipts of eight runs of a cell that keeps 20 MiB each time, and of one that keeps nothing."""
    plain = start_for_module()
    leaking = [plain.run(LEAK) for _ in range(8)]
    steady = [plain.run(NONE) for _ in range(8)]
    return plain, leaking, steady


def test_a_cell_that_keeps_20_mebibytes_a_run_is_said_to_and_the_interval_holds_it(leaky):
    _, leaking, _ = leaky
    assert [len(result.receipt["notes"]) for result in leaking] == [0] * 5 + [1] * 3
    (note,) = leaking[-1].receipt["notes"]
    assert note.startswith("Over the last 7 runs of this cell, process memory grew by ")
    growth, low, high = grew(note)
    assert growth == pytest.approx(20, abs=1)
    assert low - 0.5 <= 20 <= high + 0.5


def test_the_note_stands_in_text_and_html_and_the_receipt_stays_small(leaky):
    _, leaking, _ = leaky
    (shown,) = (data for kind, data in leaking[-1].outputs if kind == "display_data")
    assert "grew by" in shown["text/plain"]
    assert "grew by" in shown["text/html"]
    assert "cut" not in leaking[-1].receipt


def test_a_cell_that_keeps_nothing_is_not_suspected(leaky):
    _, _, steady = leaky
    assert [result.receipt["notes"] for result in steady] == [[]] * 8


def test_the_table_sizes_the_leak_and_clears_the_other_cell(leaky):
    plain, _, _ = leaky
    plain.run("once = 1")
    shown = plain.run("%mlc_trace growth").text
    lines = {line.split("  ")[-1].strip(): line for line in shown.splitlines()}
    leak = lines["kept.append(bytearray(20 * 1024**2))"]
    assert "MiB" in leak
    own = re.search(r"[\d.]+ to [\d.]+ MiB +([\d.]+) MiB +growing +kept", leak)
    assert own, leak
    assert float(own[1]) == pytest.approx(20, abs=1)  # the process may keep some pages more
    assert " growing  " not in lines["gone = bytearray(20 * 1024**2)"]
    assert "5 more runs needed" in lines["once = 1"]


def test_the_table_looks_at_as_many_runs_as_it_is_told(leaky):
    plain, _, _ = leaky
    shown = plain.run("%mlc_trace growth 5").text
    leak = next(line for line in shown.splitlines() if line.endswith("kept.append(bytearray(20 * 1024**2))"))
    assert leak.split()[1] == "5"


@pytest.mark.parametrize("words", ["4", "101", "many", "-3"])
def test_a_number_of_runs_that_cannot_be_is_refused_in_one_sentence(plain, words):
    said = plain.run(f"%mlc_trace growth {words}").text
    assert "5 to 100 (default 20)" in said
    assert "Traceback" not in said


def test_saved_records_hold_what_the_growth_was_found_from(leaky, tmp_path):
    from jupyter_mlgpu.record.files import load_records

    plain, _, _ = leaky
    plain.run(f"%mlc_trace save {tmp_path / 'records.jsonl'}")
    records, _ = load_records(tmp_path / "records.jsonl")
    assert all(record.reading("memory_process").value > 8 * MIB for record in records)


def in_a_loop(name: str, statement: str) -> str:
    """A cell that traces a block of this name eight times."""
    return (
        "import jupyter_mlgpu\nheld = []\nfor _ in range(8):\n"
        f"    with jupyter_mlgpu.trace({name!r}):\n        {statement}"
    )


def test_blocks_that_a_cell_runs_in_a_loop_are_told_of_in_its_receipt_and_in_the_table(plain):
    (note,) = plain.run(in_a_loop("keeps", "held.append(bytearray(20 * 1024**2))")).receipt["notes"]
    assert note.startswith("Over the last 7 runs of the block 'keeps', process memory grew by ")
    assert grew(note)[0] == pytest.approx(20, abs=1)
    assert plain.run(in_a_loop("drops", "bytearray(20 * 1024**2)")).receipt["notes"] == []
    lines = plain.run("%mlc_trace growth").text.splitlines()
    assert [" growing  " in line for line in lines if line.endswith(("  keeps", "  drops"))] == [True, False]
