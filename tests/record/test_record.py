"""A record survives being written and read, and refuses what is no record."""

import json
from importlib.resources import files

import jsonschema
import pytest
import schemas
from IPython.lib.pretty import pretty
from msgspec.structs import replace

from jupyter_mlgpu.record.errors import NewerSchemaError, RecordError
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import Fact, OpStat, Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.testing import example_record

SCHEMA = json.loads(files("jupyter_mlgpu").joinpath("record/record.schema.json").read_text())


def written() -> dict:
    return json.loads(json.dumps(example_record().to_json()))


def test_a_record_reads_back_as_it_was_written():
    assert Record.from_json(written()) == example_record()


def test_the_json_of_a_record_follows_the_schema_in_the_repository():
    jsonschema.validate(written(), SCHEMA)


def test_the_schema_refuses_a_reading_with_neither_value_nor_reason():
    data = written()
    data["readings"][2]["why_missing"] = None
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_the_schema_in_the_repository_is_the_one_of_the_types():
    assert schemas.record_schema() == SCHEMA, "run `make schemas`"
    assert SCHEMA["$defs"]["Reading"]["properties"]["quantity"]["examples"] == list(QUANTITIES)


def test_a_whole_number_stays_one_so_that_a_receipt_made_again_is_as_large_as_before():
    memory = Reading("memory_process", 723369984, "bytes", "process", "operating system", 1)
    record = replace(example_record(), readings=(example_record().readings[0], memory))
    read = Record.from_json(json.loads(json.dumps(record.to_json())))
    assert json.dumps(read.to_json()) == json.dumps(record.to_json())


def test_sentences_with_fields_read_back_wherever_a_record_has_a_text():
    source = say("log message {id}", id="device-set")
    operation = OpStat("MatMul", "t", "cpu:0", 3, 0.1, 0.2, say("the profiler of {name}", name="MLX"), "host")
    record = replace(example_record(), facts={"gpu_name": Fact("M1", source)}, ops=(operation,))
    read = Record.from_json(json.loads(json.dumps(record.to_json())))
    assert read == record
    assert read.facts["gpu_name"].source.fields == {"id": "device-set"}


def test_a_sentence_in_a_field_that_is_a_text_for_every_reader_is_written_as_a_text():
    record = replace(example_record(), started_at=say("{when} in the morning", when="9"))
    assert record.to_json()["started_at"] == "9 in the morning"
    assert type(record.to_json()["started_at"]) is str


def test_an_uncertainty_reads_back_and_one_that_is_not_stated_takes_no_room():
    record = example_record()
    energy = Reading("energy", 12.3, "J", "device", "simulated", 20, uncertainty=0.4, detail="a counter")
    known = replace(record, readings=(record.readings[0], energy))
    data = known.to_json()
    jsonschema.validate(data, SCHEMA)
    assert ["uncertainty" in one for one in data["readings"]] == [False, True]
    assert Record.from_json(json.loads(json.dumps(data))) == known


def test_a_reading_of_a_device_names_it_and_one_of_none_takes_no_room_for_that():
    record = example_record()
    idle = Reading(
        "device_idle", 0.25, "share", "device", "simulated", 3, device="gpu:0", detail="a profiler"
    )
    known = replace(record, readings=(record.readings[0], idle))
    data = known.to_json()
    jsonschema.validate(data, SCHEMA)
    assert ["device" in one for one in data["readings"]] == [False, True]
    assert Record.from_json(json.loads(json.dumps(data))) == known


def test_a_share_above_the_whole_is_refused():
    idle = Reading("device_idle", 1.5, "share", "device", "simulated", 3, device="gpu:0", detail="a profiler")
    data = replace(example_record(), readings=(*example_record().readings, idle)).to_json()
    with pytest.raises(RecordError, match=r"readings\[9\]\.value should be a share from 0 to 1, found 1\.5"):
        Record.from_json(data)


@pytest.mark.parametrize("uncertainty", [-0.1, float("nan"), float("inf")])
def test_an_uncertainty_that_is_no_half_width_is_refused(uncertainty):
    with pytest.raises(RecordError, match="uncertainty"):
        Reading("energy", 1.0, "J", "device", "simulated", 1, uncertainty=uncertainty, detail="a counter")


def test_what_is_not_known_has_no_uncertainty():
    with pytest.raises(RecordError, match="uncertainty"):
        Reading(
            "energy", None, "J", "device", "simulated", 0, "Too short.", uncertainty=0.1, detail="a counter"
        )


def test_an_unknown_value_needs_a_reason():
    with pytest.raises(RecordError, match="either a value or a reason"):
        Reading("energy", None, "J", "cell", "none", 0, None)


def test_a_known_value_may_not_carry_a_reason_for_its_absence():
    with pytest.raises(RecordError, match="either a value or a reason"):
        Reading("energy", 1.0, "J", "cell", "none", 1, "it is not there")


def test_a_missing_reading_is_none_and_never_zero():
    reading = missing("energy", "No counter here.")
    assert reading.value is None
    assert reading.why_missing == "No counter here."


def test_a_limit_is_printed_and_shown_as_its_sentence():
    limit = Limit("waiting", "sure", say("Waited for {what}.", what="a disk"), 0.9)
    assert str(limit) == "Waited for a disk."
    assert pretty(limit) == "Waited for a disk."


def test_a_record_of_a_later_version_names_both_versions():
    data = written() | {"schema": 3}
    with pytest.raises(NewerSchemaError, match=r"schema 3, this jupyter_mlgpu reads schema 2: update"):
        Record.from_json(data)


def test_a_record_of_an_earlier_version_names_both_versions():
    data = written() | {"schema": 1}
    with pytest.raises(RecordError, match=r"has schema 1, this jupyter_mlgpu reads schema 2$"):
        Record.from_json(data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"run": None}, "run should be an object"),
        ({"run": {"id": 3}}, r"run\.id should be a text, found 3"),
        ({"cell": {"sequence": True}}, r"cell\.sequence should be a whole number, found True"),
        ({"readings": 7}, "readings should be a list"),
        ({"outcome": "fine"}, "outcome should be one of error, interrupted, ok, found 'fine'"),
        ({"started_at": 5}, "started_at should be a text, found 5"),
    ],
)
def test_what_is_wrong_in_a_broken_record_is_named(change, words):
    with pytest.raises(RecordError, match=words):
        Record.from_json(written() | change)


@pytest.mark.parametrize("nonsense", [None, 3, "text", [], {}])
def test_anything_that_is_no_record_is_refused_as_such(nonsense):
    with pytest.raises(RecordError):
        Record.from_json(nonsense)


def test_keys_of_a_later_minor_version_are_ignored():
    assert Record.from_json(written() | {"weather": "fine"}) == example_record()


def test_asking_for_a_quantity_the_record_lacks_names_those_it_has():
    with pytest.raises(RecordError, match="it holds: wall_time, cpu_time"):
        example_record().reading("speed")
