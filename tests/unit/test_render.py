"""Receipts are read by students: right words, right size, nothing executable."""

import dataclasses
import json
from html.parser import HTMLParser

import pytest

from jupyter_mlgpu.record import Fact, LogLine, OpStat, RanOn, Reading, Record
from jupyter_mlgpu.render import html, text, words
from jupyter_mlgpu.render.bundle import FULL_LIMIT, MIME_TYPE, PLAIN_LIMIT, bundle
from jupyter_mlgpu.testing import example_record


def record(**changes) -> Record:
    return dataclasses.replace(example_record(), **changes)


def ran(*devices: tuple[str, float], asked: str | None = None) -> Record:
    entries = tuple(RanOn("tensorflow", name, "cpu", None, 10, share) for name, share in devices)
    return record(device=dataclasses.replace(example_record().device, requested=asked, ran_on=entries))


def as_stored(data: object) -> int:
    stored = json.dumps(data, ensure_ascii=False, indent=1)
    return len(stored.encode()) + 5 * stored.count("\n")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0000005, "0 µs"),
        (0.000812, "812 µs"),
        (0.00099951, "1 ms"),
        (0.0123, "12.3 ms"),
        (0.9996, "1 s"),
        (4.561, "4.56 s"),
        (59.96, "1 min 00 s"),
        (125.2, "2 min 05 s"),
        (3725, "1 h 02 min"),
    ],
)
def test_times_are_shown_in_the_unit_that_fits(value, shown):
    assert words.seconds(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (512 * 1024**2, "512 MiB"), (1.5 * 1024**3, "1.5 GiB")],
)
def test_memory_is_shown_in_powers_of_1024(value, shown):
    assert words.size(value) == shown


def test_a_quantity_that_was_not_measured_is_never_shown_as_a_number():
    assert words.figure(example_record().reading("energy")) == "not measured"


def test_where_it_ran_is_named():
    assert words.where(ran(("cpu:1", 1.0))) == "ran on cpu:1"


def test_where_it_ran_is_told_beside_what_was_asked_for():
    assert words.where(ran(("cpu:0", 1.0), asked="gpu:0")) == "asked for gpu:0, ran on cpu:0"


def test_a_small_share_elsewhere_is_not_rounded_away():
    assert words.where(ran(("gpu:0", 0.998), ("cpu:0", 0.002))) == "ran on gpu:0 99 %, cpu:0 1 %"


def test_no_operations_and_an_unknown_device_read_differently():
    assert words.where(ran()) == "no operations on a device"
    unknown = dataclasses.replace(example_record().device, ran_on=None, why_missing="because")
    assert words.where(record(device=unknown)) == "device not known"


def test_the_line_of_a_receipt():
    assert text.receipt(example_record()) == (
        "[mlgpu] 500 ms · ran on cpu:0 · CPU time 900 ms · peak memory 512 MiB"
    )


def test_a_failed_cell_a_loaded_and_a_replayed_record_say_so():
    assert text.receipt(record(outcome="error")).startswith("[mlgpu] error: ")
    assert text.receipt(record(outcome="interrupted", origin="loaded")).startswith(
        "[mlgpu] loaded, interrupted: "
    )
    assert text.receipt(record(origin="replayed")).startswith("[mlgpu] replayed: ")
    assert "<b>replayed</b>" in html.receipt(record(origin="replayed"))


def test_a_profiled_run_is_labelled_as_no_timing_run():
    assert text.receipt(record(mode="profiled")).startswith("[mlgpu] profiled: ")


def test_notes_stand_under_the_line():
    assert text.receipt(record(notes=("A note.",))).endswith("\n        A note.")


def test_an_empty_table_says_what_to_do():
    assert "run a cell" in text.table([])


def test_a_table_has_a_line_for_each_record():
    lines = text.table([example_record(1), example_record(2)]).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("1 ")


def test_the_details_name_sources_and_reasons():
    shown = html.receipt(example_record())
    assert "fake clock" in shown
    assert "Not measured: peak memory, device, energy. Not measured here." in shown


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)


def test_html_in_what_is_shown_stays_text():
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    reading = Reading("wall_time", 1.0, "s", "cell", hostile, 1)
    bad = record(notes=(hostile,), readings=(reading, *example_record().readings[1:]))
    elements = Elements()
    elements.feed(html.receipt(bad))
    assert elements.seen == {"details", "summary", "b", "div", "table", "tr", "td"} - {"b"}


def test_a_plain_receipt_is_at_most_4_kilobytes_in_the_notebook_file():
    assert as_stored(bundle(example_record())) <= PLAIN_LIMIT == 4096


def test_many_notes_are_cut_counted_and_named():
    shown = bundle(record(notes=tuple(f"note number {number} of many" for number in range(200))))
    data = shown[MIME_TYPE]
    assert as_stored(shown) <= PLAIN_LIMIT
    assert len(data["notes"]) + data["cut"]["notes"] == 200


def test_logs_and_operations_fit_in_64_kilobytes_and_say_what_is_missing():
    line = LogLine("x" * 100, None, "unknown", None, None, {}, 1, "stderr", None, False)
    op = OpStat("MatMul", "MatMul", "cpu:0", 1, 0.1, 0.1, "test")
    shown = bundle(record(logs=(line,) * 2000, ops=(op,) * 3000, facts={"a": Fact(1, "test")}))
    data = shown[MIME_TYPE]
    assert as_stored(shown) <= FULL_LIMIT == 65536
    assert len(data["logs"]) + data["cut"].get("logs", 0) == 2000
    assert len(data["ops"]) + data["cut"].get("ops", 0) == 3000


def test_a_bundle_has_our_type_html_and_plain_text():
    assert set(bundle(example_record())) == {MIME_TYPE, "text/html", "text/plain"}


def test_a_cut_record_still_reads_as_a_record():
    shown = bundle(record(notes=("n" * 100,) * 100))
    assert Record.from_json(shown[MIME_TYPE]).cell == example_record().cell
