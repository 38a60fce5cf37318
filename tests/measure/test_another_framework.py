"""A framework from elsewhere: registered by the public door, it is served as those of the package are.

`abacus/` holds the framework, and beside it the folder that describes it.
"""

import shutil
from pathlib import Path

import pytest

from jupyter_mlgpu.experiment.bench.run import load

pytestmark = pytest.mark.kernel

ABACUS = Path(__file__).parents[1] / "support" / "abacus"
REGISTER = (
    "import os, sys\n"
    "sys.path.insert(0, {folder!r})\n"
    "os.environ['PYTHONPATH'] = os.pathsep.join(filter(None, ({folder!r}, os.environ.get('PYTHONPATH'))))\n"
    "from jupyter_mlgpu.measure.frameworks import registry\n"
    "registry.register('abacus', 'abacus', 'mlgpu_abacus:FRAMEWORK')"
)


@pytest.fixture
def notebook(start_kernel, tmp_path):
    """A kernel that can import Abacus, as if pip had installed it, and knows it."""
    folder = tmp_path / "installed"
    shutil.copytree(ABACUS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    metadata = folder / "abacus-6.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: abacus\nVersion: 6.1\n")
    started = start_kernel()
    assert started.run(REGISTER.format(folder=str(folder))).status == "ok"
    return started


def answer(result):
    """The text that a cell shows as its result."""
    (shown,) = [data["text/plain"] for kind, data in result.outputs if kind == "execute_result"]
    return shown


def test_its_devices_are_listed_with_what_was_verified_and_it_is_imported_for_that(notebook):
    listed = notebook.run("%mlc_device list --framework abacus").text
    assert "Importing Abacus to see its devices" in listed
    assert "cpu:0   cpu     Abacus fake cpu:0; fake cpu; seen working on a desk" in listed
    assert "gpu:0   gpu     Abacus fake gpu:0; fake gpu; not yet tested on such hardware" in listed
    unknown = notebook.run("%mlc_device list --framework abakus").text
    assert "Choose tensorflow, torch, jax, mlx, abacus." in unknown


def test_a_receipt_says_where_it_ran_from_the_cell_that_imports_it_on(notebook):
    first = notebook.run("import abacus\nabacus.add(1, 2)")
    assert first.ran_on == {"cpu:0": 1}
    assert first.receipt["versions"]["abacus"] == "6.1"
    assert notebook.run("%mlc_device gpu").status == "ok"
    second = notebook.run("abacus.add(1, 2); abacus.add(3, 4)")
    assert second.ran_on == {"gpu:0": 2}
    assert second.receipt["device"]["ran_on"][0]["framework"] == "abacus"


def test_one_that_cannot_be_loaded_is_refused_when_it_is_registered_and_cells_are_measured(notebook):
    refused = notebook.run("registry.register('broken', 'json', 'mlgpu_broken:FRAMEWORK')")
    assert "No module named 'mlgpu_broken'" in refused.error
    assert notebook.run("import json, abacus; abacus.add(1, 2)").ran_on == {"cpu:0": 1}


def test_a_profile_is_refused_with_its_own_reason(notebook):
    notebook.run("import abacus")
    notes = notebook.run("%%mlc_trace --ops\nabacus.add(1, 2)").receipt["notes"]
    assert "Abacus has no profiler: count the beads." in " ".join(notes)


@pytest.mark.parametrize("fresh", ["", "--fresh --setup import_it "])
def test_it_races_on_its_devices_and_the_table_has_its_notes(notebook, fresh):
    notebook.run("import abacus")
    if fresh:
        notebook.run("import_it = 'import abacus'")
    raced = notebook.run(f"%%mlc_race {fresh}--repeats 3\nabacus.add(1, 1)")
    said = answer(raced)
    assert "with Abacus on cpu:0 (fake cpu) against gpu:0 (fake gpu)" in said
    assert "Abacus works a sum out at once." in said
    assert "The GPU of Abacus is a pretence." in said


def test_the_doctor_finds_its_package_and_asks_it_in_a_process_of_its_own(notebook):
    gathered = notebook.run(
        "from jupyter_mlgpu.explain.doctor.gather import frameworks, kernels, packages, python\n"
        "answer = frameworks.read(lambda name: name == 'abacus', print)['abacus']\n"
        "print(packages.read()['abacus'].version, answer.version, answer.devices, answer.computed)\n"
        "print('abacus' in kernels.packages(), kernels.read().imported)\n"
        "open('abacus.py', 'w').close()\n"
        "from pathlib import Path; print(python.shadows(Path.cwd()))"
    )
    assert gathered.status == "ok", gathered
    assert "Testing abacus, each in its own process" in gathered.text
    assert "6.1 6.1 ('cpu', 'gpu') True" in gathered.text
    assert "('abacus.py',)" in gathered.text


def test_a_benchmark_measures_what_it_has_and_says_what_it_has_not(notebook, tmp_path):
    notebook.run(
        "from jupyter_mlgpu.experiment.bench import session\n"
        "session.QUICK = session.Budget("
        "3, sample_s=0.001, warm_up_s=0.01, seconds=0.01, longest_step_s=1.5)"
    )
    path = tmp_path / "abacus.json"
    done = notebook.run(f"%mlc_bench gemm dispatch --quick --framework abacus --device gpu --out {path}")
    assert done.status == "ok", done
    run = load(path)
    assert run.versions["abacus"] == "6.1"
    assert {one.framework for one in run.results} == {"abacus"}
    measured = [one for one in run.results if one.samples]
    assert {(one.case, one.device, one.type_asked) for one in measured} == {("gemm", "gpu:0", "float32")}
    assert all(one.ran_on == ("gpu:0",) for one in measured)
    assert {one.why for one in run.results if one.case == "dispatch"} == {"Abacus has no images."}
    refused = notebook.run("%mlc_bench resnet50 --quick --framework abacus")
    assert "Abacus trains no models here" in refused.text
