"""A file of `bench --out` may be somebody else's: it is used, or refused in one sentence."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_mlgpu.experiment.bench.against import two_runs
from jupyter_mlgpu.experiment.bench.budget import Budget
from jupyter_mlgpu.experiment.bench.measuring import measure
from jupyter_mlgpu.experiment.bench.run import BenchRun, load
from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.show.bench import charts
from jupyter_mlgpu.testing import FakeBackend, FakeClock
from jupyter_mlgpu.testing.bench import FakeMonitor, FakeRunner, fake_case

Refused = Callable[[Path], str]


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file as it is written."""
    clock = FakeClock()
    backend = FakeBackend("torch", devices=("gpu:0",))
    budget = Budget(repeats=6, sample_s=0.1, warm_up_s=2.0)
    results = [
        measure(
            replace(fake_case(FakeRunner(clock, [seconds]), n=size), framework="torch"),
            backend.devices()[0],
            backend=backend,
            monitor=FakeMonitor(clock, watts=300.0),
            clock=clock,
            budget=budget,
        )[0]
        for seconds, size in ((0.1, 512), (0.2, 1024))
    ]
    run = BenchRun(tuple(results), {"processor": "a chip"}, {"torch": "2.13.0"}, "2026-11-22", "fake", False)
    return run.save(tmp_path_factory.mktemp("mine") / "mine.json")


@pytest.fixture
def real(mine: Path) -> dict[str, Any]:
    """The same as data."""
    data: dict[str, Any] = json.loads(mine.read_text(encoding="utf-8"))
    return data


@pytest.fixture
def refused(mine: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[Path], str]:
    """What the command says of such a file: one line, and status 2."""

    def said(path: Path) -> str:
        assert cli.main(["bench", "--against", str(mine), str(path)]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        (sentence,) = shown.err.splitlines()
        assert len(sentence) < 500
        assert sentence.isprintable()
        with pytest.raises(BenchError):
            load(path)
        return sentence

    return said


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "theirs.json"


def test_a_real_file_is_read_and_compared(mine: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "--against", str(mine), str(mine)]) == 0
    assert "times as fast" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no JSON"),
        ("[" * 100_000, "holds no JSON"),
        ('{"a":' * 100_000, "holds no JSON"),
        (
            '{"kind": "jupyter_mlgpu bench", "schema": 1' + "0" * 5_000 + "}",
            "holds no JSON",
        ),
        (
            '{"kind": "jupyter_mlgpu bench", "schema": 1' + "0" * 400 + "}",
            "'schema' should be a number of at most 64 bits",
        ),
        ('{"kind": "jupyter_mlgpu bench", "schema": NaN}', "'schema' should be a number, found nan"),
        ('{"kind": "jupyter_mlgpu bench", "schema": -Infinity}', "'schema' should be a number, found -inf"),
        ('{"kind": "jupyter_mlgpu bench", "schema": 1e999}', "'schema' should be a number, found inf"),
        ('{"kind": "jupyter_mlgpu bench\\ud800"}', "half a character"),
        ("\ufeff{}", "holds no JSON"),
        ("[]", "should be an object"),
        ("{}", "its kind is None"),
        ('{"kind": "jupyter_mlgpu bench", "schema": true}', "schema should be a whole number, found True"),
        ('{"kind": ' + "[" * 400 + "]" * 400 + "}", "nested deeper than 40 levels"),
    ],
)
def test_what_is_no_such_file_is_one_sentence(text: str, said: str, file: Path, refused: Refused):
    file.write_text(text, encoding="utf-8")
    assert said in refused(file)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("samples", [10**400]),
        ("samples", [float("nan")]),
        ("samples", [float("inf")]),
        ("samples", [5e-324]),
        ("samples", [True]),
        ("samples", ["1"]),
        ("samples", [0]),
        ("samples", {"0": 1.0}),
        ("items", 10**400),
        ("items", -1),
        ("items", 1e308),
        ("flops", float("nan")),
        ("flops", -1.0),
        ("moved", 10**400),
        ("steps", 0),
        ("steps", True),
        ("warmups", -1),
        ("measured_s", 10**400),
        ("energy", {"value": 10**400, "unit": "J", "why_missing": None}),
        ("energy", {"value": None, "unit": "J", "why_missing": None}),
        ("energy", {"value": 1.0}),
        ("energy", 5),
        ("parameters", []),
        ("status", ["ok"]),
        ("status", "banana"),
        ("case", None),
        ("unit", "images\ud800"),
        ("flags", "none"),
    ],
)
def test_a_result_with_what_cannot_be_is_one_sentence_that_names_it(
    field: str, value: Any, real: dict[str, Any], file: Path, refused: Refused
):
    data = copy.deepcopy(real)
    data["results"][1][field] = value
    file.write_text(json.dumps(data))
    assert str(file) in refused(file)


@pytest.mark.parametrize(
    "field", ["case", "samples", "unit", "steps", "energy", "parameters", "status", "items"]
)
def test_a_result_that_lacks_a_field_is_one_sentence(
    field: str, real: dict[str, Any], file: Path, refused: Refused
):
    data = copy.deepcopy(real)
    del data["results"][0][field]
    file.write_text(json.dumps(data))
    refused(file)


def test_a_fifo_a_folder_and_a_device_are_refused_at_once(file: Path, refused: Refused):
    os.mkfifo(file)
    assert "a pipe (FIFO)" in refused(file)
    folder = file.parent / "folder.json"
    folder.mkdir()
    assert "a folder" in refused(folder)
    link = file.parent / "zero.json"
    link.symlink_to("/dev/zero")
    assert "a device" in refused(link)


def test_a_file_of_60_mb_is_not_read(file: Path, refused: Refused):
    with file.open("wb") as large:
        large.truncate(60_000_000)
    assert "more than 4 MB" in refused(file)


def test_energy_that_a_counter_did_not_see_makes_no_figure(real: dict[str, Any], file: Path):
    data = copy.deepcopy(real)
    data["results"][0]["energy"] = {"value": 0, "unit": "J", "why_missing": None}
    file.write_text(json.dumps(data))
    result = load(file).results[0]
    assert result.items_per_joule.value is None
    assert "measured no energy" in str(result.items_per_joule.why_missing)


def test_what_moves_a_cursor_is_not_printed(real: dict[str, Any], file: Path, mine: Path):
    data = copy.deepcopy(real)
    data["results"][0]["hardware"] = "GPU\x1b[2J\x9b"
    data["machine"]["processor\x07"] = "x"
    file.write_text(json.dumps(data))
    shown = repr(load(file)) + repr(two_runs(load(mine), load(file)))
    assert "GPU" in shown
    assert not {"\x1b", "\x9b", "\x07"} & set(shown)


ODD = (
    None, True, -1, 0, 10**17, 10**30, 10**400, 1e-320, 1e308, float("nan"), float("inf"), "", "x\ud800",
    "\x1b[2J", "\n", "x" * 5_000, [], {}, [None], {"a": [1]}, [[[[]]]], {"value": 1}, ["a", 1],
)  # fmt: skip


def places(data: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in the data."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*way, key)
        yield from places(value, (*way, key))


def test_whatever_one_value_is_the_file_is_refused_or_shown_compared_and_saved(
    real: dict[str, Any], file: Path, mine: Path, tmp_path: Path
):
    ours = load(mine)
    file.write_text(json.dumps(real))
    load(file)
    used = 0
    ways = [way for way in places(real) if "derived" not in way and way[:2] != ("results", 1)]
    for way in ways:
        data = copy.deepcopy(real)
        place: Any = data
        for step in way[:-1]:
            place = place[step]
        for odd in ODD:
            place[way[-1]] = odd
            file.write_text(json.dumps(data))
            try:
                theirs = load(file)
            except BenchError:
                continue
            used += 1
            compared = two_runs(ours, theirs), two_runs(theirs, ours)
            shown = (
                "".join(map(repr, compared)) + repr(theirs) + compared[0]._repr_html_() + theirs._repr_html_()
            )
            shown.encode()
            theirs.save(tmp_path / "again.json")
    assert used > 100


def test_charts_are_drawn_of_whatever_size_a_stranger_names(real: dict[str, Any], file: Path):
    for odd in (*ODD, "512", {}):
        data = copy.deepcopy(real)
        data["results"][0]["parameters"] = {"n": odd} if odd != {} else {}
        file.write_text(json.dumps(data))
        try:
            run = load(file)
        except BenchError:
            continue
        run.figure()
        run.roofline()
        assert charts.sizes(run.results, "").series
