"""Dependencies between the parts point one way, and starting costs little."""

import ast
import functools
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.frameworks import registry

ROOT = Path(jupyter_mlgpu.__file__).parent
NOTEBOOK_LIBRARIES = {"IPython", "anywidget", "ipykernel", "ipywidgets"}
FRAMEWORKS = {"tensorflow", "keras", "torch", "jax", "mlx", "numpy"}

# Each part, and the parts that it may use. `testing` is for tests alone.
MAY_USE = {
    "_version": set(),
    "errors": set(),
    "sentence": set(),
    "decoding": {"errors", "sentence"},
    "plain": {"errors"},
    "devicewords": {"errors"},
    "record_schema_1": {"devicewords"},
    "record": {"decoding", "devicewords", "errors", "record_schema_1", "sentence"},
    "clock": {"errors"},
    "redact": set(),
    "packed": {"record"},
    "store": {"packed", "record"},
    "items": {"errors", "record"},
    "statistics": set(),
    "timing": {"clock", "statistics"},
    "growth": {"record", "statistics"},
    "destinations": {"errors"},
    "incoming": {"errors"},
    "markup": set(),
    "recordlines": {"decoding", "errors", "record"},
    "files": {"destinations", "errors", "incoming", "record", "recordlines"},
    "probes": {"clock", "record"},
    "ops": {"clock", "record"},
    "frameworks": {"clock", "errors", "ops", "probes", "record", "sentence"},
    "guarded": {"frameworks", "probes", "record", "redact"},
    "celltime": {"clock", "errors", "guarded", "record"},
    "recorder": {"frameworks", "celltime", "clock", "guarded", "ops", "probes", "record", "redact"},
    "selection": {"frameworks", "devicewords", "errors"},
    "logs": {"clock", "errors", "record"},
    "comparing": {"errors", "markup", "record", "render", "statistics", "tracing"},
    "memory_forecast": {"errors", "record", "render", "statistics"},
    "memory_room": {"memory_forecast", "probes"},
    "batches": {"memory_forecast", "memory_room", "tracing"},
    "exporting": {"errors", "files", "frameworks", "ops", "record"},
    "engines": {
        "_version",
        "clock",
        "errors",
        "exporting",
        "files",
        "frames",
        "kit",
        "markup",
        "record",
        "render",
    },
    "kit": {"_version", "frameworks", "clock", "logs", "ops", "probes", "recorder", "selection", "store"},
    "frames": {"errors", "record"},
    "tracing": {"frameworks", "errors", "frames", "kit", "record"},
    "render": {"devicewords", "frameworks", "growth", "items", "markup", "probes", "record"},
    "planning": {"errors", "markup"},
    "mlcompute": {"frameworks", "clock", "errors", "planning"},
    "race": {
        "frameworks",
        "clock",
        "errors",
        "files",
        "markup",
        "decoding",
        "guarded",
        "devicewords",
        "plain",
        "record",
        "render",
        "selection",
        "statistics",
        "timing",
    },
    "bench": {
        "_version",
        "frameworks",
        "clock",
        "devicewords",
        "errors",
        "files",
        "guarded",
        "incoming",
        "kit",
        "markup",
        "decoding",
        "plain",
        "probes",
        "race",
        "record",
        "redact",
        "render",
        "selection",
        "statistics",
        "timing",
    },
    "doctor": {
        "_version",
        "clock",
        "errors",
        "files",
        "frameworks",
        "incoming",
        "markup",
        "decoding",
        "plain",
        "probes",
        "redact",
        "sentences",
    },
    "notebook": {
        "_version",
        "frameworks",
        "batches",
        "bench",
        "celltime",
        "clock",
        "comparing",
        "devicewords",
        "doctor",
        "engines",
        "errors",
        "exporting",
        "files",
        "growth",
        "items",
        "kit",
        "logs",
        "markup",
        "planning",
        "probes",
        "race",
        "record",
        "recorder",
        "redact",
        "render",
        "sentences",
        "selection",
        "sharing",
        "statistics",
        "store",
    },
    "submissions": {"errors", "incoming", "record", "render"},
    "teacher": {"errors", "markup", "decoding", "plain", "render", "sharing"},
    "grading": {"errors", "files", "lessons", "record", "statistics", "submissions"},
    "lessons": {
        "frameworks",
        "clock",
        "comparing",
        "devicewords",
        "errors",
        "files",
        "incoming",
        "kit",
        "markup",
        "planning",
        "record",
        "render",
        "selection",
        "statistics",
        "submissions",
        "tracing",
    },
    "cli": {
        "_version",
        "bench",
        "clock",
        "comparing",
        "devicewords",
        "doctor",
        "errors",
        "files",
        "grading",
        "incoming",
        "logs",
        "markup",
        "record",
        "render",
        "selection",
        "statistics",
        "submissions",
    },
    "sentences": set(),
    "sharing": {"clock", "errors", "frameworks", "decoding", "plain", "record", "redact"},
    "serverextension": {"servermessages"},
    "servermessages": {"logs", "sentences"},
    "testing": {"frameworks", "bench", "engines", "errors", "grading", "ops", "probes", "record", "sharing"},
    "__init__": {
        "_version",
        "batches",
        "bench",
        "comparing",
        "engines",
        "files",
        "notebook",
        "planning",
        "tracing",
    },
}


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


MODULES = sorted(path for path in ROOT.rglob("*.py") if "node_modules" not in path.parts)


@functools.cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Every module imported in a file, and whether that happens at its top level."""
    tree = ast.parse(path.read_text())
    top = {id(node) for node in tree.body}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            found.append((node.module, id(node) in top))
            if node.module == "jupyter_mlgpu":
                found += [(f"jupyter_mlgpu.{alias.name}", id(node) in top) for alias in node.names]
    return found


def told(path):
    """A module, as an assertion names it."""
    return str(path.relative_to(ROOT))


def test_each_part_uses_only_the_parts_it_may():
    wrong = {}
    for path in MODULES:
        part = part_of(path)
        used = {name.split(".")[1] for name, _ in imports(path) if name.startswith("jupyter_mlgpu.")}
        if beyond := used - {part} - MAY_USE[part]:
            wrong[told(path)] = beyond
    assert wrong == {}


#: Where a framework is named outside of `frameworks/`, and why.
NAMED = {
    "doctor/checks/*": "a check is about one framework, or about two that do not go together",
    "lessons/*": "lessons are written for TensorFlow",
    "logs/*": "messages and settings of one framework each",
    "notebook/steps.py": "the log that PyTorch alone writes of a Mac's GPU",
    "mlcompute/*": "its engine for computing on a GPU is TensorFlow",
    "planning/*": "plans are made of TensorFlow's graphs",
    "notebook/state.py": "an example, in a sentence",
    "race/racing.py": "an example, in a sentence",
    "cli/bench.py": "an example, in a help text",
    "record_schema_1.py": "how the sources of readings began in records of schema 1",
    "redact/people.py": "words that are no names of people",
    "testing/records.py": "a record to look at",
}


def framework_names(path: Path) -> set[str]:
    """Names and titles of frameworks in a module's texts (docstrings aside), and whose folder it imports."""
    tree = ast.parse(path.read_text())
    docs = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    texts = [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in docs
    ]
    texts += [name for name, _ in imports(path) if name.startswith("jupyter_mlgpu.frameworks.")]
    names = [*registry.OWN, *map(registry.title, registry.OWN)]
    return {one for one in names for text in texts if re.search(rf"(?<![\w-]){one}(?![\w-])", text)}


def test_a_framework_is_named_in_its_folder_and_where_a_text_is_about_it_alone():
    naming = {told(path) for path in MODULES if part_of(path) != "frameworks" and framework_names(path)}
    assert {name for name in naming if not any(fnmatch(name, one) for one in NAMED)} == set()
    assert [one for one in NAMED if not any(fnmatch(name, one) for name in naming)] == []


def test_a_folder_of_a_framework_uses_no_other_framework():
    folders = {name: ROOT / "frameworks" / name for name in registry.OWN}
    for name, folder in folders.items():
        for path in folder.rglob("*.py"):
            used = {
                one.split(".")[2] for one, _ in imports(path) if one.startswith("jupyter_mlgpu.frameworks.")
            }
            assert not used & (folders.keys() - {name}), told(path)


def test_looking_up_the_frameworks_imports_no_part_of_any():
    code = (
        "import sys; from jupyter_mlgpu.frameworks import registry; "
        "registry.loaded(); registry.importable(); "
        "[registry.framework(one) for one in registry.FRAMEWORKS]; "
        "print([one for one in sys.modules if one.startswith('jupyter_mlgpu.frameworks.') "
        "and one.count('.') > 2])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_notebook_part_imports_ipython():
    wrong = {}
    for path in MODULES:
        # A student's notebook is run there, in a process of its own.
        inmate = ROOT / "grading" / "inmate.py"
        if (
            part_of(path) not in ("notebook", "__init__")
            and path != inmate
            and (found := {name.split(".")[0] for name, _ in imports(path)} & NOTEBOOK_LIBRARIES)
        ):
            wrong[told(path)] = found
    assert wrong == {}


def test_only_few_parts_import_a_framework_and_never_at_the_top():
    wrong = []
    for path in MODULES:
        may = (
            part_of(path) in ("frameworks", "lessons", "mlcompute")
            or path == ROOT / "planning" / "reading.py"
        )
        for name, at_top in imports(path):
            # mlcompute is imported by itself, and computes with NumPy; TensorFlow is imported when it is
            # chosen. The lessons' exercises are imported when one of them is checked, and are made of arrays.
            numpy_allowed = part_of(path) == "mlcompute" or path.is_relative_to(
                ROOT / "lessons" / "exercises"
            )
            # What crosses to and from a student's code is arrays, too.
            numpy_allowed = numpy_allowed or (path == ROOT / "grading" / "codec.py" and not at_top)
            if numpy_allowed and name.split(".")[0] == "numpy":
                continue
            if name.split(".")[0] in FRAMEWORKS and (at_top or not may):
                wrong.append((told(path), name))
    assert wrong == []


#: What reads the machine's clocks by itself. The user's code runs in another process, or the file runs alone.
OWN_CLOCKS = {"cli", "grading", "teacher", "testing", "clock", "logs"}
ALONE = ROOT / "frameworks" / "tensorflow" / "mlcompute_fork.py"


def test_nothing_reads_a_clock_that_a_cell_can_freeze():
    wrong = [
        told(path)
        for path in MODULES
        if part_of(path) not in OWN_CLOCKS and path != ALONE
        if {"time"} & {name for name, _ in imports(path)}
    ]
    assert wrong == []


@pytest.mark.parametrize("module", ["record.py", "plain.py"])
def test_record_uses_the_standard_library_and_msgspec_alone(module):
    names = {name.split(".")[0] for name, _ in imports(ROOT / module)}
    assert names - {"jupyter_mlgpu", "msgspec"} <= sys.stdlib_module_names


def test_layers_and_graphs_of_mlcompute_know_nothing_of_their_engines():
    folder = ROOT / "mlcompute"
    for path in [
        *folder.glob("layers/*.py"),
        folder / "graph.py",
        folder / "optimizers.py",
        folder / "tensors.py",
    ]:
        used = {name.removeprefix("jupyter_mlgpu.mlcompute.") for name, _ in imports(path)}
        assert not {one for one in used if one.startswith(("tape", "numpy_engine", "tensorflow", "apple"))}, (
            path
        )


def test_every_part_of_the_package_has_its_rule():
    assert {part_of(path) for path in MODULES} == set(MAY_USE)


def test_importing_the_package_imports_neither_numpy_nor_a_framework_nor_jupyter():
    code = f"import sys, jupyter_mlgpu; print(sorted({FRAMEWORKS | NOTEBOOK_LIBRARIES!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_names_the_package_promises_are_these():
    assert sorted(jupyter_mlgpu.__all__) == [
        "DevicePicker",
        "KerasCallback",
        "TraceView",
        "__version__",
        "bench",
        "collect",
        "compare",
        "fits",
        "load_ipython_extension",
        "load_records",
        "plan",
        "records",
        "save_records",
        "trace",
        "unload_ipython_extension",
    ]
    assert all(hasattr(jupyter_mlgpu, name) for name in jupyter_mlgpu.__all__)
