"""A profiled receipt: tables of operations, host and devices apart, and no time that looks like a timing."""

import json

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import OpStat, Record
from jupyter_mlgpu.show.receipts import figures, html, operations, report, text
from jupyter_mlgpu.show.receipts.bundle import FULL_LIMIT, MIME_TYPE, bundle
from jupyter_mlgpu.testing import example_record


def row(name: str, self_time: float, plane: str = "host", device: str = "host", **more) -> OpStat:
    values = {"type": "mm", "count": 3, "total_time": 2 * self_time, "share": 0.25}
    values["profiler"] = "fake profiler"
    return OpStat(name=name, device=device, self_time=self_time, plane=plane, **(values | more))


def profiled(*ops: OpStat, **changes) -> Record:
    return replace(example_record(), mode="profiled", ops=ops, **changes)


def test_the_receipt_says_that_its_times_are_no_timing():
    shown = text.receipt(profiled(row("aten::mm", 0.001)))
    assert shown.startswith("[mlgpu] profiled: 500 ms, with the profiler on · ran on cpu:0 · peak memory")
    assert operations.SENTENCE in shown
    assert "CPU time" not in shown.splitlines()[0]


def test_every_operation_has_count_self_time_total_time_and_share():
    lines = text.receipt(profiled(row("aten::mm", 0.001, count=1200))).splitlines()
    place = lines.index("        Operations on the host's threads (fake profiler):")
    assert lines[place + 1].split() == ["Operation", "Type", "Count", "Self", "Total", "Share"]
    assert lines[place + 2].split() == ["aten::mm", "mm", "1,200", "1", "ms", "2", "ms", "25.0", "%"]


@pytest.mark.parametrize(
    ("idle", "said"),
    [
        (0.61, "gpu:0 busy 39 % of the profiled cell"),
        (0.004, "gpu:0 busy 99.6 % of the profiled cell"),
        (0.996, "gpu:0 busy 0.4 % of the profiled cell"),
        (0.9999, "gpu:0 busy under 0.1 % of the profiled cell"),
        (1.0, "gpu:0 busy under 0.1 % of the profiled cell"),
        (0.0, "gpu:0 busy 100.0 % of the profiled cell"),
    ],
)
def test_a_profiled_cell_says_what_part_of_it_a_gpu_was_busy(idle, said):
    reading = Reading(
        "device_idle", idle, "share", "device", "simulated", 3, device="gpu:0", detail="fake profiler"
    )
    record = profiled(row("k", 0.1), readings=(*example_record().readings, reading))
    assert f"        {said}" in text.receipt(record).splitlines()
    assert f"<div>{said}</div>" in html.receipt(record)
    assert "busy" not in text.receipt(replace(record, mode="light"))


def test_shapes_copied_bytes_and_flop_have_a_column_where_the_profiler_tells_them():
    mm = row("aten::mm", 0.002, shapes="64x256, 256x10", flops=983_040.0)
    copy = row("Memcpy", 0.001, "device", "gpu:0", bytes=4096)
    of_gpu, of_host = operations.tables(profiled(mm, row("aten::add", 0.001), copy), 48)
    assert of_host.columns == (*operations.HEADER, "Input shapes", "FLOP")
    assert [one[len(operations.HEADER) :] for one in of_host.rows] == [
        ("64x256, 256x10", "9.83e+05"),
        ("", ""),
    ]
    assert of_gpu.columns == (*operations.HEADER, "Copied")
    assert of_gpu.rows[0][-1] == "4 KiB"
    for shown in (text.receipt(profiled(mm)), html.receipt(profiled(mm))):
        assert "Input shapes" in shown
        assert "64x256, 256x10" in shown


def test_devices_come_before_the_host_and_each_has_a_table():
    ops = (row("a", 0.1), row("k", 0.2, "device", "gpu:1"), row("l", 0.3, "device", "gpu:0"))
    titles = [table.caption for table in operations.tables(profiled(*ops), 40)]
    assert titles == [
        "Operations on gpu:0 (fake profiler)",
        "Operations on gpu:1 (fake profiler)",
        "Operations on the host's threads (fake profiler)",
    ]
    shown = html.receipt(profiled(*ops))
    assert shown.index("Operations on gpu:0") < shown.index("Operations on the host")


def test_ten_operations_are_shown_and_the_others_counted():
    record = profiled(*(row(f"op{number}", number / 1000) for number in range(1, 31)))
    (table,) = operations.tables(record, 40)
    assert [shown[0] for shown in table.rows][:2] == ["op30", "op29"]
    assert (len(table.rows), table.below) == (10, "and 20 more")
    assert "and 20 more" in text.receipt(record)
    assert "and 20 more" in html.receipt(record)


def test_of_a_long_path_the_end_is_shown_and_of_a_kernel_the_beginning():
    record = profiled(row("a/" * 100 + "MatMul", 0.2), row("void gemm<" + "float, " * 100, 0.1))
    (table,) = operations.tables(record, 20)
    assert table.rows[0][0] == "…/a/a/a/a/a/a/MatMul"
    assert table.rows[1][0].startswith("void gemm<")
    assert all(len(shown[0]) == 20 for shown in table.rows)


def test_names_of_operations_are_hostile_input():
    record = profiled(row("<script>alert(1)</script>\u202e", 0.1))
    assert "<script>" not in html.receipt(record)
    assert "\u202e" not in html.receipt(record) + text.receipt(record)


def test_a_row_saved_before_planes_were_kept_stands_with_the_host():
    old = row("a", 0.1, device="cpu:0", plane=None, share=None)
    assert "Operations on cpu:0" in text.receipt(profiled(old))


def test_a_very_long_profile_stays_within_the_bound_and_says_what_was_cut():
    record = profiled(*(row(f"layer_{number}/" + "x" * 200, 1 / (number + 1)) for number in range(1000)))
    made = bundle(record)
    stored = json.dumps(made, ensure_ascii=False, indent=1)
    assert len(stored.encode()) + 5 * stored.count("\n") <= FULL_LIMIT
    cut = made[MIME_TYPE]["cut"]["ops"]
    assert cut + len(made[MIME_TYPE]["ops"]) == 1000
    assert made[MIME_TYPE]["ops"][0]["name"].startswith("layer_0/")
    assert f"{cut:,} of its operations" in made["text/plain"]


def test_the_table_of_records_shows_no_time_of_a_profiled_one():
    shown = text.table([example_record(1), replace(profiled(), cell=example_record(2).cell)])
    assert shown.splitlines()[1].split()[1:4] == ["500", "ms", "900"]
    assert shown.splitlines()[2].split()[1:3] == ["profiled", "profiled"]


def test_the_report_draws_and_adds_up_no_time_of_a_profiled_cell():
    charts = figures.charts([example_record(1), profiled()])
    assert charts[0].table.rows[1][1:3] == ("profiled, no timing", "profiled, no timing")
    assert [point.x for point in charts[0].chart.series[0].points] == [0.5]
    assert "500 ms in all" in report.report([example_record(1), profiled()], title="t")


def test_the_time_of_the_device_is_shown_as_it_is():
    busy = Reading(
        "device_time", 0.2, "s", "device", "simulated", 3, detail="fake profiler, union of kernels of gpu:0"
    )
    record = profiled(readings=(*example_record().readings[:2], busy, *example_record().readings[3:]))
    shown = html.receipt(record)
    assert "<td>GPU busy time<td>200\u00a0ms<td>" in shown
    assert "<td>Wall time<td>500\u00a0ms, with the profiler on<td>" in shown
