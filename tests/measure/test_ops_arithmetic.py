"""Self times, busy times and tables, from events made by hand."""

import random

import pytest

from jupyter_mlgpu.measure.ops.busy import device_busy, length, union
from jupyter_mlgpu.measure.ops.events import Event, Profile, first_events
from jupyter_mlgpu.measure.ops.selftime import by_line, of_line, parents, self_times
from jupyter_mlgpu.measure.ops.table import rows


def host(name: str, start: int, end: int, line: str = "thread 1", **more) -> Event:
    return Event(name, "type", "host", "host", line, start, end - start, **more)


def kernel(name: str, start: int, end: int, line: str = "stream 7", device: str = "gpu:0", **more) -> Event:
    return Event(name, "kernel", "device", device, line, start, end - start, **{"kind": "kernel"} | more)


def profile(*events: Event, window: tuple[int, int] = (0, 1000), **more) -> Profile:
    return Profile("fake", "fake profiler", events, *window, **more)


@pytest.mark.parametrize(
    ("intervals", "own"),
    [
        ([], []),
        ([(0, 10)], [10]),
        ([(0, 10), (2, 5), (6, 9)], [4, 3, 3]),
        ([(0, 10), (2, 8), (3, 4)], [4, 5, 1]),
        ([(6, 9), (2, 5), (0, 10)], [3, 3, 4]),  # out of order
        ([(0, 4), (0, 10)], [4, 6]),  # the same start: the longer one holds the other
        ([(0, 10), (4, 10)], [4, 6]),  # the same end
        ([(0, 10), (0, 10)], [0, 10]),  # equal: the first holds the second
        ([(0, 10), (5, 15)], [5, 10]),  # overlapping, not nested: the later one has what they share
        ([(0, 10), (5, 15), (8, 9)], [5, 9, 1]),
        ([(0, 10), (2, 20), (4, 6)], [2, 16, 2]),
        ([(3, 3)], [0]),
        ([(0, 10), (5, 5), (10, 10)], [10, 0, 0]),  # no length: no time, and none taken from others
        ([(0, 4), (6, 9)], [4, 3]),
        ([(0, 4), (4, 9)], [4, 5]),
    ],
)
def test_the_time_of_a_moment_belongs_to_what_began_last(intervals, own):
    assert self_times(intervals) == own


@pytest.mark.parametrize("seed", range(20))
def test_self_times_sum_to_the_union_whatever_the_intervals_are(seed):
    chance = random.Random(seed)
    starts = [chance.randrange(200) for _ in range(60)]
    intervals = [(start, start + chance.choice([0, 1, 5, 40, 120])) for start in starts]
    own = self_times(intervals)
    assert min(own) >= 0
    assert sum(own) == length(union(intervals))


@pytest.mark.parametrize(
    ("intervals", "found"),
    [
        ([(0, 10), (2, 8), (3, 4), (9, 10)], [None, 0, 1, 0]),
        ([(3, 4), (2, 8), (0, 10)], [1, 2, None]),
        ([(0, 10), (5, 15), (11, 12)], [None, None, 1]),  # overlapping is not holding
        ([(0, 10), (0, 10)], [None, 0]),
        ([(0, 5), (5, 10)], [None, None]),
    ],
)
def test_the_parent_is_the_innermost_that_holds_all_of_it(intervals, found):
    assert parents(intervals) == found


def test_a_very_deep_nest_is_no_recursion():
    depth = 100_000
    assert self_times([(one, 2 * depth - one) for one in range(depth)]) == [2] * depth


def test_lines_of_the_same_name_on_two_devices_are_two_lines():
    lines = by_line([kernel("a", 0, 5), kernel("b", 1, 6, device="gpu:1"), kernel("c", 6, 7)])
    assert {key: [one.name for one in events] for key, events in lines.items()} == {
        ("device", "gpu:0", "stream 7"): ["a", "c"],
        ("device", "gpu:1", "stream 7"): ["b"],
    }


def test_a_union_counts_time_once():
    assert union([(5, 9), (0, 3), (2, 4), (9, 10), (20, 20)]) == [(0, 4), (5, 10)]


def test_busy_is_the_union_over_streams_not_the_sum():
    (gpu,) = device_busy(
        profile(kernel("a", 100, 300), kernel("b", 200, 400, "stream 8"), kernel("c", 600, 700))
    )
    assert (gpu.busy_ns, gpu.window_ns, gpu.gap_ns, gpu.intervals) == (400, 1000, 200, 3)
    assert gpu.idle_share == pytest.approx(0.6)
    assert gpu.between_share == pytest.approx(0.2)


def test_copies_and_memory_sets_are_work_and_the_hosts_operations_are_not_the_devices():
    found = device_busy(
        profile(
            host("launch", 0, 900),
            kernel("k", 100, 200),
            kernel("Memcpy HtoD", 300, 350, kind="copy"),
            kernel("Memset", 400, 410, kind="memset"),
        )
    )
    assert [(one.device, one.busy_ns) for one in found] == [("gpu:0", 160)]


def test_each_device_has_its_own_busy_time():
    found = device_busy(profile(kernel("a", 0, 10), kernel("b", 0, 30, device="gpu:1")))
    assert [(one.device, one.busy_ns) for one in found] == [("gpu:0", 10), ("gpu:1", 30)]


def test_a_device_of_which_nothing_was_seen_is_not_idle_but_absent():
    assert device_busy(profile(host("a", 0, 10))) == ()
    assert device_busy(profile(kernel("empty", 5, 5))) == ()


def test_kernels_beyond_the_window_never_make_the_idle_share_negative():
    (gpu,) = device_busy(profile(kernel("a", -50, 1050)))
    assert gpu.idle_share == 0


def test_a_row_counts_calls_and_adds_their_times_up():
    (row, *_) = rows(profile(host("add", 0, 10), host("add", 20, 50), host("add", 20, 30, "thread 2")))
    assert (row.name, row.count, row.self_time, row.total_time) == ("add", 3, 50e-9, 50e-9)
    assert (row.plane, row.device, row.share, row.profiler) == ("host", "host", 1.0, "fake profiler")


def test_the_total_time_holds_what_ran_inside_and_the_self_time_does_not():
    table = {row.name: row for row in rows(profile(host("fit", 0, 100), host("mm", 10, 90)))}
    assert (table["fit"].self_time, table["fit"].total_time) == (20e-9, 100e-9)
    assert (table["mm"].self_time, table["mm"].total_time) == (80e-9, 80e-9)
    assert [row.name for row in rows(profile(host("fit", 0, 100), host("mm", 10, 90)))] == ["mm", "fit"]


def test_an_operation_inside_itself_counts_its_total_time_once():
    (row,) = rows(profile(host("f", 0, 100), host("f", 10, 90)))
    assert (row.count, row.self_time, row.total_time) == (2, 100e-9, 100e-9)


def test_the_shares_of_a_plane_sum_to_one():
    table = rows(
        profile(host("a", 0, 30), host("b", 40, 50), kernel("k", 0, 6), kernel("l", 0, 6, "stream 8"))
    )
    for plane in ("host", "device"):
        assert sum(row.share for row in table if row.plane == plane) == pytest.approx(1)


def test_rows_sum_to_each_lines_busy_time():
    events = [host("a", 0, 30), host("b", 10, 20), host("c", 15, 45), host("d", 5, 50, "thread 2")]
    for _, line in by_line(events).items():
        assert sum(of_line(line)) == length(union((one.start_ns, one.end_ns) for one in line))
    assert sum(row.self_time for row in rows(profile(*events))) == pytest.approx((45 + 45) * 1e-9)


def test_shapes_bytes_and_flops_are_told_where_they_are_known():
    table = {
        row.name: row
        for row in rows(
            profile(
                host("mm", 0, 1, shapes="2x3, 3x4", flops=48),
                host("mm", 2, 3, shapes="2x3, 3x4", flops=48),
                host("add", 4, 5, shapes="2"),
                host("add", 6, 7, shapes="3"),
                kernel("Memcpy", 0, 1, kind="copy", bytes=64),
                kernel("Memcpy", 2, 3, kind="copy", bytes=64),
            )
        )
    }
    assert (table["mm"].shapes, table["mm"].flops, table["mm"].bytes) == ("2x3, 3x4", 96, None)
    assert (table["add"].shapes, table["add"].flops) == ("2 different", None)
    assert table["Memcpy"].bytes == 128


def test_an_operation_that_took_no_time_has_a_row_and_no_share_of_nothing():
    (row,) = rows(profile(host("a", 5, 5)))
    assert (row.count, row.self_time, row.share) == (1, 0.0, None)


def test_no_events_no_rows():
    assert rows(profile()) == ()


def test_events_beyond_the_limit_are_counted_and_not_kept():
    made = []

    def many():
        for number in range(10_000):
            made.append(number)
            yield host(str(number), number, number + 1)

    events, left_out, _ = first_events(many(), limit=100)
    assert (len(events), left_out, len(made)) == (100, 9_900, 10_000)
    assert events[-1].name == "99"


def test_a_profile_is_complete_only_where_nothing_is_missing():
    assert profile().complete
    assert not profile(left_out=1).complete
    assert not profile(whole=False).complete
