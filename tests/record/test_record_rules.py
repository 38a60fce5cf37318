"""A record of somebody else's is refused, or can be shown, exported and saved again."""

import copy
import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.cli import main
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.files import load_records, save_records
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Fact, LogLine, OpStat, Record
from jupyter_mlgpu.show.page.html import TOGETHER
from jupyter_mlgpu.show.receipts import bundle, html, text
from jupyter_mlgpu.show.receipts.report import report
from jupyter_mlgpu.testing import example_record

HUGE = 10**400


def full() -> dict[str, Any]:
    """A record that has something in every field."""
    record = replace(
        example_record(),
        logs=(LogLine("a line", "x.y", "info", "means", "do", {"n": 1}, 2, "stderr", None, False),),
        ops=(OpStat("MatMul", "t", "cpu:0", 3, 0.1, 0.2, "p", "host", 0.5, "[2, 2]", 8, 1e9),),
        facts={"gpu_name": Fact("H200", "nvml"), "list": Fact([1, {"a": 2.5}], "x")},
        notes=("a note",),
        mode="profiled",
    )
    data: dict[str, Any] = json.loads(json.dumps(record.to_json()))
    return data


def at(*path: str | int) -> Callable[[dict[str, Any], Any], None]:
    def put(data: Any, value: object) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return put


REFUSED = [
    (
        at("readings", 0, "scope"),
        "banana",
        r"readings\[0\]\.scope .* cell, device, machine, process, found 'ban",
    ),
    (at("readings", 0, "scope"), "<img src=x onerror=alert(1)>", "scope"),
    (at("readings", 0, "quantity"), "", "quantity"),
    (at("readings", 0, "quantity"), "<script>", "quantity"),
    (at("readings", 0, "quantity"), "another", "should have one of 'wall_time'"),
    (at("readings", 0, "unit"), "bytes", r"unit of wall_time should be s, found 'bytes'"),
    (at("readings", 0, "unit"), "", "unit"),
    (at("readings", 0, "value"), float("nan"), "should be a number, found nan"),
    (at("readings", 0, "value"), float("inf"), "should be a number, found inf"),
    (at("readings", 0, "value"), HUGE, "64 bits"),
    (at("readings", 0, "value"), 1.7e308, r"readings\[0\]\.value should be a number <= 1e\+18"),
    (
        at("readings", 0, "value"),
        -1.0,
        r"readings\[0\]\.value should be a number or null >= 0|readings\[0\]\.value should be a number >= 0",
    ),
    (at("readings", 0, "samples"), -1, "samples"),
    (at("readings", 0, "uncertainty"), 5e-324, "uncertainty"),
    (at("readings", 0, "source"), "a\ud800", "surrogate"),
    (at("readings"), [], "wall_time"),
    (at("cell", "name"), "\udfff", "surrogate"),
    (at("cell", "sequence"), -1, r"cell\.sequence should be a whole number >= 0, found -1"),
    (at("cell", "execution_count"), HUGE, "64 bits"),
    (at("run", "id"), "", r"run\.id should be a text of length >= 1"),
    (at("started_at"), "yesterday", "started_at should be a date with time and zone.*found 'yesterday'"),
    (at("started_at"), "2026-01-01", "zone"),
    (at("started_monotonic_ns"), HUGE, "64 bits"),
    (at("notes"), 5, "notes should be a list, found 5"),
    (at("notes"), None, "notes should be a list, found None"),
    (at("notes"), "abc", "notes should be a list"),
    (at("notes"), ["a", 3], r"notes\[1\]: a sentence is a text"),
    (at("versions", "python"), None, r"versions\[\.\.\.\] should be a text"),
    (at("device", "only"), {"torch": 3}, r"device\.only\[\.\.\.\] should be a text"),
    (at("device", "ran_on", 0, "share"), 1.5, r"share should be a number <= 1.*, found 1\.5"),
    (at("device", "ran_on", 0, "operations"), -3, "operations should be a whole number >= 0"),
    (at("logs", 0, "count"), -1, "count"),
    (at("logs", 0, "fields"), {"x": float("-inf")}, "'x' should be a number"),
    (at("ops", 0, "self_time"), -1.0, "self_time"),
    (at("ops", 0, "flops"), float("nan"), "number"),
    (at("facts", "list", "value"), [1, [HUGE]], "64 bits"),
    (at("facts", "a\ud800"), {"value": 1, "source": "x"}, "surrogate"),
]


@pytest.mark.parametrize(("put", "value", "words"), REFUSED)
def test_what_no_record_can_hold_is_refused_by_its_name(put: Any, value: object, words: str) -> None:
    data = full()
    Record.from_json(data)  # as it was, it is a record
    put(data, value)

    with pytest.raises(RecordError, match=words):
        Record.from_json(data)


def test_what_is_nested_beyond_reason_is_refused() -> None:
    data = full()
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    data["facts"]["list"]["value"] = deep

    with pytest.raises(RecordError, match="nested deeper than 40 levels"):
        Record.from_json(data)


def test_a_quantity_of_a_later_version_is_kept_and_shown() -> None:
    data = full()
    data["readings"].append(
        {
            "quantity": "network_sent", "value": 12.5, "unit": "pkt<b>", "scope": "machine",
            "source": "simulated", "detail": "<i>", "samples": 1, "why_missing": None,
        }
    )  # fmt: skip
    record = Record.from_json(data)

    assert record.reading("network_sent") == Reading(
        "network_sent", 12.5, "pkt<b>", "machine", "simulated", 1, detail="<i>"
    )
    figure = "12.5 pkt<b>".translate(TOGETHER).replace("<b>", "&lt;b&gt;")
    assert f"<td>network sent<td>{figure}<td>machine, &lt;i&gt;" in html.receipt(record)


def all_places(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(data, dict):
        return [path, *(one for key in data for one in all_places(data[key], (*path, key)))]
    if isinstance(data, list):
        return [path, *(one for n, item in enumerate(data) for one in all_places(item, (*path, n)))]
    return [path]


NONSENSE: tuple[Any, ...] = (
    None, True, -1, 0, 5e-324, 1.7e308, HUGE, float("nan"), "", "x", "\ud800", "\x00\x1b[2J\n", "<b>", [], {},
    [[]], {"": None}, [None],
)  # fmt: skip


def test_whatever_stands_in_a_field_the_record_is_refused_or_can_be_used(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    whole = full()
    kept = refused = 0
    for place in all_places(whole)[1:]:
        for nonsense in NONSENSE:
            data = copy.deepcopy(whole)
            at(*place)(data, nonsense)
            try:
                record = Record.from_json(data)
            except RecordError as error:
                str(error).encode()
                refused += 1
                continue
            kept += 1
            try:
                json.dumps(bundle.bundle(record), allow_nan=False).encode()
                text.receipt(record)
                text.table([record])
                assert save_records(path, [record]) == 1
                loaded = record.with_origin("loaded") if record.origin == "live" else record
                assert load_records(path) == ([loaded], [])
            except Exception as error:
                raise AssertionError(f"{place} = {nonsense!r:.40}") from error
    assert kept > 100
    assert refused > 100


def test_the_same_holds_for_the_report() -> None:
    whole = full()
    records = []
    for place in all_places(whole)[1:]:
        for nonsense in NONSENSE:
            data = copy.deepcopy(whole)
            at(*place)(data, nonsense)
            with suppress(RecordError):
                records.append(Record.from_json(data))
    assert len(records) > 100
    io.BytesIO(report(records, title="all of them").encode())


def test_no_broken_submission_stops_the_report_of_a_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def hand_in(student: str, data: dict[str, Any]) -> None:
        receipt = bundle.bundle(example_record()) | {bundle.MIME_TYPE: data}
        outputs = [{"output_type": "display_data", "metadata": {}, "data": receipt}]
        cell = {"cell_type": "code", "id": "measure", "metadata": {}, "source": "work()", "outputs": outputs}
        path = tmp_path / "submitted" / student / "lab" / "lab.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))

    for number, (put, value, _) in enumerate(REFUSED):
        data = full()
        put(data, value)
        hand_in(f"broken-{number:02d}", data)
    hand_in("ada", full())
    hand_in("bob", full())

    assert main(["class", "report", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"2 with records, {len(REFUSED)} without, 0 that cannot be read" in said
    assert "broken-00: A record of cell number 1 cannot be read: readings[0].scope should be one of" in said
    page = (tmp_path / "class_report.html").read_text()
    assert "ada" in page
    assert "onerror=alert" not in page.replace("&lt;img src=x onerror=alert", "")
