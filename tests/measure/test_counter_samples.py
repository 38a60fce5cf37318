"""What the live counters showed in a cell: kept within a bound, and drawn as counters on the timeline."""

import pytest

from jupyter_mlgpu.measure.probes.counter_samples import CounterSampleStore
from jupyter_mlgpu.show.exporting import timeline
from jupyter_mlgpu.testing import example_record

SERIES = [
    {"device": "GPU 0", "quantity": "power", "unit": "W", "source": "NVML, whole board"},
    {"device": "GPU 0", "quantity": "utilisation", "unit": "share", "source": "NVML gauge"},
]
KEY = ("0" * 32, 1)


def counters(*samples):
    return {"series": SERIES, "interval": 0.5, "history": list(samples)}


def kept(*samples, begun=100.0, wall=2.0, **options):
    made = CounterSampleStore(**options)
    made.add(KEY, counters(*samples), begun, wall)
    return made


def test_the_looks_of_a_cell_are_those_from_its_start_to_its_end():
    samples = kept((99.9, [1, 1]), (100.5, [2, 0.5]), (101.9, [3, None]), (102.1, [4, 1])).get(KEY)
    assert samples == {"series": SERIES, "interval": 0.5, "samples": [[0.5, [2, 0.5]], [1.9, [3, None]]]}


def test_one_look_is_no_curve():
    assert kept((100.5, [2, 0.5])).get(KEY) is None


def test_a_look_from_before_the_series_changed_is_passed_over():
    assert len(kept((100.1, [1]), (100.5, [2, 0.5]), (101.0, [3, 0.5])).get(KEY)["samples"]) == 2


def test_the_oldest_cells_make_room_and_it_is_known_that_they_did():
    samples = kept((100.1, [1, 1]), (100.2, [1, 1]), limit=4)
    samples.add(("0" * 32, 2), counters((200.1, [1, 1]), (200.2, [1, 1])), 200.0, 1.0)
    assert (samples.get(KEY), samples.was_dropped(KEY)) == (None, True)
    assert samples.get(("0" * 32, 2)) is not None


def test_what_was_cleared_is_gone():
    samples = kept((100.1, [1, 1]), (100.2, [1, 1]))
    samples.clear()
    assert (samples.get(KEY), samples.was_dropped(KEY)) == (None, True)


def test_each_value_is_a_counter_at_its_moment_in_the_cell_and_none_is_drawn_as_0():
    samples = kept((100.5, [310.5, 0.5]), (101.0, [311.0, None])).get
    drawn = [
        (one.name, one.start_ns, one.args)
        for one in timeline.items([example_record()], lambda key: (), samples)
        if one.category == "live counter"
    ]
    assert drawn == [
        ("GPU 0 power, NVML, whole board", 500_000_000, {"W": 310.5}),
        ("GPU 0 utilisation, NVML gauge", 500_000_000, {"share": 0.5}),
        ("GPU 0 power, NVML, whole board", 1_000_000_000, {"W": 311.0}),
    ]


@pytest.mark.parametrize(("begins", "said"), [(100.9, False), (101.1, True)])
def test_counters_that_begin_late_in_the_cell_say_so(begins, said):
    samples = kept((begins, [1, 1]), (101.5, [1, 1])).get
    sentences = timeline.left_out([example_record()], lambda key: (), samples)
    assert any("its live counters begin 1.1 s after its start" in one for one in sentences) == said


def test_cells_of_several_runs_have_their_own_counters():
    other = example_record(1, run="1" * 32)
    samples = kept((100.5, [310.5, 0.5]), (101.0, [311.0, 0.5])).get
    drawn = [
        one.process
        for one in timeline.items([example_record(), other], lambda key: (), samples)
        if one.category == "live counter"
    ]
    assert set(drawn) == {1}
