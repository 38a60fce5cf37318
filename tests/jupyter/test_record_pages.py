"""What a browser is told of one cell: its trace, its open receipt, and the looks at memory while it ran."""

import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.browser.record_pages import TRACE_ITEMS, RecordPages
from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.measure.ops.profile_store import ProfileStore
from jupyter_mlgpu.measure.probes.counter_samples import VALUES, CounterSampleStore
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import OpStat
from jupyter_mlgpu.record.store import Store
from jupyter_mlgpu.testing import FakeClock, example_record, limited_record

RUN = "0" * 32
BEGUN = 5_000


def event(name="mm", start=0, length=10, line="thread 1", **more) -> Event:
    return Event(name, "aten::mm", "host", "host", line, BEGUN + start, length, **more)


def profile(*events: Event, **options) -> Profile:
    return Profile("torch", "fake profiler", events, BEGUN, BEGUN + 1_000, **options)


class Bench:
    """An `RecordPages` with a kit and counters of the test's own."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        recorder = SimpleNamespace(clock=self.clock, run=SimpleNamespace(id=RUN))
        self.runtime = SimpleNamespace(
            store=Store(), profiles=ProfileStore(), samples=CounterSampleStore(), recorder=recorder
        )
        self.counters = None
        # The counters' clock is 100 s ahead of the record's.
        self.inside = RecordPages(
            self.runtime, lambda: self.counters, lambda: self.clock.monotonic_ns() / 1e9 + 100
        )

    def sample(self, *at: float) -> None:
        """Looks at these moments of the counters' clock: the process's memory, and its use."""
        series = [
            {"device": "process", "quantity": "utilisation", "unit": "cores"},
            {"device": "process", "quantity": "memory", "unit": "bytes"},
        ]
        self.counters = {
            "series": series,
            "interval": 0.5,
            "history": [[moment, [0.5, round(moment * 100)]] for moment in at],
        }

    def ended(self, sequence=1, wall=2.0, mode="light", run=RUN):
        """A cell that began at 0.000001 s on the record's clock has ended after `wall` seconds."""
        record = example_record(sequence, run=run)
        times = tuple(
            replace(one, value=wall) if one.quantity == "wall_time" else one for one in record.readings
        )
        record = replace(record, readings=times, mode=mode)
        self.runtime.store.add(record)
        self.inside.record_made(record)
        return record

    def asked(self, kind="inside", sequence=1, run=RUN):
        return self.inside.answers()[kind]({"type": kind, "run": run, "sequence": sequence})


def test_the_looks_of_a_cell_are_those_between_its_start_and_its_end():
    bench = Bench()
    bench.sample(99.9, 100.5, 101.0, 101.9, 102.5)
    bench.ended(wall=2.0)
    samples = bench.asked()["samples"]
    assert [at for at, _ in samples["samples"]] == [0.5, 1.0, 1.9]
    assert samples["samples"][0] == [0.5, [10_050]]
    assert [one["quantity"] for one in samples["series"]] == ["memory"]
    assert bench.asked()["why_no_samples"] is None


@pytest.mark.parametrize(
    ("wall", "moments", "why"),
    [(0.6, [100.3], "short"), (60.0, [], "unwatched"), (60.0, [100.5], "unwatched")],
)
def test_a_cell_without_two_looks_says_why(wall, moments, why):
    bench = Bench()
    bench.sample(*moments)
    bench.ended(wall=wall)
    answer = bench.asked()
    assert (answer["samples"], answer["why_no_samples"]) == (None, why)


def test_before_anybody_has_watched_there_are_no_looks():
    bench = Bench()
    bench.ended()
    assert bench.asked()["why_no_samples"] == "unwatched"


def test_looks_stay_when_the_counters_have_forgotten_them_until_there_are_too_many():
    bench = Bench()
    bench.sample(*(100 + n / 1000 for n in range(1, 1001)))
    for sequence in range(1, VALUES // (2 * 1000) + 2):  # two series
        bench.ended(sequence)
    bench.sample()
    assert bench.asked(sequence=1)["why_no_samples"] == "gone"
    assert len(bench.asked(sequence=2)["samples"]["samples"]) == 1000


def test_a_record_of_another_kernel_has_no_looks_here():
    bench = Bench()
    bench.ended(run="1" * 32)
    assert bench.asked(run="1" * 32)["why_no_samples"] == "gone"


def test_a_timeline_that_is_not_there_says_why():
    bench = Bench()
    bench.ended(1)
    bench.ended(2, mode="profiled")
    whole = bench.ended(3, mode="profiled")
    row = OpStat("mm", "mm", "host", 1, 0.1, 0.1, "fake profiler", "host")
    bench.runtime.store.add(replace(whole, ops=(row,)))
    why = [bench.asked(sequence=n)["timeline"] for n in (1, 2, 3, 4)]
    assert why == ["light", "none", "gone", "gone"]


def test_a_profiled_cell_whose_events_are_kept_says_so():
    bench = Bench()
    record = bench.ended(mode="profiled")
    bench.runtime.profiles.add(record.key, (profile(event("mm", 3)),))
    assert bench.asked()["timeline"] == "kept"
    bench.runtime.profiles.add(record.key, (profile(),))
    assert bench.asked()["timeline"] == "none"


def test_the_trace_is_the_one_for_perfetto_and_says_what_it_leaves_out():
    bench = Bench()
    record = bench.ended(mode="profiled")
    bench.runtime.profiles.add(record.key, (profile(*(event(start=n) for n in range(TRACE_ITEMS))),))
    answer = bench.asked("inside_trace")
    trace = json.loads(answer["trace"])
    assert len(trace["traceEvents"]) == answer["events"] == TRACE_ITEMS
    assert "export" in answer["left_out"][-1]
    assert trace["otherData"]["left_out"] == answer["left_out"]


def test_a_trace_of_a_cell_without_events_is_refused_with_a_sentence():
    bench = Bench()
    bench.ended()
    with pytest.raises(UsageError, match="--ops"):
        bench.asked("inside_trace")


def test_the_record_is_told_whole():
    bench = Bench()
    record = bench.ended()
    assert bench.asked("inside_record")["record"] == record.to_json()


@pytest.mark.parametrize(
    "asked", [{}, {"run": 1, "sequence": 1}, {"run": RUN, "sequence": "1"}, {"run": [RUN]}]
)
def test_what_names_no_record_is_refused(asked):
    for name, answer in Bench().inside.answers().items():
        if name != "answer":  # which is about all of them
            with pytest.raises(UsageError):
                answer(asked)


def test_one_sentence_is_about_all_records_of_the_kernel():
    bench = Bench()
    assert bench.inside.answer({}) == {"answer": None}
    bench.runtime.store.add(limited_record(1, confidence="sure"))
    assert bench.inside.answer({})["answer"]["text"] == "About 90 % of 14.7 s was preparing input"


def test_looks_are_forgotten_with_the_records():
    bench = Bench()
    bench.sample(100.5, 101.0, 101.9)
    record = bench.ended()
    assert bench.asked()["samples"] is not None
    bench.runtime.samples.clear()
    bench.runtime.store.clear()
    assert (bench.asked()["samples"], bench.asked()["why_no_samples"]) == (None, "gone")
    bench.runtime.store.add(record)
    assert bench.asked()["samples"] is None


def test_an_open_receipt_has_where_a_cell_stands_under_the_roof_where_that_is_known():
    from tests.show.test_roofline import record as placed

    bench = Bench()
    bench.ended()
    assert bench.asked()["receipt"]["roof"] is None
    bench.runtime.store.add(found := placed())
    shown = bench.asked(sequence=found.cell.sequence, run=found.run.id)["receipt"]
    json.dumps(shown, allow_nan=False)
    assert [series["mark"] for series in shown["roof"]["series"]] == ["points", "roof"]
    assert len(shown["under_roof"]["rows"]) == 6
    assert bench.asked(sequence=99)["receipt"] is None
