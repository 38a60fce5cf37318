"""A word for a device is understood once, and says what exists where it names nothing."""

import pytest

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record.device_request import AUTO, DeviceWord, in_words
from jupyter_mlgpu.record.errors import DeviceError, OtherGpuError, UsageError
from jupyter_mlgpu.testing import FakeBackend

DEVICES = FakeBackend(devices=("cpu:0", "cpu:1", "gpu:0")).devices()
CPU = Device("torch", "cpu:0", "cpu", "cpu")


def machine(kind):
    """Return the devices of a machine with two GPUs of a kind."""
    return (CPU, *(Device("torch", f"gpu:{number}", kind, f"{kind}:{number}") for number in (0, 1)))


@pytest.mark.parametrize(
    ("written", "device"),
    [("cpu", "cpu:0"), ("cpu:1", "cpu:1"), ("gpu", "gpu:0"), (" GPU:0 ", "gpu:0"), ("auto", "gpu:0")],
)
def test_a_word_names_a_device(written, device):
    assert DeviceWord.parse(written).find(DEVICES).name == device


@pytest.mark.parametrize("written", ["cpu", "cpu:1", "gpu", "gpu:0", "auto"])
def test_a_word_is_written_as_it_was_read(written):
    assert str(DeviceWord.parse(written)) == written


@pytest.mark.parametrize(
    ("written", "kind", "device"),
    [
        ("mps", "metal", "gpu:0"),
        ("mps:0", "metal", "gpu:0"),
        ("Metal", "metal", "gpu:0"),
        ("cuda", "cuda", "gpu:0"),
        (" CUDA:1 ", "cuda", "gpu:1"),
        ("cuda:1", "rocm", "gpu:1"),
    ],
)
def test_the_name_of_a_gpu_is_a_word_for_it(written, kind, device):
    assert DeviceWord.parse(written).find(machine(kind)).name == device


@pytest.mark.parametrize(("written", "short"), [("mps", "gpu"), ("METAL:0", "gpu:0"), ("cuda:1", "gpu:1")])
def test_records_keep_the_short_name_and_sentences_the_one_that_was_typed(written, short):
    word = DeviceWord.parse(written)
    assert (str(word), word.as_typed) == (short, written.lower())
    assert word.needs_framework


@pytest.mark.parametrize(
    ("written", "kind", "sentence"),
    [
        ("mps", "cuda", "This machine's GPU is CUDA's: use `gpu`. Nothing was changed."),
        ("metal:1", "cuda", "This machine's GPU is CUDA's: use `gpu:1`. Nothing was changed."),
        ("mps", "rocm", "This machine's GPU is ROCm's: use `gpu`. Nothing was changed."),
        ("cuda", "metal", "This machine's GPU is Metal's: use `gpu`. Nothing was changed."),
    ],
)
def test_the_name_of_another_kind_of_gpu_is_answered_with_the_word_that_works(written, kind, sentence):
    with pytest.raises(OtherGpuError) as refused:
        DeviceWord.parse(written).find(machine(kind))
    assert str(refused.value) == sentence


def test_where_there_is_no_gpu_its_name_is_repeated_with_what_there_is():
    with pytest.raises(DeviceError, match=r"no device mps:0 here: found cpu:0\."):
        DeviceWord.parse("mps").find([CPU])


def test_a_misspelt_name_of_a_gpu_is_answered_with_the_right_one():
    with pytest.raises(UsageError, match="metal"):
        DeviceWord.parse("mettal")


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
