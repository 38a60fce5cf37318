"""The race as the browser gets it: bounded, and every figure that of the result."""

import json

from jupyter_mlgpu.race import bundle
from jupyter_mlgpu.race.result import Lane, RaceResult, Timing


def samples(middle):
    return tuple(middle * (1 + place / 100) for place in range(-5, 6))


def lane(device, *timings, **more):
    return Lane(device, device.split(":")[0], None, timings, **more)


def race(*lanes, variable="n", **more):
    values = {
        "cell": "x @ x",
        "framework": "torch",
        "repeats": 11,
        "fresh": False,
        "outcome": "ok",
        "started_at": "2026-01-01T00:00:00.000000Z",
        "clock": "fake clock",
    }
    return RaceResult(**(values | more), variable=variable, lanes=lanes)


CPU = lane("cpu:0", *(Timing(size, samples(1e-9 * size**3), 2, True) for size in (10, 100, 1000)))
GPU = lane("gpu:0", *(Timing(size, samples(1e-4), 2, size != 10) for size in (10, 100, 1000)))


def test_each_size_has_median_and_spread_on_each_device_and_who_was_faster():
    data = bundle.data(race(CPU, GPU))
    assert data["sizes"] == [10, 100, 1000]
    first = data["lanes"][1]["timings"][0]
    assert first == {"median": 1e-4, "low": GPU.timings[0].interval[0], "high": GPU.timings[0].interval[1],
                     "samples": 11, "steady": False}  # fmt: skip
    assert [one[0] for one in data["fastest"]] == [0, 1, 1]
    assert round(data["fastest"][1][1]) == 10


def test_the_crossover_and_the_sentence_about_it_are_those_of_the_result():
    data = bundle.data(race(CPU, GPU))
    assert data["crossovers"] == [{"small": "cpu:0", "large": "gpu:0", "size": 46, "low": 10, "high": 100}]
    assert data["sentences"] == ["gpu:0 becomes faster than cpu:0 at about n = 46 (between 10 and 100)."]


def test_what_was_not_measured_is_none():
    short = lane("gpu:0", GPU.timings[0], problem="interrupted")
    data = bundle.data(race(CPU, short, outcome="interrupted"))
    assert data["lanes"][1]["timings"][1:] == [None, None]
    assert data["lanes"][1]["problem"] == "interrupted"
    assert data["fastest"][1:] == [None, None]
    once = bundle.data(race(lane("cpu:0", Timing(None, (0.5,), 1, True)), variable=None))
    assert once["lanes"][0]["timings"] == [
        {"median": 0.5, "low": None, "high": None, "samples": 1, "steady": True}
    ]
    assert once["crossovers"] == []


def test_spreads_that_overlap_have_no_winner():
    data = bundle.data(race(CPU, lane("gpu:0", *CPU.timings)))
    assert data["fastest"] == [None, None, None]
    assert data["crossovers"][0]["size"] is None


def test_a_long_race_with_hostile_names_is_cut_and_says_so():
    hostile = "<script>alert(1)</script>" + "\U0001f600" * 100_000
    timings = tuple(Timing(float(size), samples(1e-3), 2, False) for size in range(1, 301))
    many = tuple(Lane(f"{place}{hostile}", hostile, hostile, timings, None, hostile) for place in range(20))
    data = bundle.data(race(*many, cell=hostile, variable=hostile, notes=(hostile,) * 200))
    assert data["cut"]["lanes"] == 12
    assert data["cut"]["sizes"] == 200
    assert data["cut"]["notes"] > 0
    assert len(json.dumps(data, indent=1, ensure_ascii=False).encode()) < 300_000


def test_the_data_is_plain_and_always_the_same():
    data = bundle.data(race(CPU, GPU))
    assert json.loads(json.dumps(data, allow_nan=False)) == data == bundle.data(race(CPU, GPU))
