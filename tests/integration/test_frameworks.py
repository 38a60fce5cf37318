"""PyTorch, JAX and MLX in a real kernel; `make test-frameworks` has them installed."""

from __future__ import annotations

import pytest

needs = pytest.mark.needs


@pytest.fixture
def two_jax_cpus(start_kernel):
    return start_kernel(XLA_FLAGS="--xla_force_host_platform_device_count=2", JAX_PLATFORMS="cpu")


@needs("jax")
def test_cells_run_on_the_jax_device_asked_for(two_jax_cpus):
    two_jax_cpus.run("import jax")
    assert "cpu:1 (JAX)" in two_jax_cpus.run("%mlc_device cpu:1").text
    result = two_jax_cpus.run("print((jax.numpy.ones(2) + 1).devices())")
    assert "id=1" in result.text
    assert result.receipt["device"]["requested"] == "cpu:1"


@needs("jax")
def test_a_cell_may_have_a_device_of_its_own(two_jax_cpus):
    two_jax_cpus.run("import jax")
    two_jax_cpus.run("%mlc_device cpu:0")
    alone = two_jax_cpus.run("%%mlc_device cpu:1\nprint((jax.numpy.ones(2) + 1).devices())")
    assert "id=1" in alone.text
    assert alone.receipt["device"]["requested"] == "cpu:1"
    assert alone.receipt["cell"]["name"].startswith("print")
    after = two_jax_cpus.run("print((jax.numpy.ones(2) + 1).devices())")
    assert "id=0" in after.text
    assert after.receipt["device"]["requested"] == "cpu:0"


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
    assert "No device asked for" in two_jax_cpus.run("%mlc_device").text


@needs("jax")
def test_a_cell_that_raises_leaves_its_own_device(two_jax_cpus):
    two_jax_cpus.run("import jax")
    assert two_jax_cpus.run("%%mlc_device cpu:1\n1 / 0").error == "ZeroDivisionError: division by zero"
    assert "id=0" in two_jax_cpus.run("print((jax.numpy.ones(2) + 1).devices())").text


@needs("jax")
def test_tracing_cells_and_asking_for_the_cpu_do_not_start_jax(two_jax_cpus):
    two_jax_cpus.run("%mlc_device cpu")
    two_jax_cpus.run("import jax")
    two_jax_cpus.run("x = 1")
    started = "import jax._src.xla_bridge as b; print(b.backends_are_initialized())"
    assert two_jax_cpus.run(started).text == "False\n"
    assert "id=0" in two_jax_cpus.run("print((jax.numpy.ones(2) + 1).devices())").text


@needs("jax")
def test_asking_for_the_memory_does_not_start_jax(two_jax_cpus):
    two_jax_cpus.run("import jax")
    shown = two_jax_cpus.run("%mlc_device status").text
    assert "JAX has not used a device yet, so its allocator was not asked." in shown
    started = "import jax._src.xla_bridge as b; print(b.backends_are_initialized())"
    assert two_jax_cpus.run(started).text == "False\n"


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
def test_each_framework_may_have_its_own_device(two_jax_cpus):
    two_jax_cpus.run("import torch, jax")
    assert two_jax_cpus.run("%mlc_device cpu").text.count("cpu:0 (") == 2
    two_jax_cpus.run("%mlc_device cpu:1 --framework jax")
    result = two_jax_cpus.run("print((jax.numpy.ones(2) + 1).devices(), torch.ones(1).device)")
    assert "id=1" in result.text
    assert result.receipt["device"]["requested"] == "torch cpu:0, jax cpu:1"


@needs("torch", "jax")
def test_a_device_that_one_framework_lacks_is_refused_by_its_name(two_jax_cpus):
    two_jax_cpus.run("import torch, jax")
    assert (
        "There is no device cpu:1 here for torch: found cpu:0." in two_jax_cpus.run("%mlc_device cpu:1").text
    )


@needs("torch", "jax", "mlx")
def test_only_imported_frameworks_are_touched(two_jax_cpus):
    two_jax_cpus.run("import torch")
    listed = two_jax_cpus.run("%mlc_device list").text
    assert "PyTorch cpu" in listed
    assert "JAX is installed and not imported" in listed
    assert "MLX is installed and not imported" in listed
    assert two_jax_cpus.run("import sys; print('jax' in sys.modules, 'mlx.core' in sys.modules)").text == (
        "False False\n"
    )


@needs("torch", "jax")
def test_with_several_installed_and_none_imported_the_framework_has_to_be_named(start_kernel):
    notebook = start_kernel()
    refused = notebook.run("%mlc_device gpu")
    assert "several are installed" in refused.text
    assert "--framework" in refused.text
    named = notebook.run("%mlc_device any --framework torch")
    assert "(PyTorch) from now on" in named.text


@needs("torch")
def test_the_list_tells_memory_verification_and_why_there_is_no_gpu(start_kernel):
    listed = start_kernel().run("%mlc_device list --framework torch").text
    assert "memory; seen working on Linux x86-64, PyTorch" in listed
    assert "gpu:    none: PyTorch" in listed or "gpu:0" in listed


@needs("mlx")
def test_mlx_cells_say_that_unevaluated_work_falls_into_later_cells(start_kernel):
    notebook = start_kernel()
    result = notebook.run("import mlx.core as mx\nx = mx.ones((8, 8)) + 1")
    assert "left unevaluated" in result.receipt["device"]["why_missing"]
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


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "%mlc_device cpu --framework caffe",
            "Unknown framework 'caffe' after --framework. Choose tensorflow",
        ),
        ("%mlc_device cpu --framework", "--framework needs a name"),
        ("%%mlc_device list\n1", "After %%mlc_device comes one device"),
        ("%%mlc_device tpu\n1", "Choose cpu, gpu, any, or a numbered device"),
    ],
)
def test_a_mistake_is_one_sentence(plain, line, words):
    result = plain.run(line)
    assert words in result.text
    assert "Traceback" not in result.text
