"""This machine's roofs are kept in a small file of its user's, and nothing in that file can break a cell."""

import json
import os
import stat

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record import cachefolder, roofs
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.roofs import Roof

pytestmark = pytest.mark.small
ROOF = Roof(
    "0" * 12,
    "torch",
    "gpu:0",
    "NVIDIA H100",
    "bfloat16",
    7e14,
    9,
    "2026-11-24T12:00:00Z",
    "2.11",
    "gemm n=8192",
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(cachefolder.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def found():
    return roofs.read().find("0" * 12, "torch", "gpu:0", "NVIDIA H100", "bfloat16")


def test_a_roof_is_read_as_it_was_kept_and_of_its_own_device_and_type_alone():
    roofs.keep([ROOF])
    assert found() == ROOF
    other = roofs.read()
    assert other.find("1" * 12, "torch", "gpu:0", "NVIDIA H100", "bfloat16") is None
    assert other.find("0" * 12, "torch", "gpu:0", "NVIDIA H200", "bfloat16") is None
    assert other.find("0" * 12, "torch", "gpu:0", "NVIDIA H100", "tf32") is None


def test_without_a_file_there_are_no_roofs_and_nothing_is_wrong(cache):
    assert (list(roofs.read()), roofs.read().problem) == ([], None)
    roofs.keep([])
    assert not cache.exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_only_its_user_can_read_it(cache):
    roofs.keep([ROOF])
    os.chmod(cache / roofs.FILE, 0o644)
    roofs.keep([ROOF])
    assert stat.S_IMODE((cache / roofs.FILE).stat().st_mode) == 0o600


def test_a_busy_machine_lowers_no_roof_and_another_version_has_its_own():
    roofs.keep([ROOF])
    roofs.keep([replace(ROOF, rate=3e14)])
    assert found().rate == 7e14
    roofs.keep([replace(ROOF, rate=8e14)])
    assert found().rate == 8e14
    roofs.keep([replace(ROOF, rate=5e14, version="2.12")])
    assert (found().rate, found().version) == (5e14, "2.12")


def test_disturbed_figures_that_earlier_versions_saved_are_no_roofs():
    roofs.keep([replace(ROOF, noisy=True)])
    assert found() is None
    roofs.keep([replace(ROOF, rate=3e14)])
    assert found().rate == 3e14


def test_roofs_of_other_machines_in_a_shared_folder_stay():
    roofs.keep([ROOF])
    roofs.keep([replace(ROOF, machine="1" * 12)])
    assert found() == ROOF


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not JSON",
        "[]",
        '{"kind": "another program", "roofs": []}',
        '{"kind": "jupyter_mlgpu roofs", "schema": 99, "roofs": []}',
        '{"kind": "jupyter_mlgpu roofs", "schema": 1, "roofs": [{"rate": -1}]}',
        '{"kind": "jupyter_mlgpu roofs", "schema": 1, "roofs": ' + "[" * 5000,
    ],
)
def test_a_file_that_is_damaged_or_somebody_elses_gives_none_and_says_so(cache, content):
    cache.mkdir()
    (cache / roofs.FILE).write_text(content)
    read = roofs.read()
    assert list(read) == []
    assert "`%mlc_bench --quick` writes a new one" in read.problem
    assert str(cache) not in read.problem
    roofs.keep([ROOF])
    assert found() == ROOF


def test_what_is_no_file_is_not_read_and_cannot_be_written(cache):
    (cache / roofs.FILE).mkdir(parents=True)
    assert "is not used" in roofs.read().problem
    with pytest.raises(RecordError):
        roofs.keep([ROOF])


def test_the_file_stays_small(cache):
    roofs.keep([replace(ROOF, machine=f"{number:012}") for number in range(roofs.MOST + 10)])
    assert len(json.loads((cache / roofs.FILE).read_text())["roofs"]) == roofs.MOST
    assert len(list(roofs.read())) == roofs.MOST
