"""Growth over the runs of a cell: what is a leak is said with its interval, and what is none is not."""

import random
import re
from itertools import count

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain import growth
from jupyter_mlgpu.explain.growth import CellGrowth, of_all, of_run
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.store import Store
from jupyter_mlgpu.show.receipts import growing
from jupyter_mlgpu.testing import example_record

MIB = 1024**2


def run(sequence: int, mebibytes: float | None, *, code: str = "a" * 16, **changes) -> Record:
    """A run of a cell that ended with so much memory in the process."""
    record = example_record(sequence)
    process = (
        missing("memory_process", "Not measured here.")
        if mebibytes is None
        else Reading(
            "memory_process", mebibytes * MIB, "bytes", "process", "simulated", 1, detail="fake probe"
        )
    )
    cell = replace(record.cell, id="the-cell", source_digest=code)
    return replace(record, cell=cell, readings=(process,), **changes)


def runs(*mebibytes: float) -> list[Record]:
    return [run(number, one) for number, one in enumerate(mebibytes, start=1)]


def found(records: list[Record], last: int = growth.LAST) -> CellGrowth | None:
    return of_run(records[:-1], records[-1], last)


def said(*mebibytes: float) -> str | None:
    of_cell = found(runs(*mebibytes))
    return None if of_cell is None else growing.sentence(of_cell)


def noise(seed: int, spread: float):
    numbers = random.Random(seed)
    return lambda: numbers.gauss(0, spread)


# Which runs count.


def test_the_first_run_is_left_out():
    of_cell = found(runs(100, 500, 510, 520, 530, 540))
    assert of_cell.counted == 5
    assert of_cell.growths[0].slope.value == 10 * MIB


def test_with_too_few_runs_nothing_is_said():
    assert found(runs(100, 120, 140, 160, 180)) is None


def test_only_the_last_runs_are_looked_at():
    of_cell = found(runs(*[100 * x for x in range(10)], *[1000] * 8), last=6)
    assert of_cell.counted == 6
    assert of_cell.growths[0].slope.value == 0


def test_runs_that_failed_or_were_profiled_do_not_count_but_keep_their_place():
    records = runs(0, 10, 20, 30, 40, 50, 60)
    records[3] = run(4, 900, outcome="error")
    records[4] = run(5, 900, mode="profiled")
    assert found(records) is None or not found(records).growths
    longer = [*records, run(8, 70)]
    assert found(longer).counted == 5
    assert found(longer).growths[0].slope.value == 10 * MIB


def test_after_a_run_that_failed_nothing_is_said():
    records = [*runs(0, 20, 40, 60, 80, 100), run(7, 120, outcome="error")]
    assert found(records) is None


def test_a_run_without_a_figure_is_skipped():
    records = runs(0, 10, 20, 30, 40, 50, 60)
    records[3] = run(4, None)
    assert found(records).growths[0].slope.value == 10 * MIB


def test_other_code_another_cell_and_another_kernel_are_other_cells():
    records = runs(0, 20, 40, 60, 80, 100)
    mine = records[-1]
    for other in (
        replace(mine, cell=replace(mine.cell, source_digest="b" * 16)),
        replace(mine, cell=replace(mine.cell, id="another")),
        replace(mine, run=replace(mine.run, id="1" * 32)),
    ):
        assert of_run(records[:-1], other) is None
    assert of_run(records[:-1], mine) is not None


def test_a_traced_block_of_a_script_is_no_cell():
    records = [
        replace(one, cell=replace(one.cell, source_digest=None)) for one in runs(0, 20, 40, 60, 80, 100)
    ]
    assert found(records) is None
    assert of_all(records) == []


# Blocks, by their names.


def block(sequence: int, mebibytes: float, name: str = "step") -> Record:
    one = run(sequence, mebibytes)
    return replace(one, cell=replace(one.cell, id=None, source_digest=None, name=name))


def test_blocks_of_one_name_are_looked_at_together_where_there_are_enough():
    leak = [block(number, 300 + 20 * number) for number in range(1, 8)]
    few = [block(number, 300 + 20 * number, name="seldom") for number in range(8, 12)]
    (grown,) = growth.of_blocks([*leak, *few])
    assert grown.newest.cell.name == "step"
    assert grown.growths[0].slope.value == 20 * MIB
    assert re.search(r"20 to 20 MiB +growing +step$", growing.table([grown]))


def test_a_cell_is_told_of_the_blocks_that_ran_inside_it_and_of_no_others():
    before = [block(number, 20 * number) for number in range(1, 8)]
    own = [block(number, 20 * number, name="inner") for number in range(9, 17)]
    cell = run(8, 320)
    store = Store()
    store.extend([*before, *own])
    (inside,) = growth.of_blocks(store.made_during(cell))
    assert growing.sentence(inside).startswith(
        "Over the last 7 runs of the block 'inner', process memory grew by 20 MiB per run [20 "
        "to 20 MiB] (95 % confidence"
    )
    store.add(cell)
    assert store.made_during(run(17, 320)) == ()


# What is said.


def test_a_leak_is_said_with_its_interval_and_what_to_look_for():
    sentence = said(50, 200, 212, 224, 236, 248, 260)
    assert sentence.startswith(
        "Over the last 6 runs of this cell, process memory grew by 12 MiB per run [12 to 12 "
        "MiB] (95 % confidence, first run left out)."
    )
    assert "Look for what each run keeps" in sentence
    assert len(sentence) < 250


def test_a_noisy_leak_is_found_and_its_interval_holds_it():
    held = 0
    for seed in range(40):
        shake = noise(seed, 4)
        of_cell = found(runs(*(300 + 12 * x + shake() for x in range(15))))
        assert "process memory grew by 1" in growing.sentence(of_cell)
        held += of_cell.growths[0].slope.low <= 12 * MIB <= of_cell.growths[0].slope.high
    assert held >= 36


def test_noise_alone_is_hardly_ever_called_a_leak():
    sentences = 0
    for seed in range(200):
        shake = noise(seed, 30)
        sentences += said(*(300 + shake() for _ in range(12))) is not None
    # The interval's lower end is above zero in 2.5 % of such series.
    assert sentences <= 200 * 0.05


def test_one_step_is_no_leak():
    for place in range(1, 12):
        shake = noise(place, 0.1)
        assert said(*(300 + 200 * (x >= place) + shake() for x in range(12))) is None, place


def test_a_cache_that_fills_and_is_then_full_is_no_leak():
    assert said(300, *(400 + 200 * (1 - 0.4**x) for x in range(14))) is None


def test_a_saw_tooth_of_the_garbage_collector_is_no_leak():
    assert said(*(300 + 20 * (x % 4) for x in range(16))) is None


def test_a_leak_under_a_saw_tooth_is_found():
    assert "by 10 MiB per run" in said(*(300 + 10 * x + 3 * (x % 4) for x in range(21)))


def test_growth_below_a_mebibyte_a_run_is_not_worth_a_receipts_sentence():
    assert said(*(300 + 0.5 * x for x in range(12))) is None
    assert said(*(300 + 1.5 * x for x in range(12))) is not None


def test_memory_that_is_given_back_is_not_called_a_leak():
    assert said(*(900 - 20 * x for x in range(12))) is None


def taking_turns(mine: float, theirs: float) -> list[Record]:
    """Eight runs of a cell and, between them, of another; each keeps so many MiB. The first one's is last."""
    records = []
    held = 300.0
    for turn in range(8):
        for code, kept in (("a" * 16, mine), ("b" * 16, theirs)):
            held += kept
            records.append(run(2 * turn + 1 + (code[0] == "b"), held, code=code))
    return records[:-1]


def test_a_cell_is_not_suspected_of_what_another_one_keeps_in_between():
    records = taking_turns(mine=0, theirs=20)
    assert growing.sentence(found(records)) is None
    mine, theirs = of_all(records)
    assert growing.verdict(mine.growths[0]) == "growing, but mostly because of other cells in between"
    assert growing.verdict(theirs.growths[0]) == "growing"
    assert (mine.growths[0].own, theirs.growths[0].own) == (0, 20 * MIB)


def test_a_cell_that_runs_alone_has_all_of_its_growth_also_where_it_grows_in_jumps():
    jumps = [300.0 + 15 * (number // 2) + number % 2 for number in range(12)]
    of_cell = found(runs(*jumps))
    (grown,) = of_cell.growths
    assert grown.own == grown.slope.value
    assert growing.verdict(grown) == "growing"
    assert "cells in between" not in growing.sentence(of_cell)


def test_of_two_cells_that_both_keep_something_each_has_its_own_part():
    assert "by 40 MiB per run [40 to 40 MiB] (25 MiB by itself, the rest from cells in between)" in (
        growing.sentence(found(taking_turns(mine=25, theirs=15)))
    )


def test_blocks_traced_inside_the_cell_are_not_other_cells():
    number = count(1)
    records = []
    for x in range(8):
        sequence = next(number)
        block = run(next(number), 300 + 20 * x)
        inside = replace(block.cell, id=None, source_digest=None)
        records += [replace(block, cell=inside), run(sequence, 300 + 20 * x)]
    assert found(records).growths[0].own == 20 * MIB


def allocating(sequence: int, **mebibytes: float) -> Record:
    readings = tuple(
        Reading(
            "memory_allocator",
            value * MIB,
            "bytes",
            "device",
            "allocator",
            1,
            device=device,
            detail=f"allocator of {device}",
        )
        for device, value in mebibytes.items()
    )
    return replace(run(sequence, 300), readings=(*run(sequence, 300).readings, *readings))


def test_every_devices_allocator_is_looked_at_by_itself():
    records = [allocating(x, gpu_0=10 * x, gpu_1=500) for x in range(1, 9)]
    assert [(one.instrument, one.growing) for one in found(records).growths] == [
        (("simulated", None, None), False),
        (("allocator", "gpu_0", None), True),
        (("allocator", "gpu_1", None), False),
    ]
    said = growing.sentence(found(records))
    assert "allocator memory (gpu_0) grew by 10 MiB per run [10 to 10 MiB]" in said


def test_growth_in_process_and_allocator_is_one_sentence():
    process = [run(x, 300 + 20 * x) for x in range(1, 9)]
    records = [
        replace(one, readings=(*one.readings, allocating(x, gpu=16 * x).readings[-1]))
        for x, one in enumerate(process, start=1)
    ]
    assert growing.sentence(found(records)).startswith(
        "Over the last 7 runs of this cell, process memory grew by 20 MiB per run [20 to 20 "
        "MiB], allocator memory (gpu) by 16 MiB per run [16 to 16 MiB] (95 % confidence"
    )


def test_an_interval_whose_ends_have_other_units_names_both():
    records = runs(*(500 - 200 * 0.3**x for x in range(9)))
    assert "KiB to " in growing.table([found(records)])


# The table.


def test_the_table_has_a_line_for_each_cell_and_says_what_the_interval_means():
    shake = noise(3, 5)
    number = count(1)
    leak = [run(next(number), 300 + 20 * x) for x in range(9)]
    steady = [run(next(number), 500 + shake(), code="b" * 16) for _ in range(9)]
    less = [run(next(number), 500 - 20 * x, code="c" * 16) for x in range(9)]
    little = [run(next(number), 500 + 0.5 * x, code="d" * 16) for x in range(9)]
    full = [run(next(number), 500 - 200 * 0.3**x, code="e" * 16) for x in range(9)]
    once = [run(next(number), 500, code="f" * 16)]
    shown = growing.table(of_all([*leak, *steady, *less, *little, *full, *once]))
    lines = shown.splitlines()[2:]
    assert "process  20 MiB" in lines[0]
    assert re.search(r"20 to 20 MiB +20 MiB +growing +model", lines[0])
    assert "not growing (within noise)" in lines[1]
    assert "shrinking" in lines[2]
    assert "growing, but perhaps by less than 1 MiB per run" in lines[3]
    assert "grew, but hardly grows anymore" in lines[4]
    assert "5 more runs needed" in lines[5]
    assert len(lines) == 6


def test_an_empty_table_says_that_no_cell_has_run():
    assert "No cell has run with tracing on yet" in growing.table([])


def test_loaded_records_are_labelled_and_kept_apart_from_this_kernels():
    other = replace(example_record().run, id="1" * 32)
    loaded = [replace(one, run=other, origin="loaded") for one in runs(0, 20, 40, 60, 80, 100, 120)]
    here, there = of_all([*runs(300, 300, 300, 300, 300, 300), *loaded])
    assert not here.growths[0].growing
    assert there.growths[0].growing
    assert "loaded model.fit" in growing.table([there])


# Whether to look at all, after every cell.


@pytest.mark.parametrize("seed", range(90))
def test_what_a_quick_look_leaves_out_would_not_have_been_told(seed):
    shake = noise(seed, 0.4)
    rise, times = random.Random(seed).choice([0, 0.2, 1, 1.1, 2, 20]), random.Random(-seed).randint(7, 30)
    records = [run(number, 500 + rise * number + shake()) for number in range(1, times)]
    assert growth.may_be_growing(records[:-1], records[-1]) or growing.sentence(found(records)) is None


def test_memory_that_stays_is_not_looked_at_closely():
    steady = runs(*[500.0] * 9)
    assert not growth.may_be_growing(steady[:-1], steady[-1])


def test_memory_that_goes_up_and_down_by_some_mebibytes_is_not_looked_at_closely():
    shaking = runs(*(500.0 + 3 * (number % 2) for number in range(21)))
    assert not growth.may_be_growing(shaking[:-1], shaking[-1])


def test_a_leak_is_looked_at_closely():
    leak = runs(*(500 + 20 * x for x in range(9)))
    assert growth.may_be_growing(leak[:-1], leak[-1])
