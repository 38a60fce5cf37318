"""The file for Apple's fork: Python 3.8, nothing but the standard library, and records that can be read."""

import ast
import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest

import jupyter_mlgpu
from jupyter_mlgpu.measure.frameworks.tensorflow import mlcompute_fork as fork
from jupyter_mlgpu.record.files import load_records

PACKAGE = Path(jupyter_mlgpu.__file__).parent
SOURCE = Path(fork.__file__).read_text(encoding="utf-8")


def test_the_file_is_python_3_8():
    ast.parse(SOURCE, feature_version=(3, 8))


def test_it_imports_the_standard_library_alone_and_tensorflow_inside_functions():
    tree = ast.parse(SOURCE)
    names = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert {name.split(".")[0] for name in names} - sys.stdlib_module_names == {"tensorflow"}


def test_its_annotations_are_never_evaluated():
    # `float | None` is an error to Python 3.8 where it is run, and none where it is only written.
    assert SOURCE.index("from __future__ import annotations") < SOURCE.index("import argparse")


def test_a_block_becomes_a_record_that_fits_the_schema(tmp_path, capfd):
    out = tmp_path / "records.jsonl"
    with fork.trace("add", str(out)):
        os.write(1, b"one line\n")
    with fork.trace("add again", str(out)):
        pass
    schema = json.loads((PACKAGE / "record" / "record.schema.json").read_text())
    for line in out.read_text().splitlines():
        jsonschema.validate(json.loads(line), schema)
    (first, second), problems = load_records(out)
    assert problems == []
    assert (first.cell.name, second.cell.name) == ("add", "add again")
    assert second.cell.sequence == first.cell.sequence + 1
    assert first.run == second.run
    assert first.outcome == "ok"
    wall = first.reading("wall_time").value
    assert wall is not None
    assert 0 < wall < 60
    assert [reading.quantity for reading in first.readings if reading.value is not None] == [
        "wall_time",
        "cpu_time",
    ]
    assert first.device.ran_on is None
    assert first.device.why_missing
    (line,) = first.logs
    assert (line.text, line.id, line.verdict, line.stream) == ("one line", None, "unknown", "stdout")
    assert capfd.readouterr().out == "one line\n"


def test_the_users_exception_passes_through_and_everything_is_put_back(tmp_path, capfd):
    out = tmp_path / "records.jsonl"
    stdout = sys.stdout
    for error in (ValueError("mine"), KeyboardInterrupt(), SystemExit(3), SystemExit(0)):
        with pytest.raises(type(error)) as raised, fork.trace("fails", str(out)):
            raise error
        assert raised.value is error
    print("shown as ever")
    assert [record.outcome for record in load_records(out)[0]] == ["error", "interrupted", "error", "ok"]
    assert sys.stdout is stdout
    assert capfd.readouterr().out == "shown as ever\n"


def test_a_record_that_cannot_be_written_costs_one_sentence(tmp_path, capfd):
    with fork.trace("add", str(tmp_path / "missing" / "records.jsonl")):
        pass
    assert "the record could not be written to" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (b"1/3 [>..]\r2/3 [=>.]\r3/3 [==>]\n", "3/3 [==>]"),
        (b"\b\b\b\r3/3 [==>]\n", "3/3 [==>]"),
        (b"from Windows\r\n", "from Windows"),
        (b"no end of line", "no end of line"),
        (b"not UTF-8: \xff\n", "not UTF-8: \\xff"),
        (b"/Users/ada/model.py\n", "~/model.py"),
    ],
)
def test_a_line_is_kept_as_it_was_last_shown(written, kept):
    lines = fork._Lines()
    for byte in written:
        lines.feed("stdout", bytes([byte]))
    assert [line["text"] for line in lines.finish()] == [kept]


def test_equal_lines_are_counted_and_too_many_different_ones_are_told():
    lines = fork._Lines()
    lines.feed("stderr", b"again\n" * 7 + b"\n \n")
    for number in range(fork._LINES + 10):
        lines.feed("stderr", b"line %d\n" % number)
    found = lines.finish()
    assert found[0]["count"] == 7
    assert len(found) == fork._LINES
    assert fork._notes({}, lines) == [
        f"11 more lines were printed than the {fork._LINES:,} different ones kept here."
    ]


def test_a_line_of_50_million_bytes_is_cut_and_said():
    lines = fork._Lines()
    piece = b"x" * 65536
    for _ in range(800):
        lines.feed("stdout", piece)
    assert [len(line["text"]) for line in lines.finish()] == [fork._LONGEST]
    assert lines.cut == 800 * 65536 - fork._LONGEST


def test_knobs_are_checked_before_they_are_set(monkeypatch):
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    for name in fork.KNOBS:
        monkeypatch.delenv(name, raising=False)
    fork.set_knobs(TF_MLC_LOGGING=1, TF_DISABLE_MLC_EAGER=";MatMul;Relu")
    assert fork.os.environ["TF_MLC_LOGGING"] == "1"
    with pytest.raises(fork.ForkError, match="keep operations off ML Compute in eager mode"):
        fork.set_knobs(TF_DISABLE_MLC_EAGER="MatMul;Relu")
    with pytest.raises(fork.ForkError, match="There is no variable TF_LOUD"):
        fork.set_knobs(TF_LOUD=1)
    monkeypatch.setitem(sys.modules, "tensorflow", object())
    with pytest.raises(fork.ForkError, match="start Python again and call set_knobs before"):
        fork.set_knobs(TF_DISABLE_MLC=1)
    for name in fork.KNOBS:
        monkeypatch.delenv(name, raising=False)


def test_a_device_that_does_not_exist_is_refused():
    with pytest.raises(fork.ForkError, match="choose 'any', 'cpu' or 'gpu'"):
        fork.set_device("tpu")
