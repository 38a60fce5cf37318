"""A word for a device is understood once, and says what exists where it names nothing."""

import pytest

from jupyter_mlgpu.record.device_request import AUTO, DeviceWord, in_words
from jupyter_mlgpu.record.errors import DeviceError, UsageError
from jupyter_mlgpu.testing import FakeBackend

DEVICES = FakeBackend(devices=("cpu:0", "cpu:1", "gpu:0")).devices()


@pytest.mark.parametrize(
    ("written", "device"),
    [("cpu", "cpu:0"), ("cpu:1", "cpu:1"), ("gpu", "gpu:0"), (" GPU:0 ", "gpu:0"), ("auto", "gpu:0")],
)
def test_a_word_names_a_device(written, device):
    assert DeviceWord.parse(written).find(DEVICES).name == device


@pytest.mark.parametrize("written", ["cpu", "cpu:1", "gpu", "gpu:0", "auto"])
def test_a_word_is_written_as_it_was_read(written):
    assert str(DeviceWord.parse(written)) == written


def test_any_is_the_cpu_where_there_is_no_gpu():
    assert AUTO.find(DEVICES[:2]).name == "cpu:0"


@pytest.mark.parametrize("written", ["tpu", "cpu:", "gpu:x", "any:1", "cpu:1:2", "", "gpu:" + "9" * 5_000])
def test_an_unknown_word_is_answered_with_the_valid_ones(written):
    with pytest.raises(UsageError, match="auto, cpu, gpu, or a numbered device"):
        DeviceWord.parse(written)


def test_a_device_that_is_missing_is_named_with_those_that_exist_and_whose_they_are():
    with pytest.raises(DeviceError, match=r"no device gpu:7 here for torch: found cpu:0, cpu:1, gpu:0\."):
        DeviceWord("gpu", 7).find(DEVICES, " for torch")
    with pytest.raises(DeviceError, match=r"no device cpu:0 here: found none\."):
        DeviceWord("cpu").find([])


@pytest.mark.parametrize(
    ("written", "needed"), [("cpu", False), ("auto", False), ("gpu", True), ("cpu:0", True)]
)
def test_only_a_framework_knows_of_gpus_and_of_numbered_devices(written, needed):
    assert DeviceWord.parse(written).needs_framework is needed


def test_devices_asked_for_are_said_in_words():
    assert in_words({}) == ""
    assert in_words({"*": "gpu:0"}) == "gpu:0"
    assert in_words({"*": "cpu", "torch": "gpu:0"}) == "cpu, torch gpu:0"
