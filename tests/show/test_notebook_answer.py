"""The sentence about a whole notebook is true of its records, whatever they are."""

from msgspec.structs import replace

from jupyter_mlgpu.record.gpu_work import GpuWork
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import Record, Repeat
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.record.strip import HostLane, Spent
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.receipts.counted_cells import counted
from jupyter_mlgpu.show.receipts.notebook_answer import answer
from jupyter_mlgpu.testing import example_record

SECOND = 10**9


def cell(number, seconds, kind=None, share=0.9, *, at=None, gpu=None, samples=50_000, **changes) -> Record:
    """A cell that began `at` seconds after its kernel; by default long after the one before it."""
    limit = changes.pop("limit", kind and limited(kind, share, samples))
    record = example_record(number, name=changes.pop("name", "work()"), run=changes.pop("run", "0" * 32))
    wall = replace(record.reading("wall_time"), value=seconds)
    busy = (
        missing("device_time", "There is no GPU.")
        if gpu is None
        else Reading("device_time", gpu, "s", "device", "CUPTI", 9, device="gpu:0")
    )
    began = int((1_000 * number if at is None else at) * SECOND)
    return replace(record, readings=(wall, busy), limit=limit or None, started_monotonic_ns=began, **changes)


def limited(kind, share, samples=50_000, confidence="sure", **changes) -> Limit:
    evidence = (Reading("samples_share", share, "share", "cell", "samples", samples),) if samples else ()
    return Limit(kind, confidence, Sentence("said"), share, evidence, **changes)


def importing(share, samples=50_000) -> Limit:
    of = Reading("importing_share", share, "share", "cell", "samples", samples)
    found = limited("compiling", share, samples)
    return replace(found, evidence=(*found.evidence, of))


def times(records) -> list[float]:
    return [one.seconds for one in counted(records)]


def test_the_cause_of_most_of_the_time_is_named_with_its_share_of_all_cells():
    records = [cell(1, 80.0, "input", 0.775), cell(2, 20.0, "python"), cell(3, 0.0)]
    assert answer(records) == "62 % of 1 min 40 s was preparing input"


def test_imports_name_the_framework_that_they_loaded():
    first = cell(1, 8.1, limit=importing(0.998), name="import tensorflow as tf")
    said = answer([first, cell(2, 0.4)])
    assert said == "95 % of 8.5 s was importing TensorFlow and other modules"
    assert translated(said, "zh") == "8.5 s 中有 95 % 是导入 TensorFlow 和 其他模块"


def test_imports_name_no_framework_that_may_have_been_there_before():
    assert answer([cell(1, 8.0, limit=importing(0.9), name="import pandas")]) == "90 % of 8 s was importing"
    later = [cell(1, 0.1), cell(2, 8.0, limit=importing(0.9))]
    assert "TensorFlow" not in answer(later)
    assert "TensorFlow" in answer([replace(later[0], versions={}), later[1]])


def test_where_nothing_dominates_the_largest_parts_are_named():
    mixed = limited("python", 0.4, parts={"python": 0.4, "input": 0.3, "compiling": 0.05}, confidence="open")
    assert answer([cell(1, 8.0, limit=mixed), cell(2, 2.0)]) == (
        "About 32 % of 10 s was Python, about 24 % preparing input, the rest smaller or unclear"
    )
    assert (
        answer([cell(1, 4.0, "python"), cell(2, 6.0)])
        == "36 % of 10 s was Python, the rest smaller or unclear"
    )


def test_imports_among_several_parts_are_told_from_compiling_by_the_samples():
    lane = HostLane(0.1, "iiic", (Spent("i", 3.0), Spent("c", 1.0)))
    mixed = limited("compiling", 0.4, None, parts={"compiling": 0.44, "python": 0.3})
    said = answer([cell(1, 10.0, limit=mixed, host_lane=lane)])
    assert said == "33 % of 10 s was importing, 30 % Python, 11 % compiling, the rest smaller or unclear"


def test_without_limits_it_is_the_whole_time_and_the_slowest_cell():
    assert answer([cell(1, 2.0), cell(2, 3.0)]) == "5 s in all; the slowest cell, [2], took 3 s"
    unsure = cell(1, 2.0, limit=limited("python", 0.9, confidence="open"))
    unknown = cell(2, 3.0, limit=Limit("unknown", "open", Sentence("said")))
    assert answer([unsure, unknown]) == "5 s in all; the slowest cell, [2], took 3 s"


def test_a_share_is_as_precise_as_its_samples_and_its_confidence():
    assert answer([cell(1, 10.0, "waiting", 0.86, samples=25)]) == "About 90 % of 10 s was waiting"
    likely = limited("waiting", 0.86, 5_000, "likely")
    assert answer([cell(1, 10.0, limit=likely)]) == "About 86 % of 10 s was waiting"
    assert answer([cell(1, 10.0, "waiting", 1.0, samples=25)]) == "Nearly all of 10 s was waiting"
    assert answer([cell(1, 10.0, "waiting", 0.86, samples=None)]) == "86 % of 10 s was waiting"


def test_without_a_timed_cell_there_is_no_sentence():
    assert answer([]) is None
    assert answer([cell(1, 5.0, mode="profiled")]) is None
    unclocked = replace(cell(1, 5.0), readings=(missing("wall_time", "The clock stopped."),))
    assert answer([unclocked]) is None


def test_profiled_cells_and_what_ran_in_them_do_not_count():
    records = [cell(1, 5.0, at=0, mode="profiled"), cell(2, 2.0, at=1), cell(3, 1.0, at=9)]
    assert times(records) == [1.0]


def test_failed_and_interrupted_cells_count_because_their_time_passed():
    assert times([cell(1, 2.0, outcome="error"), cell(2, 3.0, outcome="interrupted")]) == [2.0, 3.0]


def test_epochs_count_with_their_cell_and_blocks_without_one_count_themselves():
    epochs = [cell(1, 4.0, at=11), cell(2, 4.0, at=15)]
    assert times([*epochs, cell(3, 10.0, at=10)]) == [10.0]
    assert times(epochs) == [4.0, 4.0]


def test_a_repeated_cell_counts_once_with_the_median_of_its_runs():
    walls = (9.0, 2.0, 4.0, 3.0)
    light = [
        replace(
            cell(number, wall, repeat=Repeat(number, 3)),
            cell=replace(example_record(7).cell, sequence=number),
        )
        for number, wall in enumerate(walls)
    ]
    last = replace(
        light[0], cell=replace(light[0].cell, sequence=9), mode="profiled", repeat=Repeat(4, 3, walls)
    )
    assert times([*light, last, cell(20, 1.0)]) == [3.0, 1.0]
    assert times([last]) == [3.0]
    assert times(light[:1]) == [9.0]


def test_records_of_this_kernel_come_before_loaded_and_replayed_ones():
    live, loaded, replayed = (
        cell(number, seconds, run=str(number) * 32, origin=origin)
        for number, (seconds, origin) in enumerate([(1.0, "live"), (2.0, "loaded"), (3.0, "replayed")])
    )
    assert times([replayed, loaded, live]) == [1.0]
    assert times([replayed, loaded]) == [2.0]
    assert times([replayed]) == [3.0]


def test_of_a_cell_that_several_kernels_ran_the_last_one_counts():
    def run(number, seconds, kernel, day, of="a cell"):
        record = cell(number, seconds, run=kernel * 32, origin="loaded")
        record = replace(record, cell=replace(record.cell, id=of))
        return replace(record, started_at=f"2026-01-0{day}T00:00:00.000000Z")

    records = [run(1, 1.0, "a", 1, "b cell"), run(2, 2.0, "a", 1), run(1, 4.0, "b", 2), run(2, 5.0, "b", 2)]
    assert times(records) == [1.0, 4.0, 5.0]
    assert times(records[::-1]) == [5.0, 4.0, 1.0]


def test_engines_count_only_where_there_is_nothing_else():
    engine = cell(1, 5.0, run="e" * 32)
    engine = replace(engine, run=replace(engine.run, engine="0"))
    assert times([engine, cell(2, 6.0)]) == [6.0]
    assert times([engine]) == [5.0]


def test_the_gpus_share_is_of_the_same_time():
    records = [cell(1, 60.0, "input", gpu=20.0), cell(2, 40.0, gpu=1.0)]
    assert answer(records) == "54 % of 1 min 40 s was preparing input; the GPU worked 21 %"


def test_a_gpu_that_was_not_measured_all_the_time_worked_at_least_its_share():
    said = answer([cell(1, 60.0, gpu=20.0), cell(2, 40.0)])
    assert said == "1 min 40 s in all; the slowest cell, [1], took 1 min 00 s; the GPU worked at least 20 %"


def test_a_drivers_coarse_count_is_about():
    record = cell(1, 10.0, "python", gpu=2.0)
    coarse = replace(record, readings=(record.readings[0], replace(record.readings[1], scope="process")))
    assert answer([coarse]) == "90 % of 10 s was Python; the GPU worked about 20 %"


def test_of_several_gpus_it_is_the_busiest():
    record = cell(1, 10.0, gpu=2.0)
    both = (*record.readings, replace(record.readings[1], value=5.0, device="gpu:1"))
    assert answer([replace(record, readings=both)]).endswith("; the busiest GPU worked 50 %")


def test_gpu_work_after_a_cells_code_counts_until_the_next_cell_begins():
    def launching(number, at):
        work = GpuWork("gpu:0", 9, 9.0, went_on=9.0)
        return cell(number, 1.0, at=at, gpu=9.0, gpu_work=(work,), asynchronous=True)

    assert times([launching(1, 0)]) == [10.0]
    assert times([launching(1, 0), cell(2, 8.0, at=2)]) == [2.0, 8.0]
    assert answer([launching(1, 0)]).endswith("took 10 s; the GPU worked 90 %")
