"""What the server tells of its machine: rates of the last moment, and one look for all who ask at a time."""

import asyncio
import json

import pytest

from jupyter_mlgpu.jupyter.server.machine import MachineGauges, handlers
from jupyter_mlgpu.measure.probes import gpus
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.live import CounterReader
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.testing import FakeGpu, FakeNvml


class Time:
    def __init__(self):
        self.seconds = 100.0

    def now(self):
        return self.seconds

    async def pause(self, seconds):
        self.seconds += seconds


@pytest.fixture
def time():
    return Time()


def machine(time, *cards):
    found = Lazy(lambda: gpus.find(Nvml(FakeNvml(*cards))))
    return MachineGauges(CounterReader(found, now=time.now, process=False), time.now, time.pause)


def told(answer):
    return {
        (one["device"], one["quantity"]): value
        for one, value in zip(answer["series"], answer["values"], strict=True)
    }


def test_it_tells_of_the_machine_and_its_gpus_and_of_no_process(time):
    answer = asyncio.run(machine(time, FakeGpu("NVIDIA H200")).sample())
    assert {device for device, _ in told(answer)} == {"machine", "GPU 0 (NVIDIA H200)"}
    assert told(answer)["machine", "memory"] > 0
    assert answer["time"].endswith("Z")
    json.dumps(answer)


def test_the_first_answer_has_the_processors_use(time):
    answer = asyncio.run(machine(time).sample())
    assert told(answer)["machine", "utilisation"] is not None


def test_after_a_while_in_which_nobody_asked_the_rate_is_that_of_the_last_moment(time):
    async def ask():
        of_machine = machine(time)
        first = await of_machine.sample()
        time.seconds += 3600
        begun = time.seconds
        again = await of_machine.sample()
        return first, begun, again

    first, begun, again = asyncio.run(ask())
    assert first["t"] < begun < again["t"]  # it has looked twice
    assert told(again)["machine", "utilisation"] is not None


def test_several_pages_that_ask_at_once_share_a_look(time):
    async def ask():
        of_machine = machine(time)
        return await asyncio.gather(of_machine.sample(), of_machine.sample())

    one, other = asyncio.run(ask())
    assert one is other


def test_the_address_follows_the_servers_own():
    ((address, _, _),) = handlers("/user/ada/")
    assert address == "/user/ada/jupyter-mlgpu/machine"
