"""PyTorch, JAX and MLX in a real kernel; `make test-frameworks` has them installed."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.kernel

needs = pytest.mark.needs
TWO_JAX_CPUS = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
#: What importing JAX sets: a kernel that is given back has the environment that it was lent with.
SET_BY_JAX = {"TF_CPP_MIN_LOG_LEVEL": "1", "TPU_SKIP_MDS_QUERY": "1"}


@pytest.fixture
def two_jax_cpus(reload_kernel):
    """A kernel whose JAX has two devices, and may have started before."""
    return reload_kernel(**TWO_JAX_CPUS, **SET_BY_JAX)


@pytest.fixture
def fresh_jax(start_kernel):
    """The same, without JAX as yet."""
    return start_kernel(**TWO_JAX_CPUS)


@needs("jax")
def test_cells_run_on_the_jax_device_asked_for(fresh_jax):
    fresh_jax.run("import jax")
    assert "cpu:1 (JAX)" in fresh_jax.run("%mlc_device cpu:1").text
    result = fresh_jax.run("print((jax.numpy.ones(2) + 1).devices())")
    assert "id=1" in result.text
    assert result.receipt["device"]["requested"] == {"*": "cpu:1"}


@needs("jax")
def test_a_cell_may_have_a_device_of_its_own(two_jax_cpus):
    two_jax_cpus.run("import jax")
    two_jax_cpus.run("%mlc_device cpu:0")
    alone = two_jax_cpus.run("%%mlc_device cpu:1\nprint((jax.numpy.ones(2) + 1).devices())")
    assert "id=1" in alone.text
    assert alone.receipt["device"]["requested"] == {"*": "cpu:1"}
    assert alone.receipt["cell"]["name"].startswith("print")
    after = two_jax_cpus.run("print((jax.numpy.ones(2) + 1).devices())")
    assert "id=0" in after.text
    assert after.receipt["device"]["requested"] == {"*": "cpu:0"}


@needs("jax")
def test_a_cell_with_a_device_of_its_own_may_hold_another_cell_magic(two_jax_cpus):
    two_jax_cpus.run("import jax")
    timed = two_jax_cpus.run("%%mlc_device cpu:1\n%%time\nprint((jax.numpy.ones(2) + 1).devices())")
    assert "id=1" in timed.text
    assert "Wall time" in timed.text


@needs("jax")
def test_a_cell_whose_own_device_is_missing_does_not_run(two_jax_cpus):
    two_jax_cpus.run("import jax")
    refused = two_jax_cpus.run("%%mlc_device gpu:7\nprint('it ran')")
    assert "There is no device gpu:7 here: found cpu:0, cpu:1." in refused.text
    assert "it ran" not in refused.text
    assert "Traceback" not in refused.text
    assert "Device: Automatic" in two_jax_cpus.run("%mlc_device").text


@needs("jax")
def test_a_cell_that_raises_leaves_its_own_device(two_jax_cpus):
    two_jax_cpus.run("import jax")
    assert two_jax_cpus.run("%%mlc_device cpu:1\n1 / 0").error == "ZeroDivisionError: division by zero"
    assert "id=0" in two_jax_cpus.run("print((jax.numpy.ones(2) + 1).devices())").text


@needs("jax")
def test_tracing_cells_and_asking_for_the_cpu_do_not_start_jax(fresh_jax):
    fresh_jax.run("%mlc_device cpu")
    fresh_jax.run("import jax")
    fresh_jax.run("x = 1")
    started = "import jax._src.xla_bridge as b; print(b.backends_are_initialized())"
    assert fresh_jax.run(started).text == "False\n"
    assert "id=0" in fresh_jax.run("print((jax.numpy.ones(2) + 1).devices())").text


@needs("jax")
def test_asking_for_the_memory_does_not_start_jax(fresh_jax):
    fresh_jax.run("import jax")
    shown = fresh_jax.run("%mlc_device status").text
    assert "JAX has not used a device yet, so its allocator was not queried." in shown
    started = "import jax._src.xla_bridge as b; print(b.backends_are_initialized())"
    assert fresh_jax.run(started).text == "False\n"


@needs("jax")
def test_work_that_jax_does_after_the_cells_last_line_is_in_the_wall_time(two_jax_cpus):
    two_jax_cpus.run(
        "import jax, time\n"
        "x = jax.block_until_ready(jax.numpy.ones((1500, 1500)))\n"
        "product = jax.jit(lambda x: x @ x @ x @ x @ x @ x)\n"
        "jax.block_until_ready(product(x))"
    )
    cell = two_jax_cpus.run(
        "begun = time.perf_counter(); y = product(x); gone_on = not y.is_ready(); "
        "dispatched = time.perf_counter() - begun"
    )
    told = two_jax_cpus.run("print(gone_on, y.is_ready(), dispatched)").text.split()
    assert told[:2] == ["True", "True"]
    assert cell.value("wall_time") > 2 * float(told[2])


@needs("torch", "jax")
def test_each_framework_may_have_its_own_device(fresh_jax):
    fresh_jax.run("import torch, jax")
    assert fresh_jax.run("%mlc_device cpu").text.count("cpu:0 (") == 2
    fresh_jax.run("%mlc_device cpu:1 --framework jax")
    result = fresh_jax.run("print((jax.numpy.ones(2) + 1).devices(), torch.ones(1).device)")
    assert "id=1" in result.text
    assert result.receipt["device"]["requested"] == {"torch": "cpu:0", "jax": "cpu:1"}


@needs("torch", "jax")
def test_a_framework_that_lacks_the_device_is_named_and_stays_where_it_was(fresh_jax):
    fresh_jax.run("import torch, jax")
    said = fresh_jax.run("%mlc_device cpu:1").text
    assert "Cells run on cpu:1 (JAX) from now on. PyTorch has no such device: its work stays" in said
    result = fresh_jax.run("print((jax.numpy.ones(2) + 1).devices(), torch.ones(1).device)")
    assert "id=1" in result.text
    assert result.receipt["device"]["requested"] == {"jax": "cpu:1"}


@needs("tensorflow", "jax")
def test_a_jax_that_tensorflow_has_imported_neither_refuses_nor_starts(start_kernel):
    notebook = start_kernel(JAX_PLATFORMS="cpu")
    notebook.run(
        "import tensorflow as tf, sys\n"
        "cpu = tf.config.list_physical_devices('CPU')[0]\n"
        "tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)",
        timeout=120,
    )
    assert (
        "Cells run on cpu:1 (TensorFlow) from now on. Anything already"
        in notebook.run("%mlc_device cpu:1").text
    )
    result = notebook.run(
        "tf.ones(2) + 1.0\nprint(sys.modules['jax']._src.xla_bridge.backends_are_initialized())"
    )
    assert result.text == "False\n"
    assert result.receipt["device"]["requested"] == {"*": "cpu:1"}


@needs("torch", "jax", "mlx")
def test_only_imported_frameworks_are_touched(fresh_jax):
    fresh_jax.run("import torch")
    listed = fresh_jax.run("%mlc_device list").text
    assert "PyTorch cpu" in listed
    assert "JAX is installed but not imported" in listed
    assert "MLX is installed but not imported" in listed
    assert fresh_jax.run("import sys; print('jax' in sys.modules, 'mlx.core' in sys.modules)").text == (
        "False False\n"
    )


@needs("torch", "jax")
def test_with_several_installed_and_none_imported_the_framework_has_to_be_named(start_kernel):
    notebook = start_kernel()
    refused = notebook.run("%mlc_device gpu")
    assert "several are installed" in refused.text
    assert "--framework" in refused.text
    named = notebook.run("%mlc_device cpu --framework torch")
    assert "(PyTorch) from now on" in named.text


@needs("torch")
def test_the_list_tells_memory_verification_and_why_there_is_no_gpu(start_kernel):
    listed = start_kernel().run("%mlc_device list --framework torch").text
    assert "memory; seen working on Linux x86-64, PyTorch" in listed
    assert "gpu:    none: PyTorch" in listed or "gpu:0" in listed


@needs("mlx")
def test_mlx_cells_name_what_they_have_not_computed_and_a_later_one_computes_it(start_kernel):
    notebook = start_kernel()
    result = notebook.run("import mlx.core as mx\nx = mx.ones((8, 8)) + 1")
    assert "`x` not computed yet (MLX is lazy)" in str(result.outputs)
    assert notebook.run("mx.eval(x)").value("peak_memory_allocator") > 0


@needs("torch")
def test_a_default_device_that_the_cell_sets_itself_is_put_back_and_said(start_kernel):
    notebook = start_kernel()
    notebook.run("import torch")
    notebook.run("%mlc_device cpu")
    result = notebook.run("torch.set_default_device('meta'); print(torch.ones(1).device)")
    assert "meta" in result.text
    assert any("default device itself" in note for note in result.receipt["notes"])
    assert "cpu" in notebook.run("print(torch.ones(1).device)").text


@needs("torch", "keras")
def test_keras_on_torch_is_sent_to_the_device_too(start_kernel):
    notebook = start_kernel(KERAS_BACKEND="torch")
    notebook.run("import keras\nfrom keras.src.backend.common.global_state import get_global_attribute")
    notebook.run("%mlc_device cpu")
    assert notebook.run("print(get_global_attribute('torch_device'))").text == "cpu\n"


@pytest.mark.slow
@needs("torch", "keras")
def test_keras_on_torch_shuffles_its_data_also_where_a_gpu_was_asked_for(start_kernel):
    # PyTorch's DataLoader cannot shuffle while another device than the CPU is the default; "meta" is one.
    notebook = start_kernel(KERAS_BACKEND="torch")
    notebook.run(
        "import keras, torch\n"
        "from jupyter_mlgpu.measure.frameworks.base import Device\n"
        "from jupyter_mlgpu.measure.frameworks.torch.scope import TorchScope\n"
        "gpu = Device('torch', 'gpu:0', 'cuda', 'meta')"
    )
    shuffled = "print(len([*torch.utils.data.DataLoader(range(4), shuffle=True)]))"
    result = notebook.run(f"scope = TorchScope(gpu)\n{shuffled}\nprint(scope.holds(), scope.leave())")
    assert result.text == "4\nTrue None\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "%mlc_device cpu --framework caffe",
            "Unknown framework 'caffe' after --framework. Choose tensorflow",
        ),
        ("%mlc_device cpu --framework", "--framework needs a value"),
        ("%%mlc_device list\n1", "%%mlc_device takes one device"),
        ("%%mlc_device tpu\n1", "Choose auto, cpu, gpu, or a numbered device"),
    ],
)
def test_a_mistake_is_one_sentence(plain, line, words):
    result = plain.run(line)
    assert words in result.text
    assert "Traceback" not in result.text


@needs("torch")
@pytest.mark.parametrize(
    "words", ["--ops --shapes", pytest.param("--ops --repeat 1 --shapes", marks=pytest.mark.slow)]
)
def test_pytorchs_input_shapes_and_flop_are_in_the_table_where_they_are_asked_for(start_kernel, words):
    notebook = start_kernel()
    notebook.run("import torch\nx, y = torch.ones(20, 30), torch.ones(30, 40)\n_ = x @ y")
    plain = notebook.run("%%mlc_trace --ops\n_ = x @ y").receipt
    asked = notebook.run(f"%%mlc_trace {words}\n_ = x @ y").receipts[-1]
    (without,), (product,) = (
        [row for row in one["ops"] if row["name"] == "aten::mm"] for one in (plain, asked)
    )
    assert (without["shapes"], without["flops"]) == (None, None)
    assert (product["shapes"], product["flops"]) == ("20x30, 30x40", 2 * 20 * 30 * 40)
    assert any("not reported" in note for note in plain["notes"])
    assert not any("not reported" in note for note in asked["notes"])


@needs("torch")
def test_what_pytorch_prints_of_a_macs_gpu_is_in_the_table_of_a_profiled_cell(start_kernel):
    # The line is printed here as PyTorch's source prints it on a Mac, by native code to standard error.
    notebook = start_kernel(PYTORCH_MPS_LOG_PROFILE_INFO="391")
    line = "aten::add_dense:MPS:Float[2, 3]:MPS:Float[2, 3] (id=K7, run=2, gpu=0.013 ms, cpu=0.005 ms)"
    notebook.run("import os, torch")
    cell = f"torch.ones(2) + 1\n_ = os.write(2, {line!r}.encode() + b'\\n')"
    assert notebook.run(cell).receipt["ops"] == []  # a light cell
    receipt = notebook.run(f"%%mlc_trace --ops\n{cell}").receipt
    (row,) = [one for one in receipt["ops"] if one["plane"] == "device"]
    assert (row["name"], row["count"], row["self_time"]) == ("aten::add_dense", 1, 0.013e-3)
    assert row["profiler"] == "from PyTorch's own MPS log, GPU time"
    assert any("may be counted more than once" in note for note in receipt["notes"])
