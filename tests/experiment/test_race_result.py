"""A race as text, HTML, chart and file; its words, and what is refused."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from jupyter_mlgpu.experiment.race import racing
from jupyter_mlgpu.experiment.race.cell import PlainCell, from_source
from jupyter_mlgpu.experiment.race.options import parse
from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Timing
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError, NewerSchemaError, RecordError, UsageError
from jupyter_mlgpu.record.units import duration
from jupyter_mlgpu.show.page import plotly
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.page.scales import written
from jupyter_mlgpu.show.race import page
from jupyter_mlgpu.show.race.headline import headline
from jupyter_mlgpu.testing import FakeBackend

HOSTILE = "<script>alert(1)</script>"


def samples(middle):
    return tuple(middle * (1 + place / 100) for place in range(-5, 6))


def lanes(over=True):
    sizes = (10, 100, 1000) if over else (None,)
    cpu = tuple(Timing(size, samples(1e-9 * (size or 100) ** 3), 2, True) for size in sizes)
    gpu = tuple(Timing(size, samples(1e-4), 2, size != 10) for size in sizes)
    return Lane("cpu:0", "cpu", "a CPU", cpu, 1e-6), Lane("gpu:0", "cuda", None, gpu, 2e-5)


def result(over=True, **more):
    values = {
        "cell": "x @ x",
        "framework": "torch",
        "variable": "n" if over else None,
        "repeats": 11,
        "fresh": False,
        "lanes": lanes(over),
        "outcome": "ok",
        "started_at": "2026-01-01T00:00:00.000000Z",
        "clock": "fake clock",
        "versions": {"torch": "2.13"},
    }
    return RaceResult(**(values | more))


def drawn(one):
    """Its chart as plotly's data."""
    return plotly.figure(*page_of(one).charts)


def test_the_table_has_a_row_a_size_with_median_and_spread_and_who_was_faster():
    table = page.table(result())
    assert table.columns == ("n", "cpu:0", "gpu:0", "faster")
    assert table.rows[0] == ("10", "1 µs (960 ns to 1.04 µs)", "100 µs (96 µs to 104 µs)", "cpu:0, 100 times")
    assert table.rows[1][3] == "gpu:0, 10 times"


def test_the_crossover_is_said_in_a_sentence_with_its_interval():
    crossings = page.crossings(result())
    assert crossings == ["gpu:0 becomes faster than cpu:0 at about n = 46 (between 10 and 100)."]


def test_the_result_says_what_its_figures_do_not():
    text = repr(result())
    assert "11 runs each after warm-up" in text
    assert "95 % interval of the median" in text
    assert "nothing is restored" in text
    assert "each time includes this" in text
    assert "had not stabilized when it ended: gpu:0 at 10." in text
    assert "only for each device's first run" in text
    assert "had its own process" in repr(result(fresh=True))
    assert "MLX" in repr(result(framework="mlx"))
    assert "about 1 µs per call" in repr(result())
    assert "about 1 µs per call" not in repr(result(lanes=lanes()[:1]))


def test_without_sizes_the_fastest_is_named():
    assert headline(result(over=False)) == "gpu:0 is faster: 10 times as fast as cpu:0."
    assert result(over=False).crossovers == ()


def test_lanes_that_overlap_have_no_winner():
    cpu, _ = lanes(over=False)
    same = Lane("gpu:0", "cuda", None, cpu.timings)
    assert headline(result(over=False, lanes=(cpu, same))) == (
        "It is not certain which device is faster: the spreads overlap (cpu:0 1 ms / gpu:0 1 ms)."
    )
    assert page.table(result(over=False, lanes=(cpu, same))).rows[0][-1] == "not certain"


def raced_over(sizes, *medians):
    """Lanes with these medians at these sizes."""
    found = []
    for number, of_lane in enumerate(medians):
        timings = tuple(Timing(n, samples(one), 2, True) for n, one in zip(sizes, of_lane, strict=True))
        found.append(Lane(f"gpu:{number}", "cuda", None, timings))
    return tuple(found)


@pytest.mark.parametrize(
    ("medians", "words"),
    [
        (([1, 1, 1], [2, 2, 4]), "gpu:0 is faster at every size: 4 times as fast at n = 1,000."),
        (([1, 1, 1], [2, 1, 4]), "gpu:0 is faster only at the largest size: 4 times as fast at n = 1,000."),
        (([1, 1, 1], [2, 2, 0.5]), "gpu:1 is faster only at the largest size: 2 times as fast at n = 1,000."),
        (
            ([1, 1, 1], [2, 2, 1]),
            (
                "It is not certain which device is faster at the largest size, n = 1,000; at n = "
                "100, gpu:0 is 2 times as fast."
            ),
        ),
        (([1, 1, 1], [1, 1, 1]), "It is not certain at any size which device is faster."),
        (
            ([1, 1, 1], [2, 0.5, 0.5], [3, 2, 2]),
            "gpu:1 is the fastest from n = 100 on: 2 times as fast at n = 1,000.",
        ),
    ],
)
def test_the_headline_says_no_more_than_the_spreads_allow(medians, words):
    assert headline(result(lanes=raced_over((10, 100, 1000), *medians))) == words


def test_the_headline_of_a_race_without_a_rival_or_a_spread_names_no_winner():
    cpu, gpu = lanes(over=False)
    assert headline(result(over=False, lanes=(cpu,))) == "It takes 1 ms on cpu:0."
    once = [Lane(one.device, one.kind, None, (Timing(None, (1.0,), 1, True),)) for one in (cpu, gpu)]
    assert headline(result(over=False, lanes=tuple(once))) == (
        "It is not certain which device is faster: a single run has no spread."
    )
    assert headline(result(lanes=())) == "Nothing was measured."


@pytest.mark.parametrize(
    ("sizes", "medians", "words"),
    [
        ((100, 1000), [1, 600], "From n=100 to n=1,000 it takes 600 times as long."),
        ((10, 100, 1000), [1, 9, 2.5], "From n=10 to n=1,000 it takes 2.5 times as long."),
        ((1, 64), [3, 0.5], "From n=1 to n=64 it is 6 times as fast."),
        ((1, 64), [1, 1], "It is not certain that its time changes from n=1 to n=64."),
        ((100,), [1], "At n=100 it takes 1 s on gpu:0."),
    ],
)
def test_the_headline_of_a_single_device_answers_about_sizes(sizes, medians, words):
    (lane,) = raced_over(sizes, medians)
    assert headline(result(lanes=(lane,))) == words
    failed = Lane("gpu:1", "cuda", None, (), problem="out of memory")
    assert headline(result(lanes=(lane, failed))) == f"{words} Only gpu:0 was measured."


def test_single_runs_of_a_single_device_are_told_with_about():
    timings = tuple(Timing(n, (seconds,), 1, True) for n, seconds in [(100, 1.0), (1000, 600.0)])
    assert headline(result(lanes=(Lane("cpu:0", "cpu", None, timings),))) == (
        "From n=100 to n=1,000 it takes about 600 times as long."
    )


def test_a_text_begins_with_the_headline_and_a_page_folds_what_follows_its_chart():
    assert repr(result()).splitlines()[0] == headline(result())
    made = result()._repr_html_()
    assert made.startswith(f"<p><strong>{headline(result())}</strong></p>")
    assert made.index("<img") < made.index("<details><summary>The figures as a table</summary><table>")
    assert "<details><summary>How to read these figures</summary>" in made
    assert headline(result()) in result().svg()


def test_a_lane_that_ended_early_leaves_gaps_and_its_reason():
    cpu, gpu = lanes()
    short = Lane("gpu:0", "cuda", None, gpu.timings[:1], 1e-6, "interrupted")
    shown = result(lanes=(cpu, short), outcome="interrupted")
    assert page.table(shown).rows[1][2:] == ("not measured", "")
    assert "gpu:0: interrupted." in repr(shown)
    assert repr(shown).startswith("Interrupted: ")


@pytest.mark.parametrize("outcome", ["ok", "interrupted", "error"])
def test_a_race_names_its_framework_only_where_it_is_known_to_have_worked(outcome):
    cpu, gpu = lanes()
    unknown = replace(cpu, use_known=False)
    assert "PyTorch" in page.head(result(lanes=(unknown, gpu), outcome=outcome))
    for none in (unknown, replace(cpu, unused=True)):
        told = page.head(result(lanes=(none, unknown), outcome=outcome))
        assert "PyTorch" not in told
        assert "cpu:0" in told


def test_a_race_in_which_nothing_was_measured_is_shown_too():
    empty = result(lanes=(Lane("cpu:0", "cpu", None, (), None, "its process died of SIGSEGV"),))
    assert "its process died of SIGSEGV." in repr(empty)
    assert "<td" not in empty._repr_html_()
    ElementTree.fromstring(empty.svg())
    assert drawn(empty)["data"] == []


def test_what_comes_from_the_user_is_escaped():
    cpu, gpu = lanes()
    shown = result(cell=HOSTILE, lanes=(cpu, Lane("gpu:0", "cuda", HOSTILE, gpu.timings)), notes=(HOSTILE,))
    assert HOSTILE not in shown._repr_html_()
    assert HOSTILE not in shown.svg()
    assert HOSTILE not in json.dumps(drawn(shown))


@pytest.mark.parametrize("over", [True, False])
def test_a_result_survives_its_json(over):
    before = result(over)
    data = json.loads(json.dumps(before.to_json()))
    assert RaceResult.from_json(data) == before
    assert data["lanes"][0]["timings"][0]["spread"] == "95 % interval of the median"
    assert len(data["crossovers"]) == (1 if over else 0)


TIMING = {"size": None, "samples": [1.0], "warmups": 1, "steady": True}
LANE = {"device": "c", "kind": "c", "hardware": None, "timings": [TIMING]}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"schema": 2}, NewerSchemaError, "has schema 2"),
        ({"cell": 3}, RecordError, "cell should be a text, found 3"),
        ({"outcome": "won"}, RecordError, "outcome should be one of error, interrupted, ok, found 'won'"),
        ({"lanes": [{"device": "cpu:0"}]}, RecordError, r"lanes\[0\] lacks 'kind'"),
        (
            {"lanes": [LANE | {"timings": [TIMING | {"samples": []}]}]},
            RecordError,
            r"timings\[0\].samples should be a list of length >= 1",
        ),
        (
            {"lanes": [LANE | {"timings": [TIMING | {"samples": ["1"]}]}]},
            RecordError,
            r"samples\[0\] should be a number, found '1'",
        ),
        (
            {"lanes": [LANE | {"timings": [TIMING | {"samples": [float("nan")]}]}]},
            RecordError,
            "'samples' should be a number, found nan",
        ),
        (
            {"lanes": [LANE | {"timings": [TIMING | {"samples": [-1.0]}]}]},
            RecordError,
            r"samples\[0\] should be a number >= 0.0, found -1.0",
        ),
        ({"lanes": [LANE | {"empty": True}]}, RecordError, "empty should be a number or null, found True"),
    ],
)
def test_a_file_that_is_not_a_race_is_refused_in_one_sentence(change, error, words):
    with pytest.raises(error, match=words):
        RaceResult.from_json(result().to_json() | change)


def test_saving_writes_the_result_and_its_chart(tmp_path):
    chart = result().save(tmp_path / "folder" / "race.json")
    assert chart == tmp_path / "folder" / "race.svg"
    assert RaceResult.from_json(json.loads((tmp_path / "folder" / "race.json").read_text())) == result()
    assert chart.read_text() == result().svg()


@pytest.mark.parametrize("name", ["race.svg", "race", "/dev/stdout"])
def test_the_result_and_its_chart_never_have_the_same_name_or_stand_in_dev(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecordError, match=r"such as race\.json, with its chart"):
        result().save(name)
    assert list(tmp_path.iterdir()) == []


def test_the_chart_has_a_line_a_device_error_bars_and_the_crossover():
    data = drawn(result())
    cpu, gpu, cross = data["data"]
    assert cpu["x"] == [10, 100, 1000]
    assert cpu["y"] == pytest.approx([1e-6, 1e-3, 1.0])
    assert cpu["error_y"]["array"] == pytest.approx([0.04e-6, 0.04e-3, 0.04])
    assert cpu["line"]["color"] != gpu["line"]["color"]
    assert data["layout"]["xaxis"]["type"] == data["layout"]["yaxis"]["type"] == "log"
    assert cross["line"]["dash"] == "dash"
    assert cross["x"] == pytest.approx([result().crossovers[0].size] * 2)
    assert "gpu:0 faster from about n = 46" in cross["text"]
    json.dumps(data, allow_nan=False)


def test_plotly_takes_the_chart():
    graph_objects = pytest.importorskip("plotly.graph_objects", reason="plotly is not installed here")
    for over in (True, False):
        assert isinstance(result(over).figure(), graph_objects.Figure)


def contrast(colour, ground):
    """The contrast of two colours, as WCAG 2.1 defines it."""

    def light(value):
        parts = [int(value[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(colour), light(ground)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_charts_texts_can_be_read_on_white_and_in_dark_mode():
    layout = drawn(result())["layout"]
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert contrast(layout["font"]["color"], "#ffffff") > 4
    assert contrast(layout["font"]["color"], "#111111") > 4


@pytest.mark.parametrize("over", [True, False])
def test_the_drawn_chart_is_xml_with_a_mark_a_timing_and_says_what_it_shows(over):
    shown = result(over)
    tree = ElementTree.fromstring(shown.svg())
    name = "{http://www.w3.org/2000/svg}"
    assert page.head(shown) in tree.find(f"{name}title").text
    if over:
        assert len(tree.findall(f"{name}circle")) == 6
        texts = [one.text for one in tree.findall(f"{name}text")]
        assert "gpu:0 faster from about n = 46" in texts
    for number in re.findall(r' (?:x|y|cx|cy)="([-\d.]+)"', shown.svg()):
        assert 0 <= float(number) <= 720


def test_the_dashed_line_stands_where_the_curves_cross():
    tree = ElementTree.fromstring(result().svg())
    cross = tree.find(".//*[@class='rule']").get("d")
    # The axis has a twentieth of room on either side of 10 and 1000, and they cross at 10^(5/3).
    low, high = 84 + 606 * 0.05 / 1.1, 84 + 606 * 1.05 / 1.1
    assert float(re.match(r"M([\d.]+)", cross)[1]) == pytest.approx(
        low + (high - low) * (5 / 3 - 1) / 2, abs=0.1
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--bogus", "Unknown word '--bogus'"),
        ("n=10", "Unknown word 'n=10'"),
        ("--over", "--over needs a value"),
        ("--over --fresh", "--over needs a value"),
        ("--over n=1 --over m=2", "--over appears twice"),
        ("--over n", "needs a variable and sizes"),
        ("--over class=1", "needs a variable and sizes"),
        ("--over n=1,x", "found 'x'"),
        ("--over n=0,1", "found '0'"),
        ("--over n=-1", "found '-1'"),
        ("--over n=inf", "found 'inf'"),
        ("--over n=nan", "found 'nan'"),
        ("--over n=1,,2", "found ''"),
        ("--repeats 0", "whole number from 1"),
        ("--repeats many", "not 'many'"),
        ("--save race.html", "name of a JSON file"),
        ("--over 'n=1", "Unmatched quotation mark"),
    ],
)
def test_a_word_that_is_wrong_is_named(line, words):
    with pytest.raises(UsageError) as error:
        parse(line)
    assert words in str(error.value)


def test_sizes_are_whole_numbers_where_they_can_be_and_in_order():
    options = parse(
        "--over n=1e3,100,0.5,100 --repeats 3 --devices cpu,gpu:1 --framework Torch --setup 7 --fresh"
    )
    assert options.variable == "n"
    assert options.sizes == (0.5, 100, 1000)
    assert [type(one) for one in options.sizes] == [float, int, int]
    assert (options.repeats, options.devices, options.framework) == (
        3,
        (DeviceWord("cpu"), DeviceWord("gpu", 1)),
        "torch",
    )
    assert (options.setup, options.fresh) == ("7", True)


def test_nothing_said_means_ten_runs_on_every_device():
    assert parse("") == parse("--repeats 10")
    devices = FakeBackend(devices=("cpu:0", "gpu:0")).devices()
    assert racing.devices_for((), devices) == list(devices)


def test_a_device_is_raced_once_however_often_it_is_named():
    devices = FakeBackend(devices=("cpu:0", "gpu:0")).devices()
    words = [DeviceWord.parse(one) for one in ("gpu", "gpu:0", "any", "cpu")]
    assert [one.name for one in racing.devices_for(words, devices)] == ["gpu:0", "cpu:0"]


def test_a_missing_device_is_one_sentence():
    with pytest.raises(DeviceError, match="no device gpu:0 here: found cpu:0"):
        racing.devices_for((DeviceWord("cpu"), DeviceWord("gpu")), FakeBackend().devices())


def test_the_framework_is_the_one_named_or_the_only_one():
    assert racing.framework_of(None, ["torch"]) == "torch"
    assert racing.framework_of("jax", ["torch", "jax"]) == "jax"
    with pytest.raises(UsageError, match="TensorFlow, PyTorch"):
        racing.framework_of(None, ["tensorflow", "torch"])
    with pytest.raises(UsageError, match="No framework is imported yet"):
        racing.framework_of(None, [])


def test_one_device_is_no_race_and_the_reason_is_told():
    backend = FakeBackend(devices=("cpu:0", "gpu:0"))
    (cpu, gpu) = backend.devices()
    assert "only gpu:0 was requested" in racing.why_alone(parse(""), backend, [gpu], [cpu, gpu])
    alone = racing.why_alone(parse(""), backend, [cpu], [cpu])
    assert alone == ("No race: cpu:0 is the only fake device here. The fake has the devices it was given.")


def test_a_race_needs_neither_plotly_nor_ipython_nor_numpy():
    code = (
        "import sys\n"
        "from jupyter_mlgpu.experiment.race import child, fresh, racing, runner\n"
        "from jupyter_mlgpu.show.race import page\n"
        "print(sorted({'plotly', 'IPython', 'numpy', 'ipykernel'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_last_expressions_value_is_what_a_run_gives():
    cell = PlainCell(from_source("y = n * 2\ny + 1", "<cell>"), setup=None, variable="n")
    cell.prepare(20)
    assert cell.run() == 41
    assert PlainCell(from_source("y = 1", "<cell>"), setup=None, variable=None).run() is None


def test_setup_makes_what_the_runs_use():
    cell = PlainCell(from_source("x", "<cell>"), setup=from_source("x = 3", "<setup>"), variable=None)
    cell.setup()
    assert cell.run() == 3


def test_a_quiet_cell_prints_nothing(capsys):
    cell = PlainCell(from_source("print('heard')", "<cell>"), setup=None, variable=None)
    with cell.quiet():
        cell.run()
    assert capsys.readouterr().out == ""
    cell.run()
    assert capsys.readouterr().out == "heard\n"


def test_await_is_refused_in_one_sentence():
    with pytest.raises(UsageError, match="await"):
        from_source("await f()", "<cell>")
    from_source("async def f():\n    await g()", "<cell>")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(4e-7, "400 ns"), (1.234e-6, "1.23 µs"), (0.9996e-3, "1 ms"), (0.25, "250 ms"), (75, "1 min 15 s")],
)
def test_times_are_said_with_three_figures(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("size", "words"),
    [(100, "100"), (8192, "8,192"), (1e7, "10,000,000"), (2.5e6, "2,500,000"), (0.5, "0.5"), (46.4, "46.4")],
)
def test_sizes_are_written_as_people_do(size, words):
    assert written(size) == words
