"""Comparisons of runs: what differs, by how much, and when that cannot be told."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu import compare
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.gpu_work import CopySum, GpuWork
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import DeviceUse, OpStat, RanOn
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.comparing import page
from jupyter_mlgpu.show.page import plotly, view
from jupyter_mlgpu.testing import example_record

MEBIBYTE = 1024**2


def run(wall=0.5, *, number=1, code="a" * 16, peak=512.0, **changes):
    record = example_record(number)
    readings = [one for one in record.readings if one.quantity not in ("wall_time", "peak_memory_process")]
    mine = (
        Reading("wall_time", wall, "s", "cell", "simulated", 1, detail="fake clock"),
        Reading(
            "peak_memory_process", peak * MEBIBYTE, "bytes", "process", "simulated", 1, detail="fake probe"
        ),
    )
    cell = replace(record.cell, source_digest=code)
    return replace(record, cell=cell, readings=(*mine, *readings), **changes)


def runs(*walls, first=1, **options):
    return [run(wall, number=number, **options) for number, wall in enumerate(walls, start=first)]


def change(comparison, what="Wall time"):
    (found,) = [one for pair in comparison.pairs for one in pair.changes if one.what == what]
    return found


def test_a_cell_that_takes_twice_as_long_is_said_to_with_an_interval():
    found = change(compare(runs(1.0, 1.1, 1.2, 1.3), runs(2.0, 2.2, 2.4, 2.6)))
    assert found.verdict == "▲ more"
    assert found.ratio.value == pytest.approx(2, rel=0.05)
    assert found.ratio.low <= 2 <= found.ratio.high
    assert (found.first.median, found.second.median) == (1.15, 2.3)


def test_the_other_way_round_it_is_less_by_the_reciprocal():
    slow, quick = runs(2.0, 2.2, 2.4, 2.6), runs(1.0, 1.1, 1.2, 1.3)
    # Of several cells, the sides stay as given: each file is a side.
    also = runs(1.0, 1.0, 1.0, 1.0, code="b" * 16)
    there, back = (
        compare([*a, *also], [*b, *also]).pairs[0].timing for a, b in [(quick, slow), (slow, quick)]
    )
    assert (there.verdict, back.verdict) == ("▲ more", "▼ less")
    assert back.ratio.low == pytest.approx(1 / there.ratio.high)
    assert back.ratio.high == pytest.approx(1 / there.ratio.low)


def test_a_pair_is_compared_in_one_direction_whichever_side_is_given_first():
    slow, quick = runs(2.0, 2.2, 2.4, 2.6, peak=100), runs(1.0, 1.1, 1.2, 1.3, peak=200)
    one = page.page(compare(quick, slow, names=("[3]", "[5]")))
    assert page.page(compare(slow, quick, names=("[5]", "[3]"))) == one
    assert one.headline == "[5] took 2 times as long as [3] (1.54 to 2.6 times); 4 and 4 runs."
    table = one.parts[0]
    assert table.columns == ("", "[3]", "[5]", "[5] / [3]", "verdict")
    cells = {row[0]: row[3:] for row in table.rows}
    assert cells["Wall time"] == ("2 [1.54 to 2.6]", "▲ more")
    assert cells["Peak memory, process"] == ("0.5 [0.5 to 0.5]", "▼ less")


@pytest.mark.parametrize(
    ("first", "second", "words", "verdict"),
    [
        ((1.0, 1.1, 1.2, 1.3), (2.0, 2.2, 2.4, 2.6), "B took 2 times as long as A (", "▲ more"),
        ((1.0, 1.0, 1.0, 1.0), (1.004, 1.004, 1.004, 1.05), "B took 1.004 times as long as A (", "▲ more"),
        ((1.0, 1.0, 1.0, 1.0), (1.004, 1.004, 1.004, 1.004), "A and B took the same time; ", "= same"),
        ((1.0, 1.2, 1.1, 1.3), (1.1, 1.3, 1.2, 1.4), "It is unclear if B took longer than A (", "○ unclear"),
        (
            (1.0,),
            (2.0,),
            "B took 2 times as long as A; one run each, so this is approximate",
            "≈ approximate",
        ),
        ((1.0,), (0.0,), "The times of A and B cannot be compared.", "○ unknown"),
    ],
)
def test_the_headline_and_the_row_of_the_time_say_the_same(first, second, words, verdict):
    compared = compare(runs(*first), runs(*second))
    assert str(page.page(compared).headline).startswith(words)
    assert rows(compared)["Wall time"][3] == verdict


def asynchronous(*walls, went_on):
    """Runs after whose code the GPU went on."""
    busy = Reading("device_time", went_on, "s", "device", "CUPTI", 9, device="gpu:0", detail="records")
    made = []
    for one in runs(*walls, asynchronous=True, gpu_work=(GpuWork("gpu:0", 9, went_on, went_on=went_on),)):
        others = [reading for reading in one.readings if reading.quantity != "device_time"]
        made.append(replace(one, readings=(*others, busy)))
    return made


def test_cells_that_nobody_waited_for_are_compared_by_when_their_work_was_done():
    quick, slow = (asynchronous(*[0.01] * 4, went_on=one) for one in (1.0, 2.0))
    found = compare(quick, slow)
    assert change(found, "Wall time until the GPU was done").verdict == "▲ more"
    assert change(found, "Wall time").verdict == "= same"
    assert told(quick, slow) == "B took 1.99 times as long as A (1.99 to 1.99 times); 4 and 4 runs."


def test_a_wall_time_with_the_wait_for_a_gpu_is_not_compared_with_one_without():
    found = compare(runs(1.0, 1.0, 1.0, 1.0), asynchronous(*[0.01] * 4, went_on=1.0))
    walls = [one for one in found.pairs[0].changes if one.what.startswith("Wall time")]
    assert [(one.ratio, one.why_not) for one in walls] == [(None, "measured on one side only")] * 2
    assert any("waited for the GPU" in note for note in found.pairs[0].notes)


def test_launches_and_bytes_of_copies_are_compared():
    def on_gpu(launches, size):
        copies = (CopySum("host-to-device", 1, size, 0.1),)
        return runs(1.0, 1.0, 1.0, 1.0, gpu_work=(GpuWork("gpu:0", launches, 0.1, copies),))

    found = compare(on_gpu(1_000, MEBIBYTE), on_gpu(4_000, MEBIBYTE))
    assert change(found, "Launches, gpu:0").ratio.value == 4
    assert change(found, "Copied host-to-device, gpu:0").verdict == "= same"
    assert rows(found)["Launches, gpu:0"][0] == "1,000 (4 runs)"
    assert rows(found)["Copied host-to-device, gpu:0"][0] == "1 MiB (4 runs)"


def told(first, second):
    """What the page of a comparison says first."""
    return str(page.page(compare(first, second)).headline)


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (
            (1.0,),
            (241.0, 242.0, 240.0),
            "B took 241 times as long as A; 1 and 3 runs, so this is approximate.",
        ),
        ((482.0,), (2.0,), "A took 241 times as long as B; one run each, so this is approximate."),
        ((0.001,), (12.345,), "B took 12,345 times as long as A; one run each, so this is approximate."),
        ((1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0), "A and B took the same time; 4 and 4 runs."),
    ],
)
def test_how_many_times_as_long_is_always_said_first_and_on_how_many_runs_it_rests(first, second, sentence):
    assert told(runs(*first), runs(*second, first=5)) == sentence


def test_with_runs_enough_the_first_sentence_says_between_which_ratios_the_true_one_lies():
    slower = told(runs(1.0, 1.1, 1.2, 1.3), runs(2.0, 2.2, 2.4, 2.6))
    assert slower == "B took 2 times as long as A (1.54 to 2.6 times); 4 and 4 runs."
    assert told(runs(2.0, 2.2, 2.4, 2.6), runs(1.0, 1.1, 1.2, 1.3)) == slower.translate(
        str.maketrans("AB", "BA")
    )


def test_a_difference_that_chance_explains_is_said_with_its_interval():
    assert told(runs(1.0, 1.2, 1.1, 1.3), runs(1.1, 1.3, 1.2, 1.4)) == (
        "It is unclear if B took longer than A (0.846 to 1.4 times as long); 4 and 4 runs."
    )


def test_without_a_timing_no_ratio_is_said():
    failed = runs(1.0, outcome="error")
    assert told(failed, runs(2.0)) == "The times of A and B cannot be compared."


def test_the_table_gives_a_quicker_cell_the_number_of_the_headline():
    quicker = compare(runs(2.0, 2.2, 2.4, 2.6), runs(1.0, 1.1, 1.2, 1.3))
    assert rows(quicker)["Wall time"][2] == "2 [1.54 to 2.6]"
    assert told(runs(2.0, 2.2, 2.4, 2.6), runs(1.0, 1.1, 1.2, 1.3)).startswith(
        "A took 2 times as long as B (1.54 to 2.6 times)"
    )
    assert rows(compare(runs(2.36), runs(1.0)))["Wall time"][2:] == [
        "about 2.36",
        "≈ approximate",
    ]
    either = compare(runs(1.0, 1.2, 1.1, 1.3), runs(1.1, 1.3, 1.2, 1.4))
    assert rows(either)["Wall time"][2] == "1.09 [0.846 to 1.4]"


def test_one_run_each_is_approximate():
    found = change(compare(runs(1.0), runs(2.0)))
    assert (found.verdict, found.why_not) == ("≈ approximate", "one run each")
    assert found.ratio is None


def test_few_runs_are_approximate_and_say_how_many_would_do():
    found = change(compare(runs(1.0, 1.1, 1.2), runs(2.0, 2.1, 2.2)))
    assert (found.verdict, found.why_not) == (
        "≈ approximate",
        "3 and 3 runs are too few (4 and 4 are enough)",
    )


def test_runs_that_overlap_show_no_difference():
    assert change(compare(runs(1, 2, 3, 4, 5), runs(1.5, 2.5, 3.5, 4.5))).verdict == "○ unclear"


def test_runs_that_hardly_differ_are_the_same():
    found = change(compare(runs(1.0, 1.001, 1.002, 1.003), runs(1.004, 1.005, 1.006, 1.007)))
    assert found.ratio.low > 1
    assert found.verdict == "= same"


def test_profiled_runs_are_never_compared_as_timings():
    profiled = [run(9.0, mode="profiled") for _ in range(4)]
    comparison = compare([*runs(1, 1, 1, 1), *profiled], runs(1, 1, 1, 1))
    assert max(change(comparison).first.values) == 1
    alone = compare(profiled, runs(1, 1, 1, 1))
    assert (change(alone).verdict, change(alone).why_not) == ("○ unknown", "measured on one side only")
    assert any("no successful light run" in note for note in alone.pairs[0].notes)


def test_runs_that_failed_are_left_out_and_counted():
    failed = run(0.001, outcome="error")
    comparison = compare([*runs(1.0, 1.1), failed], runs(1.0, 1.1))
    assert change(comparison).first.values == (1.0, 1.1)
    assert "1 failed or interrupted runs are left out." in comparison.pairs[0].notes


def test_what_neither_side_measured_is_no_row():
    comparison = compare(runs(1.0), runs(1.0, first=2))
    assert not [one for one in comparison.pairs[0].changes if one.what == "Energy"]


def test_a_value_of_0_has_no_ratio():
    found = change(compare(runs(0, 0, 0, 0), runs(1, 1, 1, 1)))
    assert (found.verdict, found.why_not) == ("○ unknown", "a value is 0, so there is no ratio")


def test_two_files_are_compared_cell_by_cell_and_what_stands_alone_is_counted():
    before = [run(1.0, code="a"), run(2.0, code="b")]
    after = [run(1.0, code="b"), run(3.0, code="c")]
    comparison = compare(before, after)
    assert len(comparison.pairs) == 1
    assert (comparison.first, change(comparison).second.values) == ("B", (2.0,))
    assert comparison.notes == ("2 cells are on one side only and left out.",)


def test_files_without_a_common_cell_and_empty_ones_are_refused():
    with pytest.raises(UsageError, match="no cell with the same code"):
        compare([run(code="a"), run(code="b")], [run(code="c"), run(code="d")])
    with pytest.raises(UsageError, match="no records in A"):
        compare([], [run()])


def test_a_file_is_not_compared_with_itself():
    with pytest.raises(UsageError, match="Nothing to compare: A and B are the same records"):
        compare(runs(1.0, 1.1), runs(1.0, 1.1))


def test_what_else_differs_is_said():
    gpu = DeviceUse({"*": "gpu:0"}, (RanOn("torch", "gpu:0", "cuda", None, 1, 1.0),))
    other = run(versions={"python": "3.11", "tensorflow": "2.20.0"}, device=gpu)
    notes = compare([run()], [other]).pairs[0].notes
    assert "Ran on: cpu:0 and gpu:0." in notes
    assert "Requested: cpu:0 and gpu:0." in notes
    assert "TensorFlow: 2.19.1 and 2.20.0." in notes


def profiled_run(*self_times, device="host", plane="host"):
    ops = tuple(
        OpStat(f"op {number}", "Op", device, 1, seconds, seconds, "fake profiler", plane)
        for number, seconds in enumerate(self_times)
    )
    return run(mode="profiled", ops=ops)


def test_operations_are_compared_between_profiled_runs_the_largest_first():
    slow = [profiled_run(0.1 + n / 1000, 0.5) for n in range(4)]
    quick = [profiled_run(0.1 + n / 1000, 0.2) for n in range(4)]
    (pair,) = compare([*runs(1, 1), *slow], [*runs(1, 1), *quick]).pairs
    assert [(one.what, one.verdict) for one in pair.operations] == [
        ("op 1 (host)", "▼ less"),
        ("op 0 (host)", "○ unclear"),
    ]


def test_readings_of_two_sources_are_not_mixed():
    def two(of_first, of_second):
        readings = [
            Reading("peak_memory_allocator", value, "bytes", "device", "other", 1, detail=f"gpu:{number}")
            for number, value in enumerate((of_first, of_second))
        ]
        return replace(run(), readings=(run().readings[0], *readings))

    comparison = compare([two(10, 20)] * 4, [two(30, 20)] * 4)
    assert change(comparison, "Peak memory, allocator, gpu:0").verdict == "▲ more"
    assert change(comparison, "Peak memory, allocator, gpu:1").verdict == "= same"


def test_two_devices_of_one_source_are_one_value_a_run():
    def two(number):
        readings = [
            Reading("peak_memory_allocator", 10, "bytes", "device", "allocator", 1, detail="torch.cuda")
        ] * 2
        return replace(run(number=number), readings=(run().readings[0], *readings))

    found = change(compare([two(1)] * 3, [two(2)] * 3), "Peak memory, allocator")
    assert len(found.first.values) == 3
    assert found.ratio is None


def test_a_comparison_is_text_and_a_table_with_hostile_names_escaped():
    hostile, also = (
        [replace(one, cell=replace(one.cell, name="<script>\u202e")) for one in side]
        for side in (runs(1, 2, 3, 4), runs(1, 2, 3, 4, first=5))
    )
    comparison = compare(hostile, also, names=("cell 3", "<b>"))
    assert "\u202e" not in repr(comparison)
    assert "<script>" not in comparison._repr_html_()
    assert "<b>" not in comparison._repr_html_().replace("<p><b>", "").replace("</b></p>", "")
    assert "1 (1 s" not in repr(comparison)
    assert "2.5 s (1 s to 4 s, 4 runs)" in repr(comparison)


def test_the_chart_shows_what_could_be_judged_with_its_interval():
    chart = plotly.figure(page.chart(compare(runs(1.0, 1.1, 1.2, 1.3), runs(2.0, 2.2, 2.4, 2.6))))
    trace, no_difference = chart["data"]
    assert no_difference["x"] == [1, 1]
    assert chart["layout"]["yaxis"]["ticktext"][:2] == ["Wall time", "CPU time"]
    assert trace["x"][0] == pytest.approx(2, rel=0.05)
    assert trace["x"][0] - trace["error_x"]["arrayminus"][0] > 1
    go = pytest.importorskip("plotly.graph_objects", reason="plotly checks what is drawn")
    go.Figure(chart)


def test_nothing_is_drawn_where_nothing_can_be_judged():
    assert page.chart(compare(runs(1.0), runs(2.0))).series == ()


def rows(comparison):
    """What the sidebar is sent: a row's cells by its name, in all tables."""
    tables = [one for one in view.data(page.page(comparison)).parts if isinstance(one, view.TableData)]
    return {name: cells for table in tables for name, *cells in table.rows}


def test_the_page_has_the_medians_their_spread_the_ratio_with_its_interval_and_a_verdict():
    comparison = compare(runs(1.0, 1.1, 1.2, 1.3), runs(2.0, 2.2, 2.4, 2.6))
    ratio = change(comparison).ratio
    assert rows(comparison)["Wall time"] == [
        "1.15 s (1 s to 1.3 s, 4 runs)",
        "2.3 s (2 s to 2.6 s, 4 runs)",
        f"{ratio.value:.3g} [{ratio.low:.3g} to {ratio.high:.3g}]",
        "▲ more",
    ]


def also(record, *readings):
    return replace(record, readings=(*record.readings, *readings))


def test_what_was_measured_on_one_side_alone_is_no_zero():
    comparison = compare(
        [run()], [also(run(), Reading("device_time", 0.1, "s", "device", "simulated", 1, detail="x"))]
    )
    first, _, ratio, verdict = rows(comparison)["GPU busy time"]
    assert (first, ratio) == ("not measured", "")
    assert verdict == "○ unknown"


def test_instruments_stay_apart_and_operations_are_named():
    energy = [
        Reading("energy", 2.0, "J", "device", "other", 1, detail=source) for source in ("counter", "sampled")
    ]
    both = also(run(), *energy)
    comparison = compare([both, profiled_run(0.5)], [both, profiled_run(0.2)])
    assert {"Energy, counter", "Energy, sampled", "op 0 (host)"} <= set(rows(comparison))


def test_a_row_is_named_and_judged_in_the_readers_language():
    comparison = compare(runs(1.0, 1.1, 1.2, 1.3), runs(2.0, 2.2, 2.4, 2.6))
    (said,) = [one for one in comparison.pairs[0].changes if one.what == "Wall time"]
    assert translated(said.what, "zh") == "实际用时"
    assert translated(said.verdict, "zh") == "▲ 更多"
