"""Scripts get the same records as notebooks."""

import pytest

import jupyter_mlgpu
from jupyter_mlgpu import measure
from jupyter_mlgpu.measure.tracing import runs_of
from jupyter_mlgpu.record.errors import StillRunningError
from tests.support.memory import new_memory


def test_a_traced_block_gives_a_record():
    with jupyter_mlgpu.trace("sum") as record:
        sum(range(100_000))
    assert record.outcome == "ok"
    assert record.cell.name == "sum"
    assert record.reading("wall_time").value > 0
    assert jupyter_mlgpu.records()[-1].key == record.key


@pytest.mark.usefixtures("no_collection")
def test_peak_memory_of_a_block_holds_what_it_allocated():
    with jupyter_mlgpu.trace("small") as small:
        pass
    with jupyter_mlgpu.trace("large") as large:
        block = new_memory()
        block.close()
    grown = large.reading("peak_memory_process").value - small.reading("peak_memory_process").value
    assert grown > 48 * 1024**2


@pytest.mark.usefixtures("no_collection")
def test_peak_memory_of_an_outer_block_holds_that_of_the_inner_one():
    with jupyter_mlgpu.trace("outer") as outer:
        block = new_memory()
        block.close()
        with jupyter_mlgpu.trace("inner") as inner:
            pass
    grown = outer.reading("peak_memory_process").value - inner.reading("peak_memory_process").value
    assert grown > 48 * 1024**2


@pytest.mark.parametrize(
    ("error", "outcome"), [(ValueError, "error"), (SystemExit, "error"), (KeyboardInterrupt, "interrupted")]
)
def test_an_exception_is_the_callers_own_and_the_record_says_how_it_ended(error, outcome):
    with pytest.raises(error), jupyter_mlgpu.trace("fails") as record:
        raise error
    assert record.outcome == outcome


def test_a_block_that_has_not_ended_says_when_to_ask():
    with (
        jupyter_mlgpu.trace("early") as record,
        pytest.raises(StillRunningError, match="read it after the `with` block"),
    ):
        _ = record.readings


def test_where_explaining_fails_the_callers_exception_is_its_own_and_the_record_is_kept(monkeypatch):
    def fails(record, activity, runtime):
        raise RuntimeError("ours")

    monkeypatch.setattr(measure, "explain", fails)
    with pytest.raises(KeyError, match="theirs"), jupyter_mlgpu.trace("fails") as record:
        raise KeyError("theirs")
    assert record.outcome == "error"
    assert "ours" in record.why_no_limit
    assert jupyter_mlgpu.records()[-1].key == record.key


def test_a_traced_block_is_a_run_wherever_runs_are_meant():
    with jupyter_mlgpu.trace("one") as record, pytest.raises(StillRunningError, match="has not ended"):
        runs_of(record)
    assert [one.key for one in runs_of(record)] == [record.key]
