"""What only a restart brings is told from what is not there, and said with the way to it."""

from types import SimpleNamespace

import pytest

from jupyter_mlgpu.explain.logs.verbose import of_this_process
from jupyter_mlgpu.jupyter.notebook.magics.restart import MIME_TYPE, bundle, prepare
from jupyter_mlgpu.measure.frameworks import hardware
from jupyter_mlgpu.measure.frameworks.base import Details
from jupyter_mlgpu.measure.frameworks.jax.backend import hidden_by_configuration as jax_hidden
from jupyter_mlgpu.measure.frameworks.tensorflow.backend import hidden_by_configuration as tensorflow_hidden
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError, RestartNeededError, UsageError
from jupyter_mlgpu.testing import FakeBackend

HIDES = "The fake was told to hide its GPU: first take that line out."


@pytest.fixture
def nvidia(monkeypatch):
    """A machine with one NVIDIA GPU, as its driver tells."""
    monkeypatch.setattr(hardware, "nvidia", lambda device: Details("NVIDIA H200", 1, "NVIDIA driver 1"))


@pytest.fixture
def no_nvidia(monkeypatch):
    monkeypatch.setattr(hardware, "nvidia", lambda device: Details())


def refused(selection: DeviceSelection, word: str = "gpu") -> RestartNeededError:
    with pytest.raises(RestartNeededError) as error:
        selection.select(DeviceWord.parse(word))
    return error.value


def test_a_gpu_that_is_hidden_until_a_restart_is_refused_with_the_way_to_it():
    backend = FakeBackend(devices=("cpu:0",))
    backend.hidden = HIDES
    selection = DeviceSelection(lambda: [backend])
    selection.select(DeviceWord.parse("cpu"))
    error = refused(selection)
    assert error.sentence == HIDES
    assert error.refusal == (
        "There is no device gpu here until the kernel is restarted: found cpu:0; nothing was changed."
    )
    assert str(error) == f"{error.refusal} {HIDES}"
    assert error.by_hand.endswith("Kernel > Restart Kernel and Run up to Selected Cell.")
    assert selection.requested() == {"*": "cpu:0"}


def test_a_gpu_that_is_not_there_needs_no_restart():
    selection = DeviceSelection(lambda: [FakeBackend(devices=("cpu:0",))])
    with pytest.raises(DeviceError) as error:
        selection.select(DeviceWord.parse("gpu"))
    assert not isinstance(error.value, RestartNeededError)


def test_a_cpu_that_is_not_there_is_never_a_matter_of_a_restart():
    backend = FakeBackend(devices=("cpu:0",))
    backend.hidden = HIDES
    with pytest.raises(DeviceError) as error:
        DeviceSelection(lambda: [backend]).select(DeviceWord.parse("cpu:3"))
    assert not isinstance(error.value, RestartNeededError)


def test_of_several_frameworks_the_one_that_hides_its_gpu_is_named():
    backend = FakeBackend("two", ("cpu:0",))
    backend.hidden = HIDES
    error = refused(DeviceSelection(lambda: [FakeBackend("one", ("cpu:0",)), backend]), "gpu:0")
    assert "no device gpu:0 here for two until the kernel is restarted" in error.refusal


def test_a_framework_that_hides_its_gpu_leaves_the_others_theirs():
    backend = FakeBackend("two", ("cpu:0",))
    backend.hidden = HIDES
    selection = DeviceSelection(lambda: [FakeBackend("one", ("cpu:0", "gpu:0")), backend])
    selection.select(DeviceWord.parse("gpu:0"))
    assert selection.requested() == {"one": "gpu:0"}
    assert selection.lacking() == ["two"]


@pytest.mark.parametrize("value", ["", "-1", " ", "none", "-1,0"])
def test_a_variable_that_names_no_gpu_hides_the_gpu_of_the_machine(nvidia, value):
    said = hardware.hidden_by_cuda("PyTorch", {"CUDA_VISIBLE_DEVICES": value})
    assert said.startswith(f"CUDA_VISIBLE_DEVICES={value!r} hides this machine's NVIDIA GPU from PyTorch")


@pytest.mark.parametrize("value", ["0", "1,0", " 0", "GPU-8932f937", "MIG-12"])
def test_a_variable_that_names_a_gpu_hides_not_all(nvidia, value):
    assert hardware.hidden_by_cuda("PyTorch", {"CUDA_VISIBLE_DEVICES": value}) is None


def test_without_the_variable_nothing_is_hidden(nvidia):
    assert hardware.hidden_by_cuda("PyTorch", {}) is None


def test_a_machine_without_an_nvidia_gpu_has_none_to_hide(no_nvidia):
    assert hardware.hidden_by_cuda("PyTorch", {"CUDA_VISIBLE_DEVICES": ""}) is None
    assert jax_hidden("cpu", ["cpu", "cuda"], True) is None


def tensorflow_config(visible: int, physical: int) -> SimpleNamespace:
    return SimpleNamespace(
        get_visible_devices=lambda kind: [kind] * visible,
        list_physical_devices=lambda kind: [kind] * physical,
    )


@pytest.mark.parametrize(
    ("visible", "physical", "started", "needed"),
    [(0, 1, True, True), (0, 1, False, False), (1, 1, True, False), (0, 0, True, False)],
)
def test_tensorflow_shows_a_hidden_gpu_only_after_a_restart_once_it_has_started(
    visible, physical, started, needed
):
    said = tensorflow_hidden(tensorflow_config(visible, physical), started)
    assert (said is not None) == needed
    assert said is None or "tf.config.set_visible_devices" in said


@pytest.mark.parametrize(
    ("platforms", "plugins", "started", "needed"),
    [
        ("cpu", ["cpu", "cuda"], True, True),
        ("cpu", ["cpu", "METAL"], True, True),
        ("cpu", ["cpu", "mps"], True, True),
        ("cpu", ["cpu", "metal"], True, True),
        ("mps,cpu", ["cpu", "mps", "metal"], True, False),
        ("metal", ["cpu", "metal"], True, False),
        ("cpu", ["cpu", "cuda"], False, False),
        ("cpu", ["cpu", "tpu"], True, False),
        ("cuda,cpu", ["cpu", "cuda"], True, False),
        ("gpu", ["cpu", "cuda"], True, False),
        ("", ["cpu", "cuda"], True, False),
        (None, ["cpu", "cuda"], True, False),
    ],
)
def test_jax_takes_another_platform_only_after_a_restart_once_it_has_started(
    nvidia, platforms, plugins, started, needed
):
    said = jax_hidden(platforms, plugins, started)
    assert (said is not None) == needed
    assert said is None or said.startswith("JAX was told to use only cpu")


def test_the_output_holds_our_type_for_the_button_and_the_sentences_for_everything_else():
    made = bundle(RestartNeededError("Was told <so>.", "Do it by hand.", refusal="No.", verbose="on"))
    assert made[MIME_TYPE] == {"sentence": "Was told <so>.", "by_hand": "Do it by hand.", "verbose": "on"}
    assert made["text/plain"] == "Was told <so>.\nDo it by hand."
    assert "Was told &lt;so&gt;.\nDo it by hand." in made["text/html"]


def test_a_fresh_kernel_is_given_the_words_of_the_magic_and_no_others(monkeypatch):
    monkeypatch.delenv("TORCH_LOGS", raising=False)
    verbose = of_this_process()
    prepare("TORCH_LOGS=recompiles")
    assert verbose.environ["TORCH_LOGS"] == "recompiles"
    verbose.command("off", {})
    assert "TORCH_LOGS" not in verbose.environ
    with pytest.raises(UsageError, match="choose on, all, mlc, off or status"):
        prepare("__import__('os').abort()")
