"""What one item took follows from the record and the number the user told."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.items import NAME, fact, per_item
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.items import sentence
from jupyter_mlgpu.testing import example_record


def record(items=6400, *energy, **changes):
    plain = example_record()
    readings = tuple(
        replace(one, value=5.0) if one.quantity == "wall_time" else one
        for one in plain.readings
        if one.quantity != "energy" or not energy
    )
    facts = {} if items is None else {NAME: fact(items, "%%mlc_trace --items")}
    return replace(plain, readings=(*readings, *energy), facts=facts, **changes)


GPU = Reading("energy", 3520.0, "J", "device", "NVML", 20, uncertainty=35.2, detail="NVML counter of GPU 0")
CPU = Reading("energy", 320.0, "J", "machine", "RAPL", 2)


def test_time_and_energy_are_divided_by_the_number_of_items():
    found = per_item(record(6400, GPU))
    assert (found.items, found.per_second) == (6400, 1280.0)
    (energy,) = found.energy
    assert (energy.value, energy.uncertainty) == (pytest.approx(0.55), pytest.approx(0.0055))


def test_each_source_has_its_own_energy_an_item():
    assert [one.instrument for one in per_item(record(6400, GPU, CPU)).energy] == [
        "NVML counter of GPU 0",
        "RAPL",
    ]


def test_the_sentence_names_the_counter_and_keeps_the_uncertainty():
    assert sentence(record(6400, GPU)) == (
        "6,400 items: 1,280 per second; 0.550 J ± 0.006 each (NVML counter of GPU 0)."
    )


def test_without_energy_the_sentence_says_so():
    assert sentence(record(64)) == "64 items: 12.8 per second; energy not measured."


def test_a_record_that_was_told_no_number_has_no_rate():
    assert per_item(record(None)) is None
    assert sentence(record(None)) is None


def test_a_profiled_cell_has_no_items_a_second():
    found = per_item(record(6400, GPU, mode="profiled"))
    assert found.per_second is None
    assert sentence(record(6400, mode="profiled")).startswith("6,400 items: items per second not measured")


def test_a_record_read_from_a_file_has_the_same_rate():
    plain = record(6400, GPU)
    assert per_item(Record.from_json(plain.to_json())) == per_item(plain)


@pytest.mark.parametrize("value", ["many", 0, -1, 1.5, True, None])
def test_a_strangers_record_with_nonsense_for_items_has_no_rate(value):
    data = record(6400, GPU).to_json()
    data["facts"][NAME]["value"] = value
    assert per_item(Record.from_json(data)) is None


@pytest.mark.parametrize("items", [0, -5, 1.5, True, "6400"])
def test_a_number_of_items_that_is_none_is_refused_in_one_sentence(items):
    with pytest.raises(RecordError, match="whole number of at least 1"):
        fact(items, "typed")
