"""A cell's strip: each bottleneck looks different, and the legend's parts add up."""

import base64
import json
import re
from math import ceil
from pathlib import Path

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.gpu_work import GpuWork, KernelSum
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import RanOn, Record
from jupyter_mlgpu.record.strip import PLACES, GpuLane, HostLane, Spent, StripLine
from jupyter_mlgpu.show.receipts import html, strip, text
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.testing import example_record

#: Seven cells on an H200, of each the part of 240 bins that was busy, and busy with copies.
CELLS = {
    one["cell"]: one
    for one in json.loads((Path(__file__).parents[1] / "data" / "strips" / "h200.json").read_text())
}


def digits(parts):
    return "".join(str(min(9, ceil(9 * max(0.0, part) - 1e-6))) for part in parts)


def on_h200(name):
    """The record of one of these cells."""
    cell = CELLS[name]
    wall, until_done = cell["wall_ms"] / 1e3, cell["until_done_ms"] / 1e3
    kernels, copies = (sum(cell[name]) / 240 * until_done for name in ("kernels", "copies"))
    lane = GpuLane(until_done / 240, digits(cell["kernels"]), digits(cell["copies"]), kernels, copies)
    busy = Reading("device_time", cell["busy_ms"] / 1e3, "s", "device", "CUPTI", 9, device="gpu:0")
    work = GpuWork("gpu:0", 9, 0.1, went_on=max(0.0, until_done - wall), lane=lane)
    return with_wall(wall, busy, gpu_work=(work,), asynchronous=True)


def with_wall(seconds, *readings, **changes):
    record = example_record()
    others = [one for one in record.readings if one.quantity not in ("wall_time", "device_time")]
    wall = replace(record.reading("wall_time"), value=seconds)
    return replace(record, readings=(wall, *others, *readings), **changes)


def host(did="ppppwwwwnn", wall=1.0, **spent):
    sums = spent or {"p": 0.4, "w": 0.4, "n": 0.2}
    lane = HostLane(wall / len(did), did, tuple(Spent(*one) for one in sums.items()))
    return with_wall(wall, host_lane=lane)


def picture(record):
    """The drawing in a receipt, and its words."""
    data, told = re.search(
        r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]*)"', html.receipt(record)
    ).groups()
    return base64.b64decode(data).decode(), told


@pytest.mark.parametrize("name", CELLS)
def test_each_of_the_seven_cells_has_a_strip(name):
    drawn, told = picture(on_h200(name))
    assert drawn.startswith("<svg")
    assert "GPU: " in told
    assert len(drawn) < 8_000
    assert len(json.dumps(on_h200(name).to_notebook()["gpu_work"])) < 1_000


def test_bottlenecks_can_be_told_from_the_line_of_text():
    assert "█" in text.receipt(on_h200("training"))
    shown = {name: strip.text(on_h200(name))[0].removeprefix("gpu:0 ") for name in CELLS}
    assert shown["training"].count("█") > 50
    assert shown["loader, no workers"].count(" ") > 30
    assert set(shown["100 tiny layers"]) <= set("▁▂▃▄")
    assert all(len(one) == 60 for one in shown.values())


def test_a_mark_stands_where_the_code_ended_while_the_gpu_went_on():
    went_on, _ = picture(on_h200("ends before its work"))
    assert "stroke-width" in went_on
    waited_for, _ = picture(replace(on_h200("ends before its work"), asynchronous=False))
    assert "stroke-width" not in waited_for


def test_the_legends_parts_add_up_to_the_wall_time():
    assert strip.words(host()) == "CPU: Python 400 ms, waiting 400 ms, native code 200 ms"
    partly = host(p=0.4, w=0.4)
    assert strip.words(partly) == "CPU: Python 400 ms, waiting 400 ms, not sampled 200 ms"


def test_what_was_not_sampled_is_not_drawn():
    drawn, _ = picture(host("pp  ", p=0.5))
    (box,) = re.findall(r'd="(M[^"]+)" fill="url\(#p\)', drawn)
    assert box == "M0 0h360v13h-360z"


def test_each_kind_has_a_colour_and_a_pattern_of_its_own():
    samples = [(colour, lines) for _, colour, lines in strip.HOST.values()]
    assert len({colour for colour, _ in samples}) == len({lines for _, lines in samples}) == len(samples)


def test_a_cell_without_lanes_has_no_strip():
    assert strip.picture(example_record()) == strip.legend(example_record()) == []


def test_a_gpu_that_did_nothing_is_idle_and_not_unknown():
    lane = GpuLane(0.01, "0" * 50, "0" * 50, 0.0, 0.0)
    record = with_wall(0.5, gpu_work=(GpuWork("gpu:0", 1, 0.0, lane=lane),))
    assert strip.words(record) == "GPU: idle"


def test_a_lane_that_is_not_known_says_so():
    assert strip.not_drawn(on_h200("training")) == ["CPU: not sampled"]
    assert strip.not_drawn(host()) == []
    counted = Reading("device_time", 0.3, "s", "process", "IORegistry", 5, device="gpu:0")
    mac = replace(host(), readings=(*host().readings, counted))
    assert strip.not_drawn(mac) == ["GPU: not drawn, its driver counts in coarse steps"]
    assert "GPU: not drawn" in html.receipt(mac)
    ran = RanOn("torch", "gpu:0", "cuda", None, None, None, None, "allocator")
    unknown = replace(host(), device=replace(host().device, ran_on=(ran,)))
    assert strip.not_drawn(unknown) == ["GPU: not known"]


def test_ten_gpus_are_one_lane_and_each_has_its_sums():
    one = on_h200("training").gpu_work[0]
    works = tuple(replace(one, device=f"gpu:{number}") for number in range(10))
    record = replace(on_h200("training"), gpu_work=works)
    drawn, told = picture(record)
    assert told.count("kernels") == 10
    assert 'height="13"' in drawn
    (line,) = strip.text(record)
    assert line.startswith("10 GPUs ")


def test_a_notebook_keeps_the_lanes_of_ten_gpus_and_the_kernels_of_the_busiest():
    one = on_h200("training").gpu_work[0]
    one = replace(one, kernels=(KernelSum("gemm", 9, 0.5),))
    works = tuple(replace(one, device=f"gpu:{number}") for number in range(10))
    data = bundle(replace(on_h200("training"), gpu_work=works))[MIME_TYPE]
    kept = Record.from_json(data).gpu_work
    assert [work.lane for work in kept] == [one.lane] * 10
    assert sum(bool(work.kernels) for work in kept) == 1
    assert data["cut"]["gpu_work"] == 9
    again = bundle(Record.from_json(data), data["cut"])[MIME_TYPE]
    assert (again["gpu_work"], again["cut"]) == (data["gpu_work"], data["cut"])


def test_the_height_of_several_gpus_is_the_mean_of_theirs():
    idle, half, full = (GpuLane(0.01, digit * 2, "00", 0.0, 0.0) for digit in "049")
    assert strip.together([idle, full]) == [(4.5, 0), (4.5, 0)]
    assert strip.together([half]) == [(4, 0), (4, 0)]
    assert strip.together([]) == []


@pytest.mark.parametrize("name", CELLS)
def test_a_notebooks_receipt_keeps_its_strip_whole(name):
    shown = bundle(replace(on_h200(name), host_lane=host("pnw" * 80).host_lane))
    record = shown[MIME_TYPE]
    assert "cut" not in record
    assert record["gpu_work"][0]["lane"]["kernels"] == on_h200(name).gpu_work[0].lane.kernels
    assert "<img" in "".join(shown["text/html"])


def test_the_busiest_strip_is_whole_as_well():
    lane = GpuLane(0.01, "0123456789" * 24, "9876543210" * 24, 1.2, 1.2, "01234" * 48)
    work = GpuWork("gpu:0", 9, 0.1, lane=lane)
    record = replace(host("pnwic" * 48, wall=2.4), gpu_work=(work,))
    lines = tuple(StripLine(100_000 + number, 1_000) for number in range(36))
    record = replace(record, host_lane=replace(record.host_lane, ran=PLACES[:24] * 10, lines=lines))
    assert "cut" not in bundle(record)[MIME_TYPE]


def test_a_strip_is_read_back_as_it_was_written():
    record = replace(on_h200("copies"), host_lane=host().host_lane)
    assert Record.from_json(record.to_json()) == record
    assert Record.from_json(record.to_notebook()).host_lane == record.host_lane
