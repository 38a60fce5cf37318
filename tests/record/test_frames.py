"""Records as pandas tables: units in the names, missing stays missing."""

import math
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

import jupyter_mlgpu
from jupyter_mlgpu.record.errors import MissingPackageError
from jupyter_mlgpu.record.frames import Records
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import OpStat
from jupyter_mlgpu.testing import example_record

# No pandas in the environment with the other Python, in which the unit tests run as well.
pytestmark = pytest.mark.needs("pandas")


def test_a_record_is_a_row_with_units_in_the_columns_names():
    frame = Records([example_record(1), example_record(2, name="model.predict(x)")]).to_frame()
    assert list(frame.index.names) == ["run", "cell"]
    assert list(frame.index.get_level_values("cell")) == [1, 2]
    assert list(frame["name"]) == ["model.fit(x, y)", "model.predict(x)"]
    assert list(frame["wall_time_s"]) == [0.5, 0.5]
    assert list(frame["peak_memory_process_bytes"]) == [512 * 1024**2] * 2
    assert list(frame["ran_on"]) == ["cpu:0", "cpu:0"]


def test_what_was_not_measured_is_missing_never_0_and_its_reason_stands_beside_it():
    frame = Records([example_record()]).to_frame()
    assert math.isnan(frame["energy_J"].iloc[0])
    assert frame["energy_why_missing"].iloc[0] == "Not measured here."
    assert frame["wall_time_why_missing"].isna().all()
    assert str(frame["energy_J"].dtype) == "float64"


def test_the_start_is_a_time_and_the_number_of_the_cell_may_be_missing():
    unnumbered = example_record(2)
    unnumbered = replace(unnumbered, cell=replace(unnumbered.cell, execution_count=None))
    frame = Records([example_record(1), unnumbered]).to_frame()
    assert frame["started_at"].iloc[0] == datetime(2026, 1, 1, tzinfo=UTC)
    assert frame["execution_count"].iloc[0] == 1
    assert frame["execution_count"].isna().tolist() == [False, True]


def test_times_of_a_profiled_record_are_no_timings_and_so_not_in_the_table():
    frame = Records([replace(example_record(), mode="profiled")]).to_frame()
    assert math.isnan(frame["wall_time_s"].iloc[0])
    assert frame["wall_time_why_missing"].iloc[0] == "Measured with a profiler on, so it is no timing."
    assert frame["peak_memory_process_bytes"].iloc[0] == 512 * 1024**2


def test_a_quantity_of_two_devices_has_a_column_for_each():
    record = example_record()
    several = [
        Reading("device_time", seconds, "s", "device", "profiler", 3, device=f"gpu:{number}")
        for number, seconds in enumerate((0.25, 0.75))
    ]
    others = [one for one in record.readings if one.quantity != "device_time"]
    record = replace(record, readings=(*others, *several))
    frame = Records([record, example_record(2)]).to_frame()
    assert frame["device_time_s [profiler, gpu:0]"].iloc[0] == 0.25
    assert frame["device_time_s [profiler, gpu:1]"].iloc[0] == 0.75
    assert math.isnan(frame["device_time_s [profiler, gpu:1]"].iloc[1])
    reasons = frame["device_time_why_missing [profiler, gpu:1]"]
    assert reasons.iloc[1] == "Light tracing runs without a profiler."


def test_two_frameworks_allocators_on_one_device_have_a_column_each():
    record = example_record()
    two = [
        Reading("peak_memory_allocator", value, "bytes", "device", "allocator", 1, device="gpu:0", detail=of)
        for of, value in (("torch.cuda", 3.0), ("Device.memory_stats", 5.0))
    ]
    others = [one for one in record.readings if one.quantity != "peak_memory_allocator"]
    frame = Records([replace(record, readings=(*others, *two))]).to_frame()
    assert frame["peak_memory_allocator_bytes [allocator, gpu:0, torch.cuda]"].iloc[0] == 3
    assert frame["peak_memory_allocator_bytes [allocator, gpu:0, Device.memory_stats]"].iloc[0] == 5


def test_operations_are_rows_of_a_table_of_their_own():
    row = OpStat("aten::mm", "mm", "gpu:0", 3, 0.5, 0.75, "fake profiler", "device", 0.9, "2x2", None, 8.0)
    frame = Records([replace(example_record(4), ops=(row,)), example_record(5)]).operations()
    assert list(frame.index) == [("0" * 32, 4)]
    assert frame["self_time_s"].tolist() == [0.5]
    assert frame["flop"].tolist() == [8.0]
    assert frame["copied_bytes"].isna().all()


@pytest.mark.parametrize("table", ["to_frame", "operations"])
def test_no_records_are_a_table_without_rows(table):
    frame = getattr(Records(), table)()
    assert len(frame) == 0
    assert list(frame.index.names) == ["run", "cell"]


def test_records_are_a_sequence():
    one, two = example_record(1), example_record(2)
    records = Records([one, two])
    assert (len(records), records[-1], list(records)) == (2, two, [one, two])
    assert isinstance(records[1:], Records)
    assert records == Records([one, two])
    assert repr(records) == "<2 records; .to_frame() makes a table of them>"


def test_the_records_of_this_process_can_be_made_a_table():
    with jupyter_mlgpu.trace("a block for the table"):
        pass
    assert jupyter_mlgpu.records().to_frame()["name"].iloc[-1] == "a block for the table"


def test_without_pandas_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"A table needs the package pandas, .*\[dataframe\]"):
        Records([example_record()]).to_frame()


def test_pandas_is_imported_only_for_a_table():
    code = "import sys, jupyter_mlgpu; jupyter_mlgpu.records(); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
