"""What a larger batch would need, and when that cannot be told."""

import os

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain import memory_room
from jupyter_mlgpu.explain.memory_forecast import MemoryLimit, forecast
from jupyter_mlgpu.explain.memory_room import room, used_gpu
from jupyter_mlgpu.jupyter.notebook.magics.fits_command import fits_command, size_in_bytes
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import UsableMemory
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import DeviceUse, RanOn
from jupyter_mlgpu.testing import FakeGpu, FakeNvml, example_record

GIBIBYTE = 1024**3
EIGHT = MemoryLimit(8 * GIBIBYTE, "the given limit")


def run(peak, *, number=1, held=None, allocator=None, source="gpu:0", **changes):
    """A run with a peak in GiB, and what the process held at its end."""
    record = example_record(number)
    readings = [
        Reading(
            "peak_memory_process", peak * GIBIBYTE, "bytes", "process", "simulated", 1, detail="fake probe"
        )
        if peak is not None
        else missing("peak_memory_process", "Nobody looked."),
        missing("peak_memory_allocator", "No allocator.")
        if allocator is None
        else Reading(
            "peak_memory_allocator", allocator * GIBIBYTE, "bytes", "device", "other", 1, device=source
        ),
    ]
    if held is not None:
        readings.append(
            Reading(
                "memory_process", held * GIBIBYTE, "bytes", "process", "simulated", 1, detail="fake probe"
            )
        )
    return replace(record, readings=tuple(readings), **changes)


def test_two_batches_foretell_a_third_and_a_batch_that_fits_is_proposed():
    found = forecast(256, {32: [run(2.0)], 64: [run(3.3)]}, EIGHT)
    assert found.needed == pytest.approx((2.0 + 1.3 * 7) * GIBIBYTE)
    assert (found.fits, found.smaller) == (False, 128)
    assert repr(found).startswith(
        "Batch size 256 needs about 11.1 GiB (peak memory, process); 8 GiB available"
    )
    assert "it does not fit; try 128." in repr(found)


def test_a_batch_with_room_to_spare_fits():
    found = forecast(96, {32: [run(2.0)], 64: [run(3.0)]}, EIGHT)
    assert found.fits is True
    assert "it fits." in repr(found)


def test_a_batch_that_nearly_fills_the_memory_is_too_close():
    found = forecast(224, {32: [run(2.0)], 64: [run(3.0)]}, MemoryLimit(8.2 * GIBIBYTE, "the given limit"))
    assert found.fits is False
    assert "too close to the limit; try 112." in repr(found)


def test_several_runs_give_a_range_and_one_each_says_that_there_is_none():
    several = forecast(128, {32: [run(2.0), run(2.1)], 64: [run(3.0), run(3.1)]}, EIGHT)
    assert several.low < several.needed < several.high
    assert several.low == pytest.approx((2.1 + 0.9 * 3) * GIBIBYTE)
    assert several.high == pytest.approx((2.0 + 1.1 * 3) * GIBIBYTE)
    single = forecast(128, {32: [run(2.0)], 64: [run(3.0)]}, EIGHT)
    assert (single.low, single.high) == (None, None)
    assert "gives no range" in repr(single)


def test_a_range_of_runs_that_scatter_has_no_lower_end_below_nothing():
    found = forecast(512, {32: [run(2.0), run(5.0)], 64: [run(4.0), run(6.0)]}, EIGHT)
    assert found.low < 0
    assert ", at most " in repr(found)
    assert "-" not in repr(found).partition("\n")[0]


def test_one_wild_run_moves_the_figure_little():
    runs = {32: [run(2.0)] * 5, 64: [*[run(3.0)] * 4, run(9.0)]}
    assert forecast(128, runs).needed == pytest.approx(5 * GIBIBYTE)


def test_the_assumption_is_always_said():
    assert "in proportion to the batch" in repr(forecast(128, {32: [run(2)], 64: [run(3)]}, EIGHT))


def test_far_beyond_what_was_measured_is_a_rough_figure():
    measured = {32: [run(2.0)], 64: [run(3.0)]}
    assert "rough figure" in repr(forecast(512, measured))
    assert "rough figure" not in repr(forecast(256, measured))


def test_without_a_limit_the_need_is_told_and_no_verdict():
    found = forecast(128, {32: [run(2.0)], 64: [run(3.0)]})
    assert found.fits is None
    assert "How much is available is not known." in repr(found)


def test_the_allocators_peak_counts_on_a_gpu_and_the_processs_on_a_cpu():
    on_gpu = {32: [run(9, allocator=1)], 64: [run(9, allocator=2)]}
    assert forecast(96, on_gpu).needed == pytest.approx(3 * GIBIBYTE)
    assert forecast(96, on_gpu).quantity == "peak_memory_allocator"
    on_cpu = {32: [run(2, allocator=1, source="cpu:0")], 64: [run(3, allocator=1)]}
    assert forecast(96, on_cpu).quantity == "peak_memory_process"


def test_peaks_that_do_not_grow_cannot_be_extended():
    found = forecast(256, {32: [run(3.0)], 64: [run(3.0)]}, EIGHT)
    assert found.needed is None
    assert found.fits is None
    assert "do not grow with the batch" in repr(found)


def test_a_peak_that_was_not_measured_gives_its_reason():
    found = forecast(256, {32: [run(None)], 64: [run(3.0)]}, EIGHT)
    assert repr(found).endswith("the peak for batch size 32 is not known: Nobody looked.")


def test_runs_that_failed_or_were_profiled_do_not_count():
    runs = {32: [run(2.0), run(7.0, mode="profiled")], 64: [run(3.0), run(0.1, outcome="error")]}
    found = forecast(96, runs)
    assert found.needed == pytest.approx(4 * GIBIBYTE)
    assert "1 run of batch size 32 is not counted" in repr(found)
    none = forecast(96, {32: [run(2.0)], 64: [run(3.0, outcome="error")]})
    assert "none of its runs counts" in repr(none)


def test_a_run_that_imported_a_framework_does_not_count():
    before = run(0.1, number=1, versions={"python": "3.11"})
    importing = run(3.0, number=2, versions={"python": "3.11", "torch": "2.13"})
    again = run(2.0, number=3, versions=importing.versions)
    larger = run(3.0, number=4, versions=importing.versions)
    history = [before, importing, again, larger]
    found = forecast(96, {32: [importing, again], 64: [larger]}, history=history)
    assert found.needed == pytest.approx(4 * GIBIBYTE)
    assert "imported a framework" in repr(found)
    alone = forecast(96, {32: [importing], 64: [larger]}, history=history)
    assert alone.needed is None


def test_memory_that_a_larger_batch_left_hides_what_a_smaller_one_needs():
    larger = run(5.0, number=1, held=3.9)
    smaller = run(4.0, number=2, held=3.9)  # began with 3.9 GiB held: its own need is not seen
    history = [larger, smaller]
    found = forecast(128, {32: [smaller], 64: [larger]}, EIGHT, history)
    assert "the process still held that memory" in repr(found)
    given_back = run(5.0, number=1, held=1.0)
    fine = forecast(128, {32: [smaller], 64: [given_back]}, EIGHT, [given_back, smaller])
    assert fine.needed == pytest.approx(7 * GIBIBYTE)


def test_a_smaller_batch_run_again_after_a_larger_one_does_not_spoil_its_first_run():
    first = run(2.0, number=1, held=1.0)
    larger = run(3.0, number=2, held=2.9)
    again = run(3.0, number=3, held=2.9)
    found = forecast(96, {32: [first, again], 64: [larger]}, history=[first, larger, again])
    assert found.needed == pytest.approx(4 * GIBIBYTE)
    assert "Runs of a smaller batch size after a larger one are not counted" in repr(found)


@pytest.mark.parametrize(
    ("batch", "measured", "said"),
    [
        (0, {32: [], 64: []}, "1 or more"),
        (256, {-1: [], 64: []}, "1 or more"),
        (256, {64: []}, "at least two batch sizes"),
    ],
)
def test_batches_that_make_no_sense_are_refused(batch, measured, said):
    with pytest.raises(UsageError, match=said):
        forecast(batch, measured)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "The batch size is missing"),
        ("big 32=1 64=2", "A batch size is a whole number, found 'big'"),
        ("256 32 64=2", "'32' is not of the form BATCH=CELL"),
        ("256 32=1 32=2", "Batch size 32 is given twice"),
        ("256 32=a 64=2", "A cell is named by its number, not by 'a'"),
        ("256 32=1 64=2 --limit", "--limit needs a value"),
        ("256 32=1 64=2 --limit 8", "found '8'"),
    ],
)
def test_words_that_are_refused(words, said):
    with pytest.raises(UsageError) as refused:
        fits_command(words)
    assert said in str(refused.value)


def test_sizes_are_read_with_their_units():
    assert size_in_bytes("8GiB") == 8 * GIBIBYTE
    assert size_in_bytes("8gb") == 8e9
    assert size_in_bytes("1.5MB") == 1.5e6
    assert size_in_bytes("512b") == 512


def test_the_room_for_a_process_is_what_it_holds_and_what_is_free():
    found = room("peak_memory_process")
    whole = memory.machine().total
    assert 0 < found.bytes <= whole


def test_the_room_on_a_gpu_is_its_memory_but_what_others_hold_there(monkeypatch):
    monkeypatch.setattr(memory, "unified", lambda: False)
    gpu = FakeGpu(total=8 * GIBIBYTE, compute={os.getpid(): 2 * GIBIBYTE, 4_000_000: GIBIBYTE})
    found = room("peak_memory_allocator", Nvml(FakeNvml(gpu)))
    assert found.bytes == 7 * GIBIBYTE
    assert room("peak_memory_allocator", Nvml(FakeNvml(driver=False))) is None


@pytest.fixture
def mac(monkeypatch):
    """A Mac with room for 24 GiB, of which its GPU should use at most 16 GiB."""
    monkeypatch.setattr(memory, "unified", lambda: True)
    monkeypatch.setattr(memory_room, "process_memory", lambda: (2 * GIBIBYTE, "fake"))
    whole = memory.Memory(32 * GIBIBYTE, 10 * GIBIBYTE, 22 * GIBIBYTE)
    monkeypatch.setattr(memory, "machine", lambda: whole)
    monkeypatch.setattr(memory, "container", lambda total, root: None)
    usable = UsableMemory(16 * GIBIBYTE, "torch.mps.recommended_max_memory")
    monkeypatch.setattr(registry, "usable_memory", lambda: usable)
    return whole


@pytest.mark.usefixtures("mac")
def test_on_a_mac_the_room_of_the_gpu_is_what_macos_recommends():
    for found in (room("peak_memory_allocator"), room("peak_memory_process", on_gpu=True)):
        assert found.bytes == 16 * GIBIBYTE
        assert found.of == "the most that macOS recommends for the GPU, torch.mps.recommended_max_memory"
    assert room("peak_memory_process").bytes == 24 * GIBIBYTE


def test_on_a_full_mac_the_room_of_the_gpu_is_what_is_free(mac, monkeypatch):
    free = 6 * GIBIBYTE
    monkeypatch.setattr(memory, "machine", lambda: memory.Memory(mac.total, mac.total - free, free))
    found = room("peak_memory_process", on_gpu=True)
    assert found.bytes == 8 * GIBIBYTE
    assert "free on this machine" in found.of


def test_without_a_recommendation_the_room_of_a_macs_gpu_is_the_machines(mac, monkeypatch):
    monkeypatch.setattr(registry, "usable_memory", lambda: None)
    assert room("peak_memory_allocator").bytes == 24 * GIBIBYTE


def test_a_cell_used_the_gpu_if_it_ran_there_or_was_sent_there():
    record = example_record(1)
    ran_on = RanOn("torch", "gpu:0", "metal", "mps", None, None, evidence="driver")
    assert used_gpu(replace(record, device=DeviceUse({}, (ran_on,))))
    assert used_gpu(replace(record, device=DeviceUse({"torch": "gpu:0"}, None, "Not known.")))
    assert not used_gpu(replace(record, device=DeviceUse({"torch": "cpu:0"}, None, "Not known.")))
    assert not used_gpu(replace(record, device=DeviceUse({"torch": "gpu:0"}, ())))
