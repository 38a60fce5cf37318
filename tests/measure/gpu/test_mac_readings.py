"""What is kept of a Mac's GPU for tests: the lists of `ioreg` without names of other processes.

The last tests read the registry and the kernel of the Mac that they run on.
"""

import os
import sys
from pathlib import Path

import pytest
from mac_readings import redacted_list, redacted_text

from jupyter_mlgpu.measure.gpu.mac_clients import ACCELERATOR, MacClients
from jupyter_mlgpu.measure.probes.mac_gpu import Gauges
from jupyter_mlgpu.testing import FakeRegistry

DATA = Path(__file__).parents[2] / "data" / "ioreg"
OURS = 4245

on_a_mac = pytest.mark.skipif(sys.platform != "darwin", reason="reads the registry of a Mac")


@pytest.mark.parametrize("name", ["apple_silicon", "intel_and_amd"])
def test_the_text_keeps_this_process_and_no_name_of_another(name):
    text = (DATA / f"{name}.txt").read_text()
    kept = redacted_text(text, OURS)
    assert "WindowServer" in text
    assert not any(one in kept for one in ("WindowServer", "runningboardd", "voxel_game"))
    assert "pid 4245, python3.12" in kept
    named = text.replace('"AppUsage" = ()', '"AppUsage" = ()\n  |     "Entitlements" = "com.example.browser"')
    assert "com.example" not in redacted_text(named, OURS)
    before, after = (MacClients(lambda text=text: FakeRegistry(text), lambda: OURS) for text in (text, kept))
    assert list(before.read(search=True)) == list(after.read(search=True)) != []


def test_the_property_list_keeps_this_process_and_no_name_of_another():
    clients = [
        {
            "IOUserClientCreator": "pid 440, WindowServer",
            "AppUsage": [{"accumulatedGPUTime": 7}],
            "Entitlements": "com.example.browser",
        },
        {"IOUserClientCreator": f"pid {OURS}, python3.12", "AppUsage": []},
        {"IOUserClientCreator": "nonsense"},
    ]
    (gpu,) = redacted_list([{"model": "Apple M3", "IORegistryEntryChildren": clients}], OURS)
    assert gpu["model"] == "Apple M3"
    assert [one["IOUserClientCreator"] for one in gpu["IORegistryEntryChildren"]] == [
        "pid 440, other",
        f"pid {OURS}, python3.12",
        "pid unknown, other",
    ]
    other = gpu["IORegistryEntryChildren"][0]
    assert other["AppUsage"] == [{"accumulatedGPUTime": 7}]
    assert "Entitlements" not in other


@on_a_mac
def test_the_registry_lists_the_gpu_and_its_clients():
    from jupyter_mlgpu.measure.gpu.ioregistry import IoRegistry

    registry = IoRegistry()
    services = registry.services(ACCELERATOR)
    assert services, "no driver of class IOAccelerator"
    for service in services:
        for entry in registry.below(service):
            assert registry.entry_id(entry)
            registry.release(entry)
        registry.release(service)


@on_a_mac
def test_the_gauge_answers_or_says_why_not():
    gauges = Gauges()
    assert gauges.names()
    for name in gauges.names():
        answer = gauges.read(name)
        assert answer.why_missing or 0 <= answer.value <= 1


@on_a_mac
def test_reading_this_process_s_clients_raises_nothing():
    clients = MacClients(pid=os.getpid)
    found = clients.read(search=True)
    assert clients.why_none(found) is not None or found
    clients.close()
