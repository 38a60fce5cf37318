"""Receipts are read by students: right words, right size, nothing executable."""

import json
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK, CopySum, GpuWork, KernelSum
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Reading, missing, new_reading
from jupyter_mlgpu.record.record import DeviceUse, Fact, LogLine, OpStat, RanOn, Record
from jupyter_mlgpu.show.receipts import head, html, notes, text
from jupyter_mlgpu.show.receipts.bundle import FULL_LIMIT, MIME_TYPE, NOTED_LIMIT, PLAIN_LIMIT, bundle
from jupyter_mlgpu.testing import example_record, limited_record


def record(**changes) -> Record:
    return replace(example_record(), **changes)


def ran(*devices: tuple[str, float], asked: str | None = None) -> Record:
    entries = tuple(RanOn("tensorflow", name, "cpu", None, 10, share) for name, share in devices)
    return record(
        device=replace(example_record().device, requested={"*": asked} if asked else {}, ran_on=entries)
    )


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
    assert units.seconds(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (512 * 1024**2, "512 MiB"), (1.5 * 1024**3, "1.5 GiB")],
)
def test_memory_is_shown_in_powers_of_1024(value, shown):
    assert units.size(value) == shown


def test_what_is_counted_has_no_prefix():
    assert units.figure(Reading("major_faults", 2_000, "pages", "process", "other", 1)) == "2,000 pages"


@pytest.mark.parametrize(
    ("value", "uncertainty", "shown"),
    [
        (12.34, 0.42, "12.3 J ± 0.4"),
        (3512.0, 38.0, "3.51 kJ ± 0.04"),
        (3512.0, 138.0, "3.51 kJ ± 0.14"),
        (0.5, 0.01, "0.500 J ± 0.010"),
        (0.012, 0.001, "12.0 mJ ± 1.0"),
        (1.2e6, 1500.0, "1,200.0 kJ ± 1.5"),
        (0.0, 0.001, "0.0 mJ ± 1.0"),
        (75.0, None, "75 J"),
        (3512.3, None, "3.51 kJ"),
    ],
)
def test_energy_is_shown_with_no_more_figures_than_its_uncertainty_leaves(value, uncertainty, shown):
    reading = Reading(
        "energy", value, "J", "device", "simulated", 2, uncertainty=uncertainty, detail="a counter"
    )
    assert units.figure(reading) == shown


def of_gpu(number, joules=3512.0):
    source = f"NVML energy counter, all processes on GPU {number} (NVIDIA H200)"
    return Reading("energy", joules, "J", "device", "other", 21, uncertainty=38.0, detail=source)


def with_energy(*energy, **changes):
    plain = [one for one in example_record().readings if one.quantity != "energy"]
    return record(readings=(*plain, *energy), **changes)


ON_GPU = DeviceUse({}, None, "PyTorch does not tell.")


def test_the_line_has_the_figures_that_matter_the_most_important_first_and_no_others():
    full = replace(limited_record(), readings=with_energy(of_gpu(0)).readings)
    assert [*head.of(full).named.values()] == [
        "500 ms",
        "about 90 % preparing input",
        "ran on cpu:0",
        "peak memory 512 MiB",
    ]


def busy(seconds, device="gpu:0", launches=1_450):
    return Reading("device_time", seconds, "s", "device", "CUPTI", launches, device=device, detail="records")


WORK = GpuWork(
    "gpu:0",
    1_450,
    0.2,
    (CopySum("host-to-device", 6, 72_000_000, 0.006),),
    (KernelSum("void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(Params)", 60, 0.15),),
)


def on_gpu(*times, work=(WORK,), **changes):
    light = [one for one in example_record().readings if one.quantity != "device_time"]
    return record(readings=(*light, *times), gpu_work=work, **changes)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([busy(0.14)], "GPU busy 28 %"),
        ([busy(0.0001)], "GPU busy 1 %"),
        ([busy(0.4999)], "GPU busy 99 %"),
        ([busy(0.51)], "GPU busy 100 %"),
        ([busy(0.1), busy(0.25, "gpu:1")], "gpu:1 busy 50 %"),
    ],
)
def test_the_line_says_how_busy_the_gpu_was(times, said):
    assert said in head.of(on_gpu(*times)).line


def test_the_line_says_for_how_long_the_gpu_went_on_after_the_code():
    went_on = replace(WORK, went_on=0.5)
    shown = on_gpu(busy(0.9), work=(went_on,), asynchronous=True)
    assert "GPU busy 90 %, went on for 500 ms" in head.of(shown).line
    assert "gpu:0 went on for 500 ms after the cell&#x27;s code had ended." in html.receipt(shown)
    hardly = replace(WORK, went_on=0.0005)
    assert "GPU busy 100 %" in head.of(on_gpu(busy(0.9), work=(hardly,), asynchronous=True)).line


def test_the_line_says_that_the_gpu_is_still_at_work():
    waited_for = missing("device_time", STILL_AT_WORK, scope="device")
    assert "GPU time to come" in head.of(on_gpu(waited_for, work=(), asynchronous=True)).line


def grown(growth, *others):
    readings = [one for one in example_record().readings if one.quantity != "peak_memory_allocator"]
    grew = new_reading("memory_growth", growth, "process", "operating system", 1)
    return record(readings=(*readings, grew, *others))


@pytest.mark.parametrize(
    ("mebibytes", "said"), [(122, "500 ms · ran on cpu:0 · memory +122 MiB"), (7, "500 ms · ran on cpu:0")]
)
def test_the_line_says_what_a_cell_added_to_the_memory_if_that_is_worth_a_look(mebibytes, said):
    assert head.of(grown(mebibytes * 1024**2)).line == said


def test_the_line_of_a_cell_on_a_gpu_says_that_ones_peak():
    peaks = [
        new_reading("peak_memory_allocator", size * 1024**3, "device", "allocator", 1, device=device)
        for device, size in (("cpu:0", 9), ("gpu:0", 1), ("gpu:1", 2))
    ]
    assert head.of(grown(0, *peaks)).line.endswith(" · GPU memory 2 GiB")


def test_what_the_driver_counts_for_the_process_is_told_as_about_so_much():
    counted = replace(busy(0.14), scope="process", source="IORegistry")
    assert "GPU busy about 28 %" in head.of(on_gpu(counted, work=())).line


@pytest.mark.parametrize("times", [[], [busy(0.0, launches=0)]])
def test_the_line_of_a_cell_that_left_the_gpu_alone_does_not_speak_of_it(times):
    assert "busy" not in head.of(on_gpu(*times, work=())).line


def test_an_opened_receipt_has_copies_by_direction_with_their_rate_and_the_longest_kernels():
    shown = html.receipt(on_gpu(busy(0.14)))
    for figure in (
        "host-to-device",
        "68.7",
        "12",
        "1,450 launches",
        "void cutlass::Kernel2",
        "75",
    ):
        assert figure in shown


def test_a_receipt_of_eight_busy_gpus_has_the_busiest_and_counts_the_others():
    times = [busy(0.01 * (n + 1), f"gpu:{n}") for n in range(8)]
    works = tuple(replace(WORK, device=f"gpu:{n}") for n in range(8))
    data = bundle(on_gpu(*times, work=works))[MIME_TYPE]
    assert [one["device"] for one in data["gpu_work"]] == ["gpu:7"]
    assert data["cut"]["gpu_work"] == 7


def test_the_line_does_not_say_that_nothing_ran():
    assert head.of(ran()).line == "500 ms · peak memory 512 MiB"


def test_a_receipt_of_eight_gpus_has_those_that_used_most_and_counts_the_others():
    memory = [
        Reading("peak_memory_device", n * 1024**3, "bytes", "device", "other", 9, detail=f"GPU {n}")
        for n in range(8)
    ]
    shown = bundle(with_energy(*memory, *(of_gpu(n, 1000.0 + n) for n in range(8)), device=ON_GPU))
    data = shown[MIME_TYPE]
    kept = [(one["quantity"], one["value"]) for one in data["readings"] if one["scope"] == "device"]
    assert [value for quantity, value in kept if quantity == "energy"] == [1007.0]
    assert [value for quantity, value in kept if quantity == "peak_memory_device"] == [7 * 1024**3]
    assert data["cut"] == {"readings": 14}
    assert as_stored(shown) <= PLAIN_LIMIT
    assert "14 of its readings" in shown["text/html"]


def test_a_quantity_that_was_not_measured_is_never_shown_as_a_number():
    assert units.figure(example_record().reading("energy")) == "not measured"


def test_where_it_ran_is_named():
    assert head.where(ran(("cpu:1", 1.0))) == "ran on cpu:1"


def test_where_it_ran_is_told_beside_what_was_asked_for():
    assert head.where(ran(("cpu:0", 1.0), asked="gpu:0")) == "asked for gpu:0, ran on cpu:0"


def test_a_small_share_elsewhere_is_not_rounded_away():
    assert head.where(ran(("gpu:0", 0.998), ("cpu:0", 0.002))) == "ran on gpu:0 99 %, cpu:0 1 %"


def test_no_operations_and_an_unknown_device_read_differently():
    assert head.where(ran()) == "no framework operations seen"
    unknown = replace(example_record().device, ran_on=None, why_missing="because")
    assert head.where(record(device=unknown)) == "device not known"
    work = GpuWork("gpu:1", 9, 0.1)
    assert head.where(record(device=unknown, gpu_work=(work,))) == "used gpu:1"
    waited = replace(work, launches=0, earlier=0.1)
    assert head.where(record(device=unknown, gpu_work=(waited,))) == "device not known"


def test_the_line_of_a_receipt():
    assert text.receipt(example_record()) == ("[mlgpu] 500 ms · ran on cpu:0 · peak memory 512 MiB")


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


def log_line(text: str, verdict: str = "unknown", **changes) -> LogLine:
    known = verdict != "unknown"
    meaning, advice = (f"Meaning of {text}.", f"Advice on {text}.") if known else (None, None)
    line = LogLine(text, "an-id" if known else None, verdict, meaning, advice, {}, 1, "stderr", None, False)
    return replace(line, **changes)


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([], []),
        (["harmless"], []),
        (["info", "performance", "action"], ["2 messages: 1 to act on"]),
        (["fatal", "action"], ["2 messages: 2 to act on"]),
        (["unknown"], ["1 unknown message"]),
        (["fatal", "unknown", "unknown"], ["1 message: 1 to act on", "2 unknown messages"]),
        (["a verdict of a later version"], ["1 unknown message"]),
    ],
)
def test_the_line_counts_messages_but_not_those_that_ask_for_nothing(verdicts, said):
    assert notes.summary(record(logs=tuple(map(log_line, verdicts, verdicts)))) == said


def test_what_came_after_the_cell_is_counted_apart_for_its_receipt_was_drawn_before():
    eight = record(logs=tuple(log_line(f"h{number}", "harmless") for number in range(8)))
    later = eight.with_logs([log_line("late", "info", late=True), log_line("?", late=True)])
    assert notes.summary(eight) == []
    assert notes.summary(later) == ["1 after the cell had ended"]


def test_the_text_spells_out_what_is_to_act_on_and_counts_the_rest():
    logs = (
        log_line("h", "harmless"),
        log_line("?"),
        log_line("a", "action", count=37, late=True),
        log_line("f", "fatal"),
    )
    first, *below = text.receipt(record(logs=logs)).splitlines()
    assert first == (
        "[mlgpu] 500 ms · 1 message: 1 to act on · 1 unknown message"
        " · 1 after the cell had ended: 1 to act on"
        " · ran on cpu:0 · peak memory 512 MiB"
    )
    assert below == [
        "        Fatal: Meaning of f. Advice on f.",
        "        To act on (x 37, arrived after the cell had ended): Meaning of a. Advice on a.",
    ]


def test_of_very_many_lines_to_act_on_the_text_counts_the_rest():
    shown = text.receipt(record(logs=tuple(log_line(f"a{number}", "action") for number in range(25))))
    assert len(shown.splitlines()) == 12
    assert shown.endswith("15 more to act on.")


def test_the_html_explains_each_line_the_worst_first():
    logs = (log_line("h", "harmless"), log_line("two\nlines"), log_line("f", "fatal", count=1200))
    shown = html.receipt(record(logs=logs))
    assert "<span> · 1 message: 1 to act on</span><span> · 1 unknown message</span>" in shown
    assert "<b>Fatal</b> x 1,200<br>Meaning of f.<br>Advice on f.<pre" in shown
    assert shown.index("<b>Fatal") < shown.index("<b>Harmless") < shown.index("<b>Not known")
    assert ">two&#10;lines</pre>" in shown
    assert "\n" not in shown


def test_facts_stand_in_the_html_with_their_source():
    facts = {
        "gpu_name": Fact("Apple M1 Max", "log message metal-device-set"),
        "numa_nodes": Fact(["0", "1"], "logs"),
        "placement": Fact({"MatMul": "gpu:0"}, "logs"),
    }
    shown = html.receipt(record(facts=facts))
    assert "<tr><td>GPU name<td>Apple M1 Max<td>log message metal-device-set" in shown
    assert "<td>0, 1<td>" in shown
    assert "<td>MatMul: gpu:0<td>" in shown


def test_html_and_control_characters_in_a_log_line_stay_text():
    hostile = "<script>alert(1)</script>\x1b[31m\u202egnp.exe\r\n</pre>"
    line = log_line(hostile, "action", meaning=hostile, advice=hostile, fields={"a": hostile})
    bad = record(logs=(line,), facts={hostile: Fact(hostile, hostile)})
    elements = Elements()
    elements.feed(html.receipt(bad))
    assert elements.seen == {"details", "summary", "span", "b", "br", "div", "pre", "table", "tr", "td"}
    for shown in (html.receipt(bad), text.receipt(bad)):
        assert not set(shown) & {"\x1b", "\u202e", "\r"}
        assert "\\u001b[31m\\u202egnp.exe" in shown
    assert len(text.receipt(bad).splitlines()) == 2


def test_an_empty_table_says_what_to_do():
    assert "run a cell" in text.table([])


def test_a_table_has_a_line_for_each_record():
    lines = text.table([example_record(1), example_record(2)]).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("[1] ")


def test_the_details_name_sources_and_reasons():
    shown = html.receipt(example_record())
    assert "fake clock" in shown
    assert "Peak memory, device; Energy: Not measured here.</div>" in shown


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)


def test_html_in_what_is_shown_stays_text():
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    reading = Reading("wall_time", 1.0, "s", "cell", "other", 1, detail=hostile)
    bad = record(notes=(hostile,), readings=(reading, *example_record().readings[1:]))
    elements = Elements()
    elements.feed(html.receipt(bad))
    assert elements.seen == {"details", "summary", "span", "div", "table", "tr", "td"}


def test_a_plain_receipt_is_at_most_4_kilobytes_in_the_notebook_file():
    assert as_stored(bundle(example_record())) <= PLAIN_LIMIT == 4096


def test_many_notes_are_cut_counted_and_named():
    shown = bundle(record(notes=tuple(f"note number {number} of many" for number in range(200))))
    data = shown[MIME_TYPE]
    assert as_stored(shown) <= NOTED_LIMIT == 8192
    assert len(data["notes"]) + data["cut"]["notes"] == 200


def sentences_of(shown: dict) -> list:
    """What the record of a receipt has for the reasons of missing readings."""
    reasons = [one["why_missing"] for one in shown[MIME_TYPE]["not_measured"]]
    return [one for one in reasons if one is not None and "cpu:0" in str(one)]


def test_a_receipt_holds_what_its_sentences_are_made_of():
    assert all(one["fields"] == {"device": "cpu:0"} for one in sentences_of(bundle(example_record())))


def test_a_plain_receipt_without_room_for_that_has_its_sentences_in_english_and_nothing_is_cut():
    shown = bundle(example_record(name="x" * 700))
    assert as_stored(shown) <= PLAIN_LIMIT
    assert sentences_of(shown) == ["TensorFlow keeps no allocator statistics for cpu:0."]
    assert "cut" not in shown[MIME_TYPE]


def test_many_log_lines_cost_no_sentence_its_template():
    line = LogLine("x" * 100, None, "unknown", None, None, {}, 1, "stderr", None, False)
    shown = bundle(replace(example_record(), logs=(line,) * 2_000))
    assert shown[MIME_TYPE]["cut"]
    assert all(one["fields"] == {"device": "cpu:0"} for one in sentences_of(shown))


def test_logs_and_operations_fit_in_64_kilobytes_and_say_what_is_missing():
    line = LogLine("x" * 100, None, "unknown", None, None, {}, 1, "stderr", None, False)
    op = OpStat("MatMul", "MatMul", "cpu:0", 1, 0.1, 0.1, "test")
    shown = bundle(record(logs=(line,) * 2000, ops=(op,) * 3000, facts={"a": Fact(1, "test")}))
    data = shown[MIME_TYPE]
    assert as_stored(shown) <= FULL_LIMIT == 65536
    assert len(data["logs"]) + data["cut"]["logs.unknown"] == 2000
    assert 0 < len(data["logs"]) < 2000
    assert len(data["ops"]) + data["cut"].get("ops", 0) == 3000


def test_of_too_many_log_lines_the_worst_are_kept_and_the_others_counted_by_verdict():
    verdicts = ["unknown", "harmless", "info", "performance", "action", "fatal"]
    logs = tuple(log_line(f"{verdict} {n}", verdict) for n in range(40) for verdict in verdicts)
    shown = bundle(record(logs=logs))
    data = shown[MIME_TYPE]
    kept = [line["verdict"] for line in data["logs"]]
    assert as_stored(shown) <= FULL_LIMIT
    assert as_stored(shown) > FULL_LIMIT * 0.9
    assert kept.count("fatal") == kept.count("action") == 40
    assert data["cut"]["logs.unknown"] == data["cut"]["logs.harmless"] == 40
    assert kept[:3] == ["performance", "action", "fatal"], "those that stay keep their order"
    assert len(kept) + sum(data["cut"].values()) == len(logs)
    for said in (shown["text/html"], shown["text/plain"]):
        assert "120 messages: 80 to act on" in said
        assert "40 unknown messages" in said
        assert "40 of its messages (not known)" in said


def test_a_line_of_a_megabyte_is_shortened_and_its_length_said():
    long = "x" * 1_000_000
    shown = bundle(record(logs=(log_line(long, "fatal", meaning=long, fields={"a": long}),)))
    assert as_stored(shown) <= FULL_LIMIT
    (line,) = shown[MIME_TYPE]["logs"]
    assert line["text"].endswith("xx… (1,000,000 characters in all)")
    assert "cut" not in shown[MIME_TYPE]


def test_many_facts_leave_room_for_the_line_and_are_counted():
    facts = {f"fact_{number}": Fact("v" * 100, "logs") for number in range(500)}
    shown = bundle(record(logs=(log_line("f", "fatal"),), facts=facts))
    data = shown[MIME_TYPE]
    assert as_stored(shown) <= FULL_LIMIT
    assert len(data["facts"]) + data["cut"]["facts"] == 500
    assert len(data.get("logs", ())) + data["cut"].get("logs.fatal", 0) == 1


def test_a_bundle_has_our_type_html_and_plain_text():
    assert set(bundle(example_record())) == {MIME_TYPE, "text/html", "text/plain"}


def test_a_receipt_leaves_out_what_only_a_comparison_of_several_runs_needs():
    shown = bundle(example_record())
    assert "memory_process" not in {one["quantity"] for one in shown[MIME_TYPE]["readings"]}
    assert "Memory at the end" not in shown["text/html"]


def test_a_receipt_has_each_reason_once_and_the_record_read_from_it_all_readings_in_their_order():
    why = "No NVIDIA driver was found here."
    readings = [
        missing(one, why)
        if one in ("device_time", "peak_memory_device", "energy")
        else example_record().reading(one)
        for one in QUANTITIES
        if one not in ("device_idle", "memory_growth", "memory_process", "memory_allocator")
    ]
    whole = record(readings=tuple(readings))
    shown = bundle(whole)
    assert json.dumps(shown[MIME_TYPE]).count(why) == 1
    assert all(one["value"] is not None for one in shown[MIME_TYPE]["readings"])
    assert Record.from_json(json.loads(json.dumps(shown[MIME_TYPE]))) == whole


def test_what_a_later_version_could_not_measure_either_is_kept():
    data = bundle(example_record())[MIME_TYPE]
    data["not_measured"].append({"quantities": ["warp_stalls"], "why_missing": "No counter."})
    later = Record.from_json(data).reading("warp_stalls")
    assert (later.value, later.why_missing) == (None, "No counter.")


def test_the_opened_html_has_what_to_act_on_and_folds_the_rest():
    mixed = record(logs=(log_line("h", "harmless"), log_line("f", "fatal")))
    shown = html.receipt(mixed)
    order = [
        "<b>Fatal",
        "<summary>Where it ran</summary>",
        "cpu:0 (TensorFlow, cpu): 120 operations",
        "<summary>Other messages (1)</summary>",
        "<b>Harmless",
        "<summary>How it was measured</summary>",
        "<td>Wall time",
        "<summary>Not measured (5)</summary>",
    ]
    assert sorted(order, key=shown.index) == order


def test_a_cut_record_still_reads_as_a_record():
    shown = bundle(record(notes=("n" * 100,) * 100))
    assert Record.from_json(shown[MIME_TYPE]).cell == example_record().cell
