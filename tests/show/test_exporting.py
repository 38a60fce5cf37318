"""The timeline and its file by the format's own rules, without the tools that read them."""

import dataclasses
import gzip
import json
import random

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.measure.ops.profile_store import ProfileStore
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.gpu_work import CopySum, GpuWork, KernelSum
from jupyter_mlgpu.record.reading import missing
from jupyter_mlgpu.show.exporting import chrome, timeline, xprof
from jupyter_mlgpu.testing import example_record

SECOND = 1_000_000_000


def event(name="Sin", start=0, length=10, line="thread 1") -> Event:
    return Event(name, "Sin", "host", "host", line, start, length)


def profile(*events: Event, **options) -> Profile:
    return Profile("tensorflow", "fake profiler", events, 0, SECOND, **options)


def profiled(sequence: int = 1):
    return replace(example_record(sequence), mode="profiled")


def written(tmp_path, records, profiles=lambda key: (), name="trace.json"):
    path = tmp_path / name
    count = chrome.write(path, timeline.items(records, profiles), {"left_out": []})
    data = path.read_bytes()
    trace = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    assert len(trace["traceEvents"]) == count
    return trace


def slices(trace):
    return [one for one in trace["traceEvents"] if one["ph"] == "X"]


def test_every_event_has_what_the_format_asks_for(tmp_path):
    trace = written(tmp_path, [profiled()], lambda key: (profile(event(), event(start=5)),))
    for one in trace["traceEvents"]:
        assert {"ph", "name", "pid", "tid"} <= one.keys()
        assert one["ph"] in "XiMC"
        if one["ph"] != "M":
            assert one["ts"] >= 0
        if one["ph"] == "X":
            assert one["dur"] >= 0
    tracks = {(one["pid"], one["tid"]) for one in slices(trace)}
    named = {(one["pid"], one["tid"]) for one in trace["traceEvents"] if one["name"] == "thread_name"}
    assert tracks == named


def test_slices_of_one_track_lie_apart_or_one_inside_the_other(tmp_path):
    draw = random.Random(7)
    events = [event(f"op {n}", draw.randrange(2_000), draw.randrange(200)) for n in range(500)]
    trace = written(tmp_path, [profiled()], lambda key: (profile(*events),))
    tracks = {}
    for one in slices(trace):
        start = round(one["ts"] * 1000)
        tracks.setdefault(one["tid"], []).append((start, start + round(one["dur"] * 1000)))
    assert sum(map(len, tracks.values())) == 501
    for track in tracks.values():
        for number, (start, end) in enumerate(track):
            for other_start, other_end in track[:number]:
                apart = end <= other_start or other_end <= start
                inside = other_start <= start and end <= other_end
                assert apart or inside


def test_a_nanosecond_is_kept_after_a_day(tmp_path):
    day = 86_400 * SECOND
    late = replace(example_record(2), started_monotonic_ns=1_000 + day + 1)
    path = tmp_path / "trace.json"
    chrome.write(path, timeline.items([example_record(1), late], lambda key: ()), {})
    assert f'"ts":{day // 1000}.001' in path.read_text()


def test_cells_stand_where_the_monotonic_clock_had_them_even_if_the_time_of_day_jumped(tmp_path):
    first = example_record(1)
    second = replace(
        example_record(2), started_monotonic_ns=1_000 + 2 * SECOND, started_at="2025-12-31T00:00:00.000000Z"
    )
    starts = [one["ts"] for one in slices(written(tmp_path, [first, second]))]
    assert starts == [0, 2_000_000]


def test_runs_stand_to_each_other_by_the_time_of_day(tmp_path):
    first = example_record(1)
    other = replace(
        example_record(1, run="1" * 32),
        started_monotonic_ns=77,
        started_at="2026-01-01T00:01:00.000000Z",
    )
    trace = written(tmp_path, [first, other])
    assert [(one["pid"], one["ts"]) for one in slices(trace)] == [(1, 0), (2, 60_000_000)]


def test_a_block_inside_a_cell_shares_its_track_and_one_beside_it_does_not(tmp_path):
    cell = example_record(1)
    inside = replace(example_record(2), started_monotonic_ns=1_000 + SECOND // 10)
    shorter = (replace(inside.readings[0], value=0.1), *inside.readings[1:])
    inside = replace(inside, readings=shorter, cell=replace(inside.cell, source_digest=None))
    beside = replace(example_record(3), started_monotonic_ns=1_000 + SECOND // 4)
    found = slices(written(tmp_path, [cell, inside, beside]))
    assert [(one["cat"], one["tid"]) for one in found] == [("cell", 1), ("block", 1), ("cell", 2)]


def test_a_cell_without_a_measured_time_is_a_moment_and_says_so(tmp_path):
    record = example_record()
    lost = (missing("wall_time", "The clock failed."), *record.readings[1:])
    record = replace(record, readings=lost)
    (moment,) = [one for one in written(tmp_path, [record])["traceEvents"] if one["ph"] == "i"]
    assert moment["args"]["wall_time"] == "not measured: The clock failed."
    assert "no measured time" in timeline.left_out([record], lambda key: ())[0]


def test_what_was_not_measured_is_told_with_its_reason_and_never_as_a_number(tmp_path):
    (cell,) = slices(written(tmp_path, [example_record()]))
    assert cell["args"]["energy"] == "not measured: Not measured here."
    assert cell["args"]["wall_time"] == "0.5 s (fake clock)"
    assert cell["args"]["timing"] is True


def test_a_profiled_cell_is_marked_as_no_timing(tmp_path):
    (cell,) = slices(written(tmp_path, [profiled()]))
    assert (cell["args"]["mode"], cell["args"]["timing"]) == ("profiled", False)
    assert cell["args"]["wall_time"] == "0.5 s (fake clock, with a profiler on)"


def test_events_that_were_left_out_are_counted_inside_the_trace_and_in_words(tmp_path):
    cut = profile(event(), left_out=12_345, why_left_out="too many")
    trace = written(tmp_path, [profiled()], lambda key: (cut,))
    (moment,) = [one for one in trace["traceEvents"] if one["ph"] == "i"]
    assert moment["name"] == "12,345 events left out: too many"
    assert timeline.left_out([profiled()], lambda key: (cut,)) == [
        "Cell [1]: 12,345 events of fake profiler are left out (too many)."
    ]


def test_names_of_strangers_stay_text(tmp_path):
    name = '"}],<script>\ud800 é'
    trace = written(tmp_path, [profiled()], lambda key: (profile(event(name), event("x" * 5_000, 20)),))
    found = [one["name"] for one in slices(trace) if one["cat"] == "tensorflow host"]
    assert found == ['"}],<script>? é', "x" * 2_000]


def test_a_trace_is_compressed_where_its_name_says_so_and_the_same_twice(tmp_path):
    written(tmp_path, [example_record()], name="one.json.gz")
    written(tmp_path, [example_record()], name="two.json.gz")
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "two.json.gz").read_bytes()


def test_a_trace_that_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text("old")

    def items():
        yield timeline.Item("instant", "one", 1, 1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chrome.write(path, items(), {})
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("trace.json", "old")]


def test_the_newest_cells_events_are_kept_within_the_limit():
    kept = ProfileStore(limit=10)
    for number in range(1, 5):
        kept.add(("run", number), (profile(*[event()] * 4),))
    assert [bool(kept.get(("run", number))) for number in range(1, 5)] == [False, False, True, True]


def test_of_a_cell_that_is_too_large_by_itself_the_first_events_by_time_are_kept():
    kept = ProfileStore(limit=3)
    kept.add(("run", 1), (profile(*(event(start=start) for start in (5, 1, 4, 2, 3)), left_out=1),))
    (one,) = kept.get(("run", 1))
    assert [found.start_ns for found in one.events] == [1, 2, 3]
    assert one.left_out == 3
    assert "only the first 3 events" in one.why_left_out


def test_the_frameworks_own_bytes_are_bounded_too_and_go_before_the_events_do():
    kept = ProfileStore(xspace_limit=10)
    for number in (1, 2):
        kept.add(("run", number), (profile(event(), xspace=b"x" * 6),))
    assert [kept.get(("run", number))[0].xspace for number in (1, 2)] == [None, b"x" * 6]
    assert kept.get(("run", 1))[0].events


def test_records_that_are_forgotten_take_their_events_with_them():
    kept = ProfileStore()
    kept.add(("run", 1), (profile(event()),))
    kept.clear()
    assert kept.get(("run", 1)) == ()


def test_a_profile_is_written_byte_by_byte_where_xprof_looks_for_it(tmp_path):
    record = profiled(3)
    files, missing_ones = xprof.write(tmp_path, [record], lambda key: (profile(xspace=b"bytes"),))
    assert [str(file.relative_to(tmp_path)) for file in files] == [
        "plugins/profile/00000000_cell_0003_record_0003_tensorflow/000000000000.xplane.pb"
    ]
    assert files[0].read_bytes() == b"bytes"
    assert missing_ones == []


def test_where_there_is_no_such_profile_the_reason_is_given(tmp_path):
    torch = dataclasses.replace(profile(event()), framework="torch")
    with pytest.raises(RecordError, match="PyTorch's profiler writes no XSpace"):
        xprof.write(tmp_path, [profiled()], lambda key: (torch,))
    with pytest.raises(RecordError, match="let go, to bound memory"):
        xprof.write(tmp_path, [profiled()], lambda key: (profile(event()),))
    with pytest.raises(RecordError, match="There is no profile to write"):
        xprof.write(tmp_path, [profiled()], lambda key: ())
    assert list(tmp_path.iterdir()) == []


def test_a_profile_that_was_cut_says_so(tmp_path):
    from jupyter_mlgpu.measure.ops.events import CUT

    cut = profile(xspace=b"bytes", left_out=5, why_left_out=CUT)
    _, said = xprof.write(tmp_path, [profiled()], lambda key: (cut,))
    assert said == [f"Of cell [1], tensorflow, events are left out: {CUT}."]


def test_a_cell_says_what_each_gpu_did(tmp_path):
    copies = (CopySum("host-to-device", 6, 72_000_000, 0.006),)
    work = GpuWork("gpu:0", 5_800, 0.377, copies, (KernelSum("gemm", 60, 0.2),), went_on=0.1)
    trace = written(tmp_path, [replace(example_record(), gpu_work=(work,), asynchronous=True)])
    (told,) = [one["args"] for one in trace["traceEvents"] if "gpu:0 work" in one.get("args", {})]
    assert told["gpu:0 work"] == "5,800 launches, 6 copies host-to-device of 68.7 MiB, longest gemm (200 ms)"
    assert told["asynchronous"] is True
