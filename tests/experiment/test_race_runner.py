"""One lane, with a fake device and a clock turned by hand: what is timed, and what is not."""

import contextlib

import pytest

from jupyter_mlgpu.experiment.race.options import RaceOptions
from jupyter_mlgpu.experiment.race.racing import combined_observation, race
from jupyter_mlgpu.experiment.race.runner import RaceProgress, RaceRunner
from jupyter_mlgpu.experiment.timing import STEADY_RUNS
from jupyter_mlgpu.measure.frameworks.base import Observed
from jupyter_mlgpu.record.record import RanOn
from jupyter_mlgpu.testing import FakeBackend, FakeClock


class FakeCell:
    """A cell whose runs take, on the fake clock, as many seconds as `takes` says for the n-th run."""

    def __init__(self, clock, backend, takes=lambda number, size: 1.0):
        self.clock = clock
        self.backend = backend
        self.takes = takes
        self.did = []
        self.loud = []
        self.size = None
        self._quiet = False

    def setup(self):
        self.did.append(("setup", self.backend.current))
        self.clock.advance(100)

    def prepare(self, size):
        self.size = size
        self.clock.advance(10)

    def run(self):
        number = sum(1 for what, *_ in self.did if what == "run")
        self.did.append(("run", self.backend.current, self.size))
        self.loud.append(not self._quiet)
        self.backend.run()
        self.clock.advance(self.takes(number, self.size))
        return number

    @contextlib.contextmanager
    def quiet(self):
        self._quiet = True
        self.clock.advance(10)
        yield
        self.clock.advance(10)
        self._quiet = False


class AsynchronousBackend(FakeBackend):
    """A device that goes on after the call has returned: waiting for it is what takes the time."""

    def __init__(self, clock, seconds):
        super().__init__()
        self._clock = clock
        self._seconds = seconds
        self._pending = 0

    def run(self, operations=1, device=None):
        super().run(operations, device)
        self._pending += operations

    def synchronize(self):
        super().synchronize()
        self._clock.advance(self._pending * self._seconds)
        self._pending = 0


@pytest.fixture
def clock():
    return FakeClock()


def run(clock, backend=None, takes=lambda number, size: 1.0, sizes=(None,), repeats=3, device=0, **hooks):
    """The lane, its error, and the cell."""
    backend = backend or FakeBackend()
    cell = FakeCell(clock, backend, takes)
    runner = RaceRunner(backend, cell, sizes=sizes, repeats=repeats, clock=clock, **hooks)
    return *runner.lane(backend.devices()[device]), cell


def test_a_run_is_timed_without_what_is_around_it(clock):
    lane, error, _ = run(clock)
    assert error is None
    assert lane.timings[0].samples == (1.0, 1.0, 1.0)


def test_work_that_goes_on_after_the_call_is_waited_for(clock):
    backend = AsynchronousBackend(clock, 2.0)
    lane, _, _ = run(clock, backend, takes=lambda number, size: 0.5)
    assert lane.timings[0].samples == (2.5, 2.5, 2.5)


def test_work_from_before_the_lane_is_not_counted(clock):
    backend = AsynchronousBackend(clock, 2.0)
    backend.run(50)
    lane, _, _ = run(clock, backend)
    assert set(lane.timings[0].samples) == {3.0}
    assert lane.empty == 0.0


def test_what_the_first_run_costs_more_is_warm_up(clock):
    lane, _, _ = run(clock, takes=lambda number, size: 5.0 if number == 0 else 1.0)
    timing = lane.timings[0]
    assert timing.samples == (1.0, 1.0, 1.0)
    assert (timing.warmups, timing.steady) == (4, True)


def test_a_warm_up_that_never_settles_ends_and_says_so(clock):
    lane, _, _ = run(clock, takes=lambda number, size: 0.1 * 2 ** (number % 2))
    assert (lane.timings[0].warmups, lane.timings[0].steady) == (STEADY_RUNS.runs, False)


def test_a_cell_of_minutes_is_warmed_up_once(clock):
    lane, _, _ = run(clock, takes=lambda number, size: 200.0, repeats=2)
    assert (lane.timings[0].warmups, lane.timings[0].steady) == (1, False)


def test_short_runs_are_warmed_up_for_a_while_and_not_for_ever(clock):
    assert run(clock, takes=lambda number, size: 0.01)[0].timings[0].warmups == 5
    assert run(clock, takes=lambda number, size: 0.0)[0].timings[0].warmups == STEADY_RUNS.short_runs


def test_each_size_is_warmed_up_and_measured_in_order(clock):
    lane, _, cell = run(clock, takes=lambda number, size: size / 10, sizes=(1, 20), repeats=2)
    assert [(one.size, one.samples) for one in lane.timings] == [(1, (0.1, 0.1)), (20, (2.0, 2.0))]
    assert [size for what, *rest in cell.did if what == "run" for size in rest[1:]] == [1] * 5 + [20] * 5


def test_setup_and_every_run_happen_on_the_device_which_is_left_after_it(clock):
    backend = FakeBackend(devices=("cpu:0", "gpu:0"))
    _, _, cell = run(clock, backend, device=1)
    assert cell.did[0] == ("setup", "gpu:0")
    assert {where for _, where, *_ in cell.did} == {"gpu:0"}
    assert backend.current is None


def test_only_the_first_run_of_a_lane_is_heard(clock):
    _, _, cell = run(clock, sizes=(1, 2))
    assert cell.loud == [True] + [False] * (len(cell.loud) - 1)


def test_a_lane_whose_work_ran_elsewhere_says_so(clock):
    class Stubborn(FakeBackend):
        def run(self, operations=1, device=None):
            super().run(operations, "cpu:0")

    lane, _, _ = run(clock, Stubborn(devices=("cpu:0", "gpu:0")), device=1)
    assert lane.notes == (
        "gpu:0: the work ran on cpu:0 instead: objects created on another device may stay there.",
    )


def test_a_framework_that_does_not_tell_where_it_ran_is_quoted(clock):
    class Silent(FakeBackend):
        def observe(self):
            return type("Watch", (), {"finish": lambda self: Observed(None, "It does not tell.")})()

    lane, _, _ = run(clock, Silent())
    assert lane.notes == ("cpu:0: It does not tell.",)


class OnlyWatchedClosely(FakeBackend):
    """A framework that tells nothing of a cell, unless it is watched at a price."""

    def __init__(self, closely):
        super().__init__()
        self.closely = closely
        self.watched = 0

    def observe(self):
        return Told(Observed(None, "It does not tell."))

    def observe_closely(self):
        self.watched += 1
        return Told(self.closely)


class Told:
    """A watch over one run that tells what it was given."""

    def __init__(self, seen):
        self._seen = seen

    def finish(self):
        return self._seen


@pytest.mark.parametrize(
    ("seen", "unused", "use_known"),
    [
        (Observed((), None), True, True),
        (Observed(None, "Nobody knows where.", worked=True), False, True),
        (Observed(None, "It does not tell."), False, False),
    ],
)
def test_a_lanes_first_run_may_be_watched_at_a_price(clock, seen, unused, use_known):
    backend = OnlyWatchedClosely(seen)
    lane, _, _ = run(clock, backend)
    assert (lane.unused, lane.use_known) == (unused, use_known)
    assert backend.watched == 1


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), SystemExit()])
def test_whatever_ends_the_cell_what_was_measured_is_kept_and_the_device_is_left(clock, error):
    def takes(number, size):
        if size == 2 and number == 9:
            raise error
        return 1.0

    backend = FakeBackend()
    lane, ended_by, _ = run(clock, backend, takes, sizes=(1, 2, 3), repeats=5)
    assert ended_by is error
    # The first size has 3 runs of warm-up and 5 measured; the second ends in its warm-up.
    assert [(one.size, len(one.samples)) for one in lane.timings] == [(1, 5)]
    assert lane.problem in ("interrupted", f"ended by {type(error).__name__}")
    assert backend.current is None


def test_the_samples_of_a_size_that_was_begun_are_kept(clock):
    def takes(number, size):
        if number == 5:
            raise KeyboardInterrupt
        return 1.0

    lane, _, _ = run(clock, takes=takes, repeats=10)
    assert lane.timings[0].samples == (1.0, 1.0)


def test_a_device_that_cannot_be_entered_ends_its_lane(clock):
    class Broken(FakeBackend):
        def enter(self, device):
            raise RuntimeError("no such device today")

    lane, error, cell = run(clock, Broken())
    assert isinstance(error, RuntimeError)
    assert (lane.timings, lane.problem, cell.did) == ((), "ended by RuntimeError", [])


def test_hardware_whose_name_cannot_be_told_costs_only_the_name(clock):
    class Nameless(FakeBackend):
        def details(self, device):
            raise OSError("no driver's tool")

    lane, error, _ = run(clock, Nameless())
    assert (lane.hardware, error) == (None, None)
    assert lane.timings


def test_progress_is_told_before_each_warm_up_and_each_run(clock):
    told = []
    run(clock, sizes=(7,), repeats=2, on_run=told.append)
    assert told == [RaceProgress("cpu:0", 7, number, 2) for number in (0, 1, 2)]


def race_of(clock, devices, takes):
    backend = FakeBackend(devices=devices)
    cell = FakeCell(clock, backend, takes)
    runner = RaceRunner(backend, cell, sizes=(1, 2), repeats=6, clock=clock)
    return race(
        RaceOptions("n", (1, 2), 6),
        "f(n)",
        backend.name,
        backend.devices(),
        runner.lane,
        clock=clock,
        versions=backend.versions,
    )


def test_a_race_has_a_lane_for_each_device(clock):
    finished = race_of(clock, ("cpu:0", "cpu:1", "gpu:0"), lambda number, size: 1.0)
    assert [lane.device for lane in finished.result.lanes] == ["cpu:0", "cpu:1", "gpu:0"]
    assert (finished.result.outcome, finished.error) == ("ok", None)
    assert finished.result.versions == {"fake": "1.0"}


@pytest.mark.parametrize(("error", "outcome"), [(KeyboardInterrupt(), "interrupted"), (OSError(), "error")])
def test_an_error_ends_the_race_with_the_lanes_so_far(clock, error, outcome):
    def takes(number, size):
        if number == 20:  # the first lane has 2 x 9 runs
            raise error
        return 1.0

    finished = race_of(clock, ("cpu:0", "gpu:0", "gpu:1"), takes)
    assert [lane.device for lane in finished.result.lanes] == ["cpu:0", "gpu:0"]
    assert (finished.result.outcome, finished.error) == (outcome, error)


def counted(device):
    return Observed((RanOn("fake", device, "cpu", None, 3, 1.0, None, "counted"),), None)


def test_a_race_ran_where_its_first_runs_did_and_their_operations_are_not_all():
    seen = combined_observation(
        [counted("cpu:0"), counted("cpu:1"), counted("cpu:1")], "Only first runs are watched."
    )
    assert [(one.device, one.operations, one.share) for one in seen.ran_on] == [
        ("cpu:0", None, None),
        ("cpu:1", None, None),
    ]
    assert {one.why_missing for one in seen.ran_on} == {"Only first runs are watched."}
    assert seen.readings[0].why_missing == "Only first runs are watched."


def test_where_a_first_run_can_have_been_on_one_device_alone_so_can_the_race():
    bounded = Observed(None, "Whatever ran, ran on cpu:0.", only="cpu:0")
    assert combined_observation([bounded, bounded], "why").only == "cpu:0"
    assert combined_observation([bounded, Observed(None, "not known")], "why").only is None


def test_of_a_race_without_a_first_run_nothing_is_known():
    assert combined_observation([], "why").ran_on is None
    assert combined_observation([Observed((), None)], "why").ran_on == ()


def test_a_run_over_which_the_clock_went_back_ends_the_lane_and_is_no_time():
    clock, backend = FakeClock(), FakeBackend()
    runner = RaceRunner(
        backend, FakeCell(clock, backend, lambda number, size: -5.0), sizes=[None], repeats=3, clock=clock
    )
    lane, error = runner.lane(backend.devices()[0])
    assert "The clock went back by 5 s" in str(error)
    assert lane.timings == ()
