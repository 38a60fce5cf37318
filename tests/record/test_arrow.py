"""Records as an Arrow table: the columns of the pandas table, and what is unknown is null."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.errors import MissingPackageError
from jupyter_mlgpu.record.frames import Records
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.testing import example_record

pytestmark = pytest.mark.needs("nanoarrow")


def several():
    """Three records: an ordinary one, one without a cell's number, and a profiled one of two GPUs."""
    unnumbered = example_record(2)
    unnumbered = replace(unnumbered, cell=replace(unnumbered.cell, execution_count=None))
    gpus = [
        Reading("device_time", seconds, "s", "device", "profiler", 3, device=f"gpu:{number}")
        for number, seconds in enumerate((0.25, 0.75))
    ]
    others = [one for one in example_record().readings if one.quantity != "device_time"]
    profiled = replace(example_record(3), mode="profiled", readings=(*others, *gpus))
    return Records([example_record(1), unnumbered, profiled])


def types(table):
    return {field.name: field.type.name for field in table.schema.fields}


@pytest.mark.needs("pandas")
@pytest.mark.parametrize("records", [several(), Records()], ids=["three", "none"])
def test_it_has_the_columns_and_values_of_the_pandas_table(records):
    import pandas

    table = records.to_arrow()
    frame = records.to_frame().reset_index()
    assert list(types(table)) == list(frame.columns)
    ours = pandas.DataFrame(table.to_pylist(), columns=list(frame.columns))
    for name in frame.columns:
        pandas.testing.assert_series_equal(ours[name].astype(frame[name].dtype), frame[name])


def test_figures_are_numbers_and_the_start_is_a_time_in_utc():
    table = several().to_arrow()
    found = types(table)
    assert (found["run"], found["cell"], found["asynchronous"]) == ("STRING", "INT64", "BOOL")
    assert (found["wall_time_s"], found["peak_memory_process_bytes"]) == ("DOUBLE", "DOUBLE")
    assert table.to_pylist()[0]["started_at"] == datetime(2026, 1, 1, tzinfo=UTC)


def test_what_was_not_measured_is_null_never_0_and_its_reason_stands_beside_it():
    first, unnumbered, profiled = several().to_arrow().to_pylist()
    assert (first["energy_J"], first["energy_why_missing"]) == (None, "Not measured here.")
    assert (first["wall_time_s"], first["wall_time_why_missing"]) == (0.5, None)
    assert unnumbered["execution_count"] is None
    assert profiled["wall_time_s"] is None
    assert profiled["device_time_s [profiler, gpu:1]"] == 0.75


def test_no_records_are_a_table_without_rows_that_has_the_types_of_others():
    table = Records().to_arrow()
    assert len(table) == 0
    assert types(table) == types(Records([example_record()]).to_arrow())


def test_half_a_character_in_a_name_costs_only_itself():
    assert Records([example_record(name="\ud800 + 1")]).to_arrow().to_pylist()[0]["name"] == "? + 1"


def test_without_nanoarrow_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoarrow", None)
    with pytest.raises(MissingPackageError, match=r"A table needs the package nanoarrow, .*\[arrow\]"):
        Records([example_record()]).to_arrow()


def test_nanoarrow_is_imported_only_for_a_table():
    code = "import sys, jupyter_mlgpu; jupyter_mlgpu.records(); print('nanoarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
