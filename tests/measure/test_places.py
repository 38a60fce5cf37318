"""Where a cell ran, by the values that its code names."""

from collections import Counter

import pytest

from jupyter_mlgpu.measure.frameworks.base import Observed
from jupyter_mlgpu.measure.frameworks.placed_values import PlacedValue
from jupyter_mlgpu.measure.frameworks.places import with_values
from jupyter_mlgpu.record.record import DeviceUse, RanOn
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.testing import FakeBackend

WHY = Sentence("Not reported.")
UNKNOWN = DeviceUse({}, None, WHY)


class Placing(FakeBackend):
    """A framework that computes where values are: `on` names their devices."""

    def __init__(self, name="fake", devices=("cpu:0", "gpu:0"), **on):
        super().__init__(name, devices)
        self.on = on

    def placed_values(self, values):
        return [
            PlacedValue(name, Counter({self.on[name]: 1}), "weights") for name in values if name in self.on
        ]

    def left_on_cpu_note(self, placed):
        return Sentence(f"{placed[0].name} is on the CPU.") if placed else None


def places(*backends, names=("x", "model"), device=UNKNOWN, worked=None, default=None):
    return with_values(
        device,
        {backend.name: backend.placed_values(dict.fromkeys(names, 1)) for backend in backends},
        backends,
        {backend.name: Observed(None, WHY, default=default) for backend in backends},
        {backend.name for backend in backends} if worked is None else worked,
    )


def told(found):
    return [(one.framework, one.device, one.evidence) for one in found.device.ran_on or ()]


@pytest.mark.parametrize("device", ["cpu:0", "gpu:0"])
def test_a_framework_that_worked_used_the_device_of_all_the_values(device):
    found = places(Placing(x=device, model=device))
    assert told(found) == [("fake", device, "values")]
    assert "More may have run elsewhere" in found.device.ran_on[0].why_missing


def test_without_work_values_prove_nothing():
    assert places(Placing(x="cpu:0"), worked=()).device is UNKNOWN


def test_values_on_two_devices_do_not_show_which_one_was_used():
    assert places(Placing(x="cpu:0", model="gpu:0")).device is UNKNOWN


def test_values_without_data_are_on_no_device():
    assert places(Placing(x="meta:0")).device is UNKNOWN
    assert told(places(Placing(x="meta:0", model="gpu:0"))) == [("fake", "gpu:0", "values")]


def test_without_values_it_was_the_default_device_if_that_is_known():
    assert told(places(Placing(), default="cpu:0")) == [("fake", "cpu:0", "default device")]
    assert places(Placing()).device is UNKNOWN


def test_a_framework_with_one_device_needs_no_evidence():
    assert places(Placing(devices=("cpu:0",), x="cpu:0")).device is UNKNOWN


def test_what_a_framework_reported_stays_and_another_one_is_added():
    counted = RanOn("known", "gpu:0", "gpu", None, 3, 1.0, None, "counted")
    found = places(
        Placing("known", x="cpu:0"), Placing("other", x="cpu:0"), device=DeviceUse({}, (counted,), WHY)
    )
    assert told(found) == [("known", "gpu:0", "counted"), ("other", "cpu:0", "values")]


def test_a_model_left_on_the_cpu_is_mentioned_and_one_on_the_gpu_is_not():
    assert places(Placing(model="cpu:0")).notes == ("model is on the CPU.",)
    assert places(Placing(model="gpu:0")).notes == ()
