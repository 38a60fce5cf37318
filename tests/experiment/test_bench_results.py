"""Results of benchmarks: figures, file, table, charts, and what they are compared with."""

import json
import re
from dataclasses import replace
from importlib.resources import files

import jsonschema
import pytest
import schemas

from jupyter_mlgpu.experiment.bench import against, published
from jupyter_mlgpu.experiment.bench.bench_sentences import quantity
from jupyter_mlgpu.experiment.bench.budget import Budget
from jupyter_mlgpu.experiment.bench.measuring import measure
from jupyter_mlgpu.experiment.bench.quantity import Quantity, unknown
from jupyter_mlgpu.experiment.bench.result import CaseResult, KernelShare, Profiled
from jupyter_mlgpu.experiment.bench.run import BenchRun, load
from jupyter_mlgpu.experiment.bench.shares import with_shares
from jupyter_mlgpu.measure.frameworks.models import MODELS
from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.errors import BenchError, RecordError
from jupyter_mlgpu.record.sentence import from_json, say
from jupyter_mlgpu.show.bench import charts, page
from jupyter_mlgpu.show.page import plotly, view
from jupyter_mlgpu.show.page.rendering import bundle_of, page_of
from jupyter_mlgpu.testing import FakeBackend, FakeClock
from jupyter_mlgpu.testing.bench import FakeMonitor, FakeRunner, fake_case
from tests.support.reading import as_read

SCHEMA = json.loads(files("jupyter_mlgpu").joinpath("experiment/bench/bench.schema.json").read_text())


def measured(seconds: float = 0.1, *, watts: float | None = 300.0, **case) -> CaseResult:
    """A result of a fake case whose steps take so long."""
    clock = FakeClock()
    backend = FakeBackend("torch", devices=("gpu:0",))
    result, _ = measure(
        replace(fake_case(FakeRunner(clock, [seconds]), **case), framework="torch"),
        backend.devices()[0],
        backend=backend,
        monitor=FakeMonitor(clock, watts=watts),
        clock=clock,
        budget=Budget(repeats=6, sample_s=0.1, warm_up_s=2.0),
    )
    return result


def skipped() -> CaseResult:
    return measured(fails=BenchError("Metal has no float64."))


def run(*results: CaseResult, **fields) -> BenchRun:
    whole = {"machine": {"processor": "a chip"}, "versions": {"torch": "2.13.0"}, "quick": False, **fields}
    return BenchRun(with_shares(results), started_at="2026-11-22T01:00:00Z", clock="fake clock", **whole)


def moving(bytes_: float = 3e9, seconds: float = 0.001) -> CaseResult:
    """What a case that moves bytes gives."""
    return replace(
        measured(seconds, name="bandwidth"),
        parameters={"operation": "add"},
        items=bytes_,
        unit="bytes",
        flops=bytes_ / 12,
        moved=bytes_,
        peak_type=None,
    )


def trained(
    batch: int = 128, type_: str = "bfloat16", seconds: float = 0.02, name: str = "resnet50"
) -> CaseResult:
    """As a case of training a model gives it."""
    return replace(
        measured(seconds, name=name),
        parameters={"mode": "train", "batch": batch},
        items=batch,
        unit="images",
        type_asked=type_,
        type_ran=type_,
    )


def test_a_figure_has_a_value_or_a_reason_and_never_both_or_none():
    with pytest.raises(RecordError):
        Quantity(None, "W")
    with pytest.raises(RecordError):
        Quantity(1.0, "W", "but why")
    with pytest.raises(RecordError):
        Quantity(float("nan"), "W")


def test_a_file_of_results_comes_back_as_it_was_and_keeps_to_its_schema(tmp_path):
    first = run(measured(), skipped(), moving(), notes=("a note",))
    path = first.save(tmp_path / "bench.json")
    jsonschema.validate(json.loads(path.read_text()), SCHEMA)
    again = load(path)
    assert again == replace(first, origin="loaded")
    assert page.head(again).startswith("Read from a file: ")


def test_the_schema_refuses_a_figure_without_value_and_reason():
    data = run(measured()).to_json()
    data["results"][0]["watts"] = {"value": None, "unit": "W", "why_missing": None}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_every_field_of_a_result_is_in_the_schema():
    assert set(run(measured()).to_json()["results"][0]) == set(SCHEMA["$defs"]["CaseResult"]["properties"])
    assert schemas.bench_schema() == SCHEMA, "run `make schemas`"


def test_a_run_that_was_measured_elsewhere_stays_labelled(tmp_path):
    path = run(measured(), origin="replayed").save(tmp_path / "h200.json")
    assert repr(load(path)).startswith("Replayed, not measured here: ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no json", "holds no JSON"),
        ("[]", "should be an object"),
        ('{"schema": 1}', "is not a benchmark result"),
        ('{"schema": 99, "kind": "jupyter_mlgpu bench"}', "update with `pip install"),
        (
            '{"schema": 1, "kind": "jupyter_mlgpu bench", "origin": "live", "results": [{}]}',
            r"results\[0\] lacks 'case'",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path, text, why):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(BenchError, match=why) as told:
        load(path)
    assert "bad.json" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(BenchError, match=r"none\.json cannot be read"):
        load(tmp_path / "none.json")


def test_samples_that_are_no_times_are_refused():
    data = run(measured()).to_json()
    data["results"][0]["samples"] = [0.1, -1]
    with pytest.raises(RecordError, match=r"samples\[1\] should be a number >= 1e-15, found -1"):
        BenchRun.from_json(data)


def test_the_share_is_of_the_best_product_of_the_same_type():
    shown = run(measured(0.1), measured(0.2), trained(type_="bfloat16")).results
    assert [one.gemm_share.value for one in shown[:2]] == pytest.approx([1.0, 0.5])
    # Nothing of bfloat16 was multiplied.
    other = run(measured(), replace(trained(), peak_type="bfloat16", type_asked="bfloat16")).results[1]
    assert other.gemm_share.value is None
    assert "No bfloat16 gemm" in other.gemm_share.why_missing


def test_what_moves_data_is_not_compared_with_products():
    assert "not limited by arithmetic" in run(measured(), moving()).results[1].gemm_share.why_missing


def test_float32_that_ran_as_tf32_is_compared_with_itself():
    ran = replace(measured(0.05), type_ran="tf32")
    assert run(ran, measured(0.1)).results[0].gemm_share.value == pytest.approx(1)
    assert run(ran, measured(0.1)).results[1].gemm_share.value == pytest.approx(1)


def test_the_table_has_units_and_says_what_is_missing_once():
    shown = repr(run(measured(watts=None), measured(0.2, watts=None), moving(), skipped()))
    assert "3 TB/s" in shown
    assert "gemm n=1024 float32" in shown
    assert shown.count("The fake counts no energy.") == 1
    assert "gemm n=1024 float32: Skipped. Metal has no float64." in shown


def test_the_headline_has_the_best_figure_of_each_kind():
    shown = run(measured(0.1), measured(0.05), moving(), trained())
    assert page.headline(shown) == (
        "6,400 images/s training ResNet50 (batch 128), 42.9 GFLOP/s in float32, 3 TB/s."
    )
    others = replace(measured(0.01), device="cpu:0")
    assert page.headline(run(measured(0.1), others)) == (
        "PyTorch on gpu:0: 21.5 GFLOP/s in float32; PyTorch on cpu:0: 215 GFLOP/s in float32."
    )


def test_the_headline_names_all_models_by_their_fastest_training():
    modes = [trained(seconds=seconds, name=name) for name in MODELS for seconds in (0.1, 0.05)]
    inferred = replace(trained(seconds=0.001), parameters={"batch": 128, "mode": "infer"})
    flagged = replace(inferred, flags=(say("The spread is {spread} of the median.", spread="12%"),))
    shown = page.headline(run(measured(0.05), *modes, flagged))
    assert from_json(to_json(shown)) == shown  # not nested too deeply for a page
    titles = ("ResNet50", "MobileNetV2", "DistilBERT", "BERT-Large")
    rates = [f"2,560 images/s training {title} (batch 128, 100% of gemm)" for title in titles]
    # What disturbed a case without a figure here is told below the table.
    assert shown == f"{', '.join(rates)}, 42.9 GFLOP/s in float32."


def test_the_page_shows_the_kernels_of_the_fastest_training_alone():
    kernels = (KernelShare("nvjet_hsh", 0.6), KernelShare("flash_bwd", 0.2))
    slow = replace(trained(seconds=0.1), profiled=Profiled(3, 0.5, (KernelShare("slow_kernel", 1.0),)))
    fast = replace(trained(seconds=0.05), profiled=Profiled(3, 0.97, kernels))
    shown = repr(run(slow, fast))
    assert re.search(r"97%\s+nvjet_hsh 60%\s+flash_bwd 20%", shown)
    assert "slow_kernel" not in shown
    again = BenchRun.from_json(json.loads(json.dumps(run(slow, fast).to_json())))
    assert again.results[1].profiled == fast.profiled


def test_the_headline_says_what_speaks_against_the_figures():
    taken = say("Something else used {device} at the same time: {programs}.", device="cpu:0", programs="half")
    noisy = replace(measured(), flags=(taken,))
    bound = "other programs were busy, so this is a lower bound."
    assert page.headline(run(noisy)) == f"21.5 GFLOP/s in float32; {bound}"
    assert page.headline(run(noisy, measured(0.05))) == "42.9 GFLOP/s in float32."
    # The larger of the two figures could be higher without the other programs.
    assert page.headline(run(noisy, measured(0.2), moving())) == f"21.5 GFLOP/s in float32, 3 TB/s; {bound}"
    assert page.headline(run(skipped())) == "Nothing was measured: Metal has no float64."
    told = page.headline(run(measured(), outcome="interrupted"))
    assert told == "21.5 GFLOP/s in float32; interrupted, so incomplete."
    assert page.headline(run(measured(), origin="replayed")).startswith("Replayed, not measured here: ")


@pytest.mark.parametrize(
    ("flag", "clause"),
    [
        (
            say("Work ran on {places} although {device} was requested.", places="cpu:0", device="gpu:0"),
            "work ran on cpu:0",
        ),
        (say("The times rose by {rise}.", rise="12%"), "the times rose by 12%, so this is a lower bound"),
        (say("The spread is {spread}.", spread="12%"), "the times varied by 12%, so this is a lower bound"),
        (say("The warm-up was not yet steady."), "the warm-up had not stabilized, so this is a lower bound"),
    ],
)
def test_the_headline_names_what_disturbed_its_figures(flag, clause):
    assert page.headline(run(replace(measured(), flags=(flag,)))) == f"21.5 GFLOP/s in float32; {clause}."


def test_caveats_that_differ_by_a_figure_are_one_line():
    wide = [
        replace(
            measured(),
            parameters={"n": n},
            flags=(
                say(
                    "The spread is {spread} of the median, more than {limit}.", spread=f"{n}.0%", limit="10%"
                ),
            ),
        )
        for n in (12, 31, 17, 20)
    ]
    assert page.notes(run(*wide, measured(), moving()))[0] == (
        "For 4 of 6 cases: The spread is 12.0% to 31.0% of the median, more than 10%."
    )
    assert page.notes(run(*wide[:2]))[0] == (
        "gemm n=12 float32, gemm n=31 float32: The spread is 12.0% to 31.0% of the median, more than 10%."
    )


@pytest.mark.parametrize("number", [0, 1])
def test_no_axis_has_an_empty_power_of_ten_at_an_end(number):
    shown = as_read(view_of(run(measured(0.1, n=512), measured(0.05, n=1000), moving())))["charts"][number]
    points = [point for one in shown["series"] for point in one["points"]]
    for axis, place in (("x", 0), ("y", 1)):
        values = [point[place] for point in points]
        assert min(values) / shown[axis]["low"] < 3
        assert shown[axis]["high"] / max(values) < 3
        assert len(shown[axis]["ticks"]) > 1


def view_of(one: BenchRun) -> dict:
    return bundle_of(one)[view.MIME_TYPE]


def test_the_page_escapes_what_it_shows():
    shown = run(replace(measured(), flags=("a <b> flag",)))._repr_html_()
    assert "a &lt;b&gt; flag" in shown
    assert "<b>" not in shown


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (Quantity(1.5e9, "bytes/s"), "1.5 GB/s"),
        (Quantity(4321.0, "images/s"), "4,321 images/s"),
        (Quantity(0.123, "1"), "12%"),
        (Quantity(0.0123, "1"), "1.2%"),
        (Quantity(2.5e-5, "s"), "25 µs"),
        (Quantity(1024.0**3, "bytes"), "1 GiB"),
        (unknown("W", "why"), ""),
    ],
)
def test_a_figure_in_words(one, said):
    assert quantity(one) == said


def drawn(one: BenchRun, number: int = 0) -> dict:
    """One of its charts as plotly's data."""
    return plotly.figure(page_of(one).charts[number])


def test_the_chart_of_sizes_has_a_line_a_type_with_its_spread():
    lines = drawn(run(measured(n=512), measured(n=2048), moving()))["data"]
    assert [line["name"] for line in lines] == ["float32"]
    assert lines[0]["x"] == [512, 2048]
    assert all(one == pytest.approx(0) for one in lines[0]["error_y"]["array"])


def test_the_roof_is_bandwidth_times_intensity_up_to_the_products_peak():
    product, moved = measured(0.1), moving()
    traces = {one["name"]: one for one in drawn(run(product, moved), 1)["data"]}
    roof = traces["roof of PyTorch gpu:0 float32"]
    assert max(roof["y"]) == pytest.approx(product.tflops.value)
    assert roof["y"][0] == pytest.approx(moved.throughput.value * roof["x"][0] / 1e12)
    assert traces["bandwidth"]["x"] == pytest.approx([1 / 12])


def test_both_charts_stand_in_one_figure_each_with_its_axes():
    both = plotly.figure(*page_of(run(measured(n=512), moving())).charts)
    assert {one["xaxis"] for one in both["data"]} == {"x", "x2"}
    upper, lower = both["layout"]["yaxis"]["domain"], both["layout"]["yaxis2"]["domain"]
    assert upper[0] > lower[1]
    assert plotly.figure(*page_of(run(skipped())).charts)["data"] == []


def test_the_browser_gets_charts_table_and_notes_of_bounded_size():
    bundle = bundle_of(run(*(measured(n=size) for size in range(1, 300)), moving(), skipped()))
    told = as_read(json.loads(json.dumps(bundle[view.MIME_TYPE], allow_nan=False)))
    assert [one["title"][0] for one in told["charts"]] == ["Products of n x n matrices", "Roofline"]
    (table,) = [one for one in told["parts"] if isinstance(one, dict)]
    assert (len(table["rows"]), table["below"]) == (view.ROWS, "200 more rows are not shown.")
    x, y, low, high, label = told["charts"][0]["series"][0]["points"][0]
    assert (x, low, high) == (1, pytest.approx(y), pytest.approx(y))
    assert label.startswith("gemm")
    assert any("Metal has no float64." in note for note in told["notes"])


def test_a_point_of_one_sample_has_no_spread():
    alone = replace(measured(n=512), samples=(0.1,))
    (point,) = charts.sizes(run(alone).results, "").series[0].points
    assert (point.low, point.high) == (None, None)


def test_every_published_figure_names_its_source_and_keeps_its_reading_apart():
    entries = published.entries()
    assert published.names() == ("m1-max", "rtx-3090", "h200")
    assert all(one.source and one.value > 0 and one.unit for one in entries)
    readings = {(one.version, one.value) for one in entries if (one.name, one.case) == ("m1-max", "resnet50")}
    assert readings == {("as given", 135), ("today", 140)}


def test_our_own_published_figures_name_their_folder_of_measurements():
    folder = re.compile(r"docs/measurements/[0-9-]+-h200-(lessons|bench) of this project")
    assert all(folder.match(one.source) for one in published.by_name("h200"))


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(BenchError, match=r"Did you mean m1-max\? Choose m1-max, rtx-3090, h200"):
        published.by_name("m1max")


def test_the_same_batch_and_type_differ_in_nothing():
    ours = replace(trained(64, "float32"), framework="tensorflow")
    (row,) = against.with_published(run(ours), published.by_name("m1-max")).rows
    assert row.differs == ()
    assert row.ratio == pytest.approx(64 / 0.02 / 135)
    assert "as given" in row.what


def test_another_batch_or_type_is_named_beside_the_ratio():
    ours = replace(trained(32, "bfloat16"), framework="tensorflow")
    rows = against.with_published(run(ours), published.by_name("m1-max")).rows
    assert {row.differs for row in rows} == {
        ("batch 32, there 64", "bfloat16, there float32"),
        ("batch 32, there 128", "bfloat16, there float32"),
    }


def test_another_option_is_named_where_the_source_tells_its_own():
    ours = replace(trained(128, "bfloat16"), framework="tensorflow", options=("bf16", "xla"))
    rows = against.with_published(run(ours), published.by_name("rtx-3090")).rows
    assert {row.differs for row in rows} == {("bfloat16, there float16", "bf16 and xla, there fp16 and xla")}


def test_another_framework_is_named_in_both_kinds_of_comparison():
    ours = replace(measured(0.1, n=8192), framework="tensorflow")
    (published_row,) = against.with_published(run(ours), published.by_name("h200")).rows
    (row,) = against.two_runs(run(ours), run(measured(0.1, n=8192))).rows
    assert published_row.differs == row.differs == ("framework TensorFlow, there PyTorch",)


def test_training_is_never_compared_with_inference():
    inference = replace(trained(), parameters={"mode": "infer", "batch": 128})
    assert against.with_published(run(inference), published.by_name("m1-max")).rows == ()


def test_of_products_the_best_of_each_type_is_compared():
    shown = against.with_published(
        run(measured(0.1, n=8192), measured(0.1, n=512)), published.by_name("h200")
    )
    (row,) = shown.rows
    assert (row.label, row.differs) == ("gemm n=8192 float32", ())
    assert row.theirs.value == pytest.approx(50.99)
    assert "docs/measurements" in repr(shown)


def test_of_products_another_type_is_not_compared():
    half = replace(measured(0.1), type_asked="float16", type_ran="float16")
    assert against.with_published(run(half), published.by_name("m1-max")).rows == ()


def test_a_figure_that_is_flagged_is_named_beside_its_comparison():
    doubtful = replace(measured(0.1, n=8192), flags=("The spread is 40% of the median, more than 10%.",))
    (said, *_) = against.with_published(run(doubtful), published.by_name("h200")).notes
    assert said.startswith("Figures from this run have caveats")
    assert said.endswith("gemm n=8192 float32.")


def test_two_files_are_compared_case_by_case_and_say_what_differs(tmp_path):
    new, old = run(measured(0.1), measured(0.1, n=512)), run(measured(0.2), versions={"torch": "2.12.0"})
    path = old.save(tmp_path / "old.json")
    shown = against.against(new, str(path))
    (row,) = shown.rows
    assert row.ratio == pytest.approx(2)
    assert row.certain
    assert "Versions differ: PyTorch 2.13.0 here, 2.12.0 there." in shown.notes
    assert any("gemm n=512 float32" in one for one in shown.notes)


def test_of_two_files_another_type_is_not_compared_at_all():
    half = replace(measured(0.05), type_asked="float16")
    shown = against.two_runs(run(half), run(measured(0.1)))
    assert shown.rows == ()
    assert "Not in the other file" in shown.notes[0]


def test_a_comparison_in_text_and_html_says_the_same():
    shown = against.with_published(run(measured(0.1, n=8192)), published.by_name("m1-max"))
    for words in ("gemm n=8192 float32", "8 TFLOP/s", "tf-metal-experiments"):
        assert words in repr(shown)
        assert words in shown._repr_html_().replace("\u00a0", " ").replace("\u2060", "")
