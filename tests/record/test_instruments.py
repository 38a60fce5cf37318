"""Readings are told apart by their source and device, never by the text that describes the instrument."""

from msgspec.structs import replace

from jupyter_mlgpu.record.instruments import Instrument, Instruments, display_names
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.testing import example_record


def record(*energies: tuple[float, str | None, str]) -> Record:
    readings = [
        Reading("energy", value, "J", "device", "NVML", 1, device=device, detail=detail)
        for value, device, detail in energies
    ]
    return replace(example_record(), readings=tuple(readings))


def test_one_instrument_described_in_other_words_is_the_same_one():
    records = [record((1.0, "GPU 0", "every 50 ms")), record((2.0, "GPU 0", "every 100 ms"))]
    instruments = Instruments(records, "energy")
    assert [instruments.values(one) for one in records] == [
        {("NVML", "GPU 0", None): 1.0},
        {("NVML", "GPU 0", None): 2.0},
    ]


def test_two_devices_read_by_one_kind_of_instrument_are_two():
    both = record((1.0, "GPU 0", "counter"), (2.0, "GPU 1", "counter"))
    assert Instruments([both], "energy").values(both) == {
        ("NVML", "GPU 0", None): 1.0,
        ("NVML", "GPU 1", None): 2.0,
    }


def test_two_instruments_of_a_kind_on_one_device_are_told_apart_by_their_detail_in_every_record():
    both, alone = (
        record((1.0, "GPU 0", "counter"), (2.0, "GPU 0", "sampled")),
        record((3.0, "GPU 0", "sampled")),
    )
    instruments = Instruments([both, alone], "energy")
    assert instruments.values(both) == {("NVML", "GPU 0", "counter"): 1.0, ("NVML", "GPU 0", "sampled"): 2.0}
    assert instruments.values(alone) == {("NVML", "GPU 0", "sampled"): 3.0}


def test_of_readings_that_nothing_tells_apart_the_largest_stands_for_all():
    old = record((1.0, None, "counter"), (2.0, None, "counter"))
    assert Instruments([old], "energy").values(old) == {("NVML", None, None): 2.0}


def test_an_instrument_is_called_by_its_device_unless_another_reads_that_one_too():
    gpu, other, replayed = (
        Instrument("NVML", "gpu:0"),
        Instrument("NVML", "gpu:1"),
        Instrument("other", "gpu:0"),
    )
    assert display_names([gpu, other]) == {gpu: "gpu:0", other: "gpu:1"}
    assert display_names([gpu, replayed]) == {gpu: "NVML, gpu:0", replayed: "other, gpu:0"}
    assert display_names([Instrument("RAPL", None)]) == {("RAPL", None, None): "RAPL"}
