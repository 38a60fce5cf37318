"""Dependencies between the parts point one way, and starting costs little."""

import ast
import functools
import graphlib
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from tracked import tracked

import jupyter_mlgpu
from jupyter_mlgpu.measure.frameworks import registry

ROOT = Path(jupyter_mlgpu.__file__).parent
TESTS = Path(__file__).parents[1]
FOLDERS = ROOT / "measure" / "frameworks"
LESSONS = ROOT / "teach" / "lessons"
MLCOMPUTE = ROOT / "graphs" / "mlcompute"
NOTEBOOK_LIBRARIES = {"IPython", "anywidget", "ipykernel", "ipywidgets"}
FRAMEWORKS = {"tensorflow", "keras", "torch", "jax", "mlx", "numpy"}

#: A room uses those before it.
ROOMS = ["record", "measure", "explain", "graphs", "experiment", "show", "jupyter", "teach", "testing"]
#: What stands beside the rooms: names that others import, for what lies in a room.
OPEN_DOORS = {"bench", "lessons", "logs", "mlcompute", "planning", "serverextension", "teacher"}
DOORS = {"__init__", "_doors", "_version"} | OPEN_DOORS


def module_of(path: Path) -> str:
    """As `experiment.bench.run`, without the package's own name."""
    name = told(path).removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


MODULES = tracked(ROOT, "**/*.py")


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
            if node.module.split(".")[0] == "jupyter_mlgpu":
                found += [(f"{node.module}.{alias.name}", id(node) in top) for alias in node.names]
    return found


def told(path):
    """A module, as an assertion names it."""
    return str(path.relative_to(ROOT))


def test_a_room_uses_only_the_rooms_before_it_and_graphs_and_experiments_do_not_know_each_other():
    upward = []
    for path in MODULES:
        room = part_of(path)
        used = {name.split(".")[1] for name, _ in imports(path) if name.startswith("jupyter_mlgpu.")}
        for other in used & set(ROOMS) if room in ROOMS else set():
            apart = {room, other} == {"graphs", "experiment"}
            upward += [(told(path), other)] if ROOMS.index(other) > ROOMS.index(room) or apart else []
        assert room in DOORS or not used & (DOORS - {"_version"}), f"{told(path)} goes through a door"
    print(*ROOMS)
    assert upward == []


def test_beside_the_rooms_there_are_doors_alone():
    assert {part_of(path) for path in MODULES} == {*ROOMS, *DOORS}


def test_the_folders_of_tests_are_the_rooms_and_what_is_about_no_room():
    beside = {"binder", "device", "docs", "fuzz", "limits", "metal_emulator", "packaging", "structure"}
    folders = {path.relative_to(TESTS).parts[0] for path in tracked(TESTS, "*/**/*.py")}
    assert folders == {*ROOMS, *beside, "support"} - {"testing"}  # the fakes are tested by all who use them


@functools.cache
def modules_by_name() -> dict[str, Path]:
    return {f"jupyter_mlgpu.{module_of(path)}".removesuffix(".__init__"): path for path in MODULES}


def test_no_module_needs_itself_to_be_loaded():
    modules = modules_by_name()
    needed = {
        name: {one for one, at_the_top in imports(path) if at_the_top and one in modules} - packages_of(path)
        for name, path in modules.items()
    }
    graphlib.TopologicalSorter(needed).prepare()  # raises CycleError, which names a circle


#: Circles that only show where imports in functions and for type checkers count, too: they stay, and why.
CIRCLES = {
    (
        "cell_code",
        "events",
        "ops_command",
    ): "a cell that repeats asks for its runs the one that measures cells",
    ("crossover", "result"): "a crossover is found between two lanes, and a result has it: types alone",
    ("base", "optimizers", "shapes", "structure", "tensors"): "a tensor's methods make layers, of tensors",
    ("page", "report"): "`class report` has its page drawn when it is asked for",
    (
        "extension",
        "fresh",
        "jupyter_mlgpu",
        "magics",
        "race_command",
        "race_fresh",
        "widgets",
    ): "a fresh process of a race, and the widgets, load the package by its own name, as a notebook does",
}


@functools.cache
def packages_of(path: Path) -> frozenset[str]:
    """Those that a module imports to reach a module in them: that is no use of what they say themselves."""
    modules, used, passed = modules_by_name(), set(), set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            own = {f"{node.module}.{alias.name}" for alias in node.names} <= set(modules)
            (passed if own else used).add(node.module)
    return frozenset(passed - used)


def circles(needed: dict[str, set[str]]) -> list[set[str]]:
    """The groups of modules that reach each other."""
    reached = {}
    for name in needed:
        seen, rest = set(), [name]
        while rest:
            new = needed[rest.pop()] - seen
            seen |= new
            rest += new
        reached[name] = seen
    groups = {frozenset({one, *(other for other in reached[one] if one in reached[other])}) for one in needed}
    return [set(group) for group in groups if len(group) > 1]


def test_circles_of_late_imports_are_known():
    modules = modules_by_name()
    needed = {
        name: {one for one, _ in imports(path) if one in modules and one != name} - packages_of(path)
        for name, path in modules.items()
    }
    found = {tuple(sorted(name.rpartition(".")[2] for name in group)) for group in circles(needed)}
    assert found == set(CIRCLES)


#: Where a framework is named outside of `frameworks/`, and why.
NAMED = {
    "explain/doctor/checks/*": "a check is about one framework, or about two that do not go together",
    "teach/lessons/*": "lessons are written for TensorFlow",
    "explain/logs/*": "messages and settings of one framework each",
    "jupyter/notebook/steps.py": "the log that PyTorch alone writes of a Mac's GPU",
    "graphs/mlcompute/*": "its engine for computing on a GPU is TensorFlow",
    "graphs/planning/*": "plans are made of TensorFlow's graphs",
    "show/planning/*": "plans are made of TensorFlow's graphs",
    "experiment/race/racing.py": "an example, in a sentence",
    "jupyter/cli/bench.py": "an example, in a help text",
    "measure/training_callbacks.py": "each is for a library of one framework",
    "record/schema_1.py": "how the sources of readings began in records of schema 1",
    "record/redact/people.py": "words that are no names of people",
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
    texts += [name for name, _ in imports(path) if name.startswith("jupyter_mlgpu.measure.frameworks.")]
    names = [*registry.OWN, *map(registry.title, registry.OWN)]
    return {one for one in names for text in texts if re.search(rf"(?<![\w-]){one}(?![\w-])", text)}


def test_a_framework_is_named_in_its_folder_and_where_a_text_is_about_it_alone():
    naming = {told(path) for path in MODULES if not path.is_relative_to(FOLDERS) and framework_names(path)}
    assert {name for name in naming if not any(fnmatch(name, one) for one in NAMED)} == set()
    assert [one for one in NAMED if not any(fnmatch(name, one) for name in naming)] == []


def test_a_folder_of_a_framework_uses_no_other_framework():
    folders = {name: FOLDERS / name for name in registry.OWN}
    for name, folder in folders.items():
        for path in tracked(folder, "**/*.py"):
            used = {
                one.split(".")[3]
                for one, _ in imports(path)
                if one.startswith("jupyter_mlgpu.measure.frameworks.")
            }
            assert not used & (folders.keys() - {name}), told(path)


def test_looking_up_the_frameworks_imports_no_part_of_any():
    code = (
        "import sys; from jupyter_mlgpu.measure.frameworks import registry; "
        "registry.loaded(); registry.importable(); "
        "[registry.framework(one) for one in registry.FRAMEWORKS]; "
        "print([one for one in sys.modules if one.startswith('jupyter_mlgpu.measure.frameworks.') "
        "and one.count('.') > 3])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_notebook_part_imports_ipython():
    wrong = {}
    for path in MODULES:
        # A student's notebook is run there, in a process of its own.
        inmate = ROOT / "teach" / "grading" / "inmate.py"
        if (
            part_of(path) not in ("jupyter", "__init__")
            and path != inmate
            and (found := {name.split(".")[0] for name, _ in imports(path)} & NOTEBOOK_LIBRARIES)
        ):
            wrong[told(path)] = found
    assert wrong == {}


def test_only_few_parts_import_a_framework_and_never_at_the_top():
    wrong = []
    for path in MODULES:
        may = (
            any(map(path.is_relative_to, (FOLDERS, LESSONS, MLCOMPUTE)))
            or path == ROOT / "graphs" / "planning" / "reading.py"
        )
        for name, at_top in imports(path):
            # mlcompute is imported by itself, and computes with NumPy; TensorFlow is imported when it is
            # chosen. The lessons' exercises are imported when one of them is checked, and are made of arrays.
            arrays = (MLCOMPUTE, LESSONS / "exercises", LESSONS / "mistakes")
            # CUPTI's records are read with the NumPy that the user's code has loaded.
            records = ("activity_records", "gpu_totals", "intervals", "kernel_bins", "lanes")
            arrays = (*arrays, *(ROOT / f"measure/gpu/{one}.py" for one in records))
            numpy_allowed = any(map(path.is_relative_to, arrays))
            # What crosses to and from a student's code is arrays, too.
            numpy_allowed = numpy_allowed or (path == ROOT / "teach" / "grading" / "codec.py" and not at_top)
            if numpy_allowed and name.split(".")[0] == "numpy":
                continue
            if name.split(".")[0] in FRAMEWORKS and (at_top or not may):
                wrong.append((told(path), name))
    assert wrong == []


#: What reads the machine's clocks by itself. The user's code runs in another process, or the file runs alone.
OWN_CLOCKS = (
    "jupyter/cli",
    "teach/commands",
    "teach/grading",
    "teach/teacher",
    "testing",
    "record/clock.py",
    "measure/capture",
    "explain/logs",
)
ALONE = FOLDERS / "tensorflow" / "mlcompute_fork.py"


def test_nothing_reads_a_clock_that_a_cell_can_freeze():
    wrong = [
        told(path)
        for path in MODULES
        if not told(path).startswith(OWN_CLOCKS) and path != ALONE
        if {"time"} & {name for name, _ in imports(path)}
    ]
    assert wrong == []


@pytest.mark.parametrize("module", ["record/record.py", "record/decoding.py"])
def test_record_uses_the_standard_library_and_msgspec_alone(module):
    names = {name.split(".")[0] for name, _ in imports(ROOT / module)}
    assert names - {"jupyter_mlgpu", "msgspec"} <= sys.stdlib_module_names


def test_layers_and_graphs_of_mlcompute_know_nothing_of_their_engines():
    folder = MLCOMPUTE
    for path in [
        *folder.glob("layers/*.py"),
        folder / "structure.py",
        folder / "optimizers.py",
        folder / "tensors.py",
    ]:
        used = {name.removeprefix("jupyter_mlgpu.graphs.mlcompute.") for name, _ in imports(path)}
        assert not {one for one in used if one.startswith(("tape", "numpy_engine", "tensorflow", "apple"))}, (
            path
        )


def test_importing_the_package_imports_neither_numpy_nor_a_framework_nor_jupyter():
    code = f"import sys, jupyter_mlgpu; print(sorted({FRAMEWORKS | NOTEBOOK_LIBRARIES!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_names_the_package_promises_are_these():
    assert sorted(jupyter_mlgpu.__all__) == [
        "AccelerateTracker",
        "DevicePicker",
        "KerasCallback",
        "LightningCallback",
        "TraceView",
        "TrainerCallback",
        "__version__",
        "bench",
        "collect",
        "compare",
        "fits",
        "limit",
        "load_ipython_extension",
        "load_records",
        "plan",
        "records",
        "save_records",
        "trace",
        "unload_ipython_extension",
    ]
    assert all(hasattr(jupyter_mlgpu, name) for name in jupyter_mlgpu.__all__)
