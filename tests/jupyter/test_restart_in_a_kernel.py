"""Where only a restart helps, a real kernel says so, offers it, and has changed nothing."""

import subprocess
import sys

import pytest

from jupyter_mlgpu.jupyter.notebook.magics.restart import MIME_TYPE
from tests.support.later import Later
from tests.support.reading import as_read

pytestmark = pytest.mark.kernel

nbformat = Later("nbformat")

SENTENCE = "TensorFlow is already imported and has read its settings, so nothing was changed."
PREPARE = '__import__("jupyter_mlgpu.jupyter.notebook.magics.restart", fromlist=["prepare"]).prepare("on")'
#: Makes the machine one with an NVIDIA GPU, as its driver tells.
GPU_MACHINE = (
    "from jupyter_mlgpu.measure.frameworks import hardware\n"
    "from jupyter_mlgpu.measure.frameworks.base import Details\n"
    "hardware.nvidia = lambda device: Details('NVIDIA H200', 1, 'NVIDIA driver 1')"
)
STARTED = (
    "from jupyter_mlgpu.measure.frameworks import registry\n"
    "backend = registry.backend('tensorflow')\n"
    "print(backend.needs_restart() is None or backend.started())"
)
SET = "import os; print(os.environ.get('TF_CPP_VMODULE'))"


def offered(result) -> dict:
    (data,) = [data for kind, data in result.outputs if kind == "display_data"]
    assert as_read(data[MIME_TYPE])["sentence"] in data["text/plain"]
    assert as_read(data[MIME_TYPE])["by_hand"] in data["text/plain"]
    assert "text/html" in data
    return as_read(data[MIME_TYPE])


@pytest.mark.slow
def test_more_lines_after_the_import_need_a_restart_and_before_it_none(start_kernel):
    notebook = start_kernel(CUDA_VISIBLE_DEVICES="", TF_CPP_VMODULE=None)
    notebook.run("import tensorflow as tf")

    result = notebook.run("%mlc_trace verbose on")
    assert result.status == "ok"
    offer = offered(result)
    assert offer["sentence"].startswith(SENTENCE)
    assert offer["verbose"] == "on"
    assert "os.environ['TF_CPP_VMODULE'] = 'execute=1,placer=1'" in offer["by_hand"]
    assert result.text == ""
    assert notebook.run(SET).text == "None\n"

    # The same kernel hides a GPU, so that TensorFlow is imported once for both.
    notebook.run(GPU_MACHINE)
    notebook.run("%mlc_device cpu")
    result = notebook.run("%mlc_device gpu")
    assert result.status == "error"
    offer = offered(result)
    assert offer["sentence"].startswith("CUDA_VISIBLE_DEVICES='' hides this machine's NVIDIA GPU")
    assert offer["by_hand"].endswith("Kernel > Restart Kernel and Run up to Selected Cell.")
    assert offer["verbose"] is None
    assert result.text == (
        "UsageError: There is no device gpu here until the kernel is restarted: found cpu:0; "
        "nothing was changed.\n"
    )
    listed = notebook.run("%mlc_device list --framework tensorflow").text
    assert "gpu:    none: CUDA_VISIBLE_DEVICES='' hides this machine's NVIDIA GPU" in listed
    assert "Requested device: cpu:0." in notebook.run("%mlc_device").text
    assert notebook.run(STARTED).text == "False\n", "who asks does not start TensorFlow"


@pytest.mark.slow
def test_a_fresh_kernel_is_prepared_without_a_trace_and_says_later_that_it_is_set(start_kernel):
    notebook = start_kernel(extension=False, TF_CPP_VMODULE=None, TF_CPP_MIN_LOG_LEVEL="3")
    prepared = notebook.run(PREPARE, silent=True, store_history=False)
    assert prepared.status == "ok"
    assert notebook.run("%who").text == "Interactive namespace is empty.\n"
    assert notebook.run("%load_ext jupyter_mlgpu").text == ""
    notebook.run("import tensorflow as tf")
    result = notebook.run("%mlc_trace verbose on")
    assert result.text.startswith("Set TF_CPP_VMODULE=execute=1,placer=1")
    assert [data for kind, data in result.outputs if kind == "display_data"] == []
    notebook.run("%mlc_trace verbose off")
    assert notebook.run(SET).text == "None\n"


@pytest.mark.slow
def test_a_headless_run_goes_on_and_its_notebook_says_the_sentence(tmp_path):
    cells = ["import tensorflow as tf", "%mlc_trace verbose on", "done = True"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    source = tmp_path / "late.ipynb"
    nbformat.write(notebook, source)
    words = [
        "-c",
        "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())",
        "run",
        str(source),
    ]
    subprocess.run([sys.executable, *words, "--out", str(tmp_path / "out")], check=True, timeout=240)
    cell = nbformat.read(tmp_path / "out" / "late.ipynb", 4).cells[1]
    (output,) = [one for one in cell.outputs if one.output_type == "display_data"]
    assert output.data["text/plain"].startswith(SENTENCE)
    assert MIME_TYPE in output.data
