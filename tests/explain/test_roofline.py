"""A cell's place under its machine's roof: counted in a profiled run, timed in light ones, and judged."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.roofline import with_roof
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import WORKED_IN, Fact, Record
from jupyter_mlgpu.record.roofs import MEMORY, Roof, Roofs
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.testing import FakeBackend, example_record, limited_record

pytestmark = pytest.mark.small


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    monkeypatch.setattr(registry, "backend", lambda name: FakeBackend(name))


def roofs(peak=100e9, memory=10e9, samples=9) -> Roofs:
    def one(type_, rate):
        hardware = FakeBackend("torch").details(FakeBackend("torch").devices()[0]).hardware
        when = "2026-11-24T12:00:00Z"
        named = ("0" * 12, "torch", "cpu:0", hardware, type_)
        return Roof(*named, rate, samples, when, "2.13", "gemm n=1024")

    return Roofs([*([one("float32", peak)] if peak else []), *([one(MEMORY, memory)] if memory else [])])


def light(sequence=1, seconds=1.0, **more) -> Record:
    record = example_record(sequence)
    wall = Reading("wall_time", seconds, "s", "cell", "simulated", 1)
    cell = replace(record.cell, id="cell", **more)
    return replace(record, cell=cell, readings=(wall, *record.readings[1:]))


def profiled(sequence=9, flops=80e9, large=0, moved=10**9, type_="float32") -> Record:
    record = light(sequence, 3.0)
    told = (
        ("flops", int(flops), "FLOP"),
        ("bytes_moved", moved, "bytes"),
        ("bytes_of_large_calls", large, "bytes"),
    )
    work = tuple(Reading(name, value, unit, "cell", "profiler", 5) for name, value, unit in told if value)
    where = Fact({"framework": "torch", "device": "cpu:0", "type": type_}, Sentence("fake profiler"))
    return replace(record, mode="profiled", readings=(*record.readings, *work), facts={WORKED_IN: where})


def place(record=None, runs=(), known=None) -> Record:
    found = known or roofs()
    return with_roof(record or profiled(), runs, lambda: found)


def test_the_rate_is_the_flop_of_the_profiled_run_over_the_time_of_light_ones():
    found = place(profiled(4), [light(1, 9.0), light(2, 1.0), light(3, 1.0)])
    rate = found.reading("flop_rate")
    assert (rate.value, rate.samples) == (80e9, 2)  # the first run prepares what the others find ready
    assert found.reading("flop_share").value == pytest.approx(0.8)
    assert found.reading("peak_flop_rate").detail == "gemm n=1024, 2.13, 2026-11-24"
    assert found.notes[-1] == (
        "80 % of this machine's float32 matrix product rate: 80 GFLOP/s of 100 GFLOP/s."
    )


def test_near_the_roof_of_arithmetic_it_computes_and_surely_so_in_runs_that_follow_each_other():
    limit = place(profiled(3), [light(1), light(2)]).limit
    assert (limit.kind, limit.confidence, limit.share) == ("compute", "sure", 0.8)
    assert limit.said == ("Computed near this machine's limit: 80 % of its own float32 matrix product rate.")
    assert limit.evidence[0].quantity == "flop_share"


@pytest.mark.parametrize(
    ("runs", "more", "known"),
    [
        (
            [light(1), light(2)],
            {"sequence": 7},
            None,
        ),  # other code ran in the meantime, and may have changed sizes
        ([light(1), light(2)], {"sequence": 3, "flops": 70e9}, None),
        ([light(1), light(2)], {"sequence": 3}, roofs(samples=1)),
    ],
)
def test_what_may_be_otherwise_is_likely_at_most(runs, more, known):
    limit = place(profiled(**more), runs, known).limit
    assert (limit.kind, limit.confidence) == ("compute", "likely")


def test_near_the_roof_of_memory_it_moves_bytes_and_that_is_never_sure():
    limit = place(profiled(3, flops=1e9, large=int(9e9)), [light(1), light(2)]).limit
    assert (limit.kind, limit.confidence, limit.share) == ("bandwidth", "likely", 0.9)


def test_bytes_that_caches_may_hold_are_no_memory_traffic():
    found = place(profiled(3, flops=1e9, moved=int(9e9)), [light(1), light(2)])
    assert found.limit is None
    assert found.find("byte_rate") is None


def test_far_below_both_roofs_the_limit_stays_what_it_was():
    record = profiled(3, flops=59e9, large=int(1e9))
    record = replace(record, limit=limited_record().limit)
    found = place(record, [light(1), light(2)])
    assert found.limit == record.limit
    assert "59 % of this machine's float32 matrix product rate" in found.notes[-1]
    assert "10 % of this machine's memory bandwidth" in found.notes[-1]


def test_more_than_a_roof_cannot_be_and_is_no_answer():
    found = place(profiled(3, flops=150e9), [light(1), light(2)])
    assert found.limit is None
    assert "A rate above the roof is not possible" in found.notes[-1]
    assert place(profiled(3, flops=105e9), [light(1), light(2)]).limit.share == 1.0


def test_without_a_roof_it_says_what_measures_one():
    found = place(profiled(3), [light(1), light(2)], roofs(None, None))
    assert found.reading("flop_share").why_missing == "Not measured here: run `%mlc_bench --quick`."
    assert found.reading("flop_rate").value == 80e9


def test_without_a_light_run_it_says_to_run_it_once():
    found = place(profiled(1))
    assert found.reading("flop_rate").why_missing.startswith("Run the cell once without `--ops`")
    assert found.find("flop_share") is None
    assert found.limit is None


def test_a_light_run_of_code_that_was_profiled_before_is_placed_by_its_own_time():
    found = place(light(2, 0.8), [profiled(1)])
    assert found.reading("flop_rate").value == pytest.approx(100e9)
    assert (found.limit.kind, found.limit.confidence) == ("compute", "sure")


def test_a_light_run_is_sure_as_long_as_no_other_code_ran_since_the_profiled_one():
    placed_before = place(light(2, 0.9), [profiled(1)])
    assert place(light(3, 0.9), [profiled(1), placed_before]).limit.confidence == "sure"
    assert place(light(4, 0.9), [profiled(1), placed_before]).limit.confidence == "likely"
    later = place(light(4, 0.9), [profiled(1)])
    assert place(light(5, 0.9), [profiled(1), later]).limit.confidence == "likely"


def test_a_profile_without_shapes_has_the_work_of_one_with_them_and_says_no_more_that_it_lacks_it():
    lacks = missing("flops", say("Ask for shapes."), source="profiler")
    bare = light(4, 3.0)
    bare = replace(bare, mode="profiled", readings=(*bare.readings, lacks))
    found = place(bare, [profiled(1), light(2), light(3)])
    assert [one.value for one in found.readings if one.quantity == "flops"] == [80 * 10**9]
    assert found.limit.kind == "compute"


def test_runs_that_failed_or_were_sent_elsewhere_do_not_count():
    failed = replace(light(1), outcome="error")
    elsewhere = replace(light(2), device=replace(light().device, requested={"*": "gpu:0"}))
    found = place(profiled(3), [failed, elsewhere])
    assert found.find("flop_rate") is None


def test_blocks_of_a_script_are_the_same_code_where_they_have_the_same_name():
    def block(record, name):
        return replace(record, cell=replace(record.cell, id=None, source_digest=None, name=name))

    same = place(block(profiled(3), "step"), [block(light(1), "step"), block(light(2), "other")])
    assert same.reading("flop_rate").samples == 1


def test_a_profile_without_work_and_a_light_run_without_a_profile_stay_as_they_are():
    bare = replace(profiled(3), facts={})
    assert place(bare, [light(1)]) == bare
    assert place(light(2), [light(1)]) == light(2)


@pytest.mark.parametrize("value", [None, 7, [], {"framework": "nobody's"}, {"framework": 1, "device": None}])
def test_a_strangers_record_with_other_facts_is_not_placed(value):
    record = replace(profiled(3), facts={WORKED_IN: Fact(value, Sentence(""))})
    assert place(record, [light(1)]) == record


def test_a_damaged_file_of_roofs_is_named():
    problem = say("roofs.json is damaged.")
    found = place(profiled(3), [light(1)], Roofs(problem=problem))
    assert problem in found.notes
