"""Dependencies between the parts point one way, and starting costs little."""

import ast
import functools
import graphlib
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

import pytest
from tracked import tracked

import jupyter_mlgpu
from jupyter_mlgpu.measure.frameworks import registry

ROOT = Path(jupyter_mlgpu.__file__).parent
FOLDERS = ROOT / "measure" / "frameworks"
LESSONS = ROOT / "teach" / "lessons"
MLCOMPUTE = ROOT / "graphs" / "mlcompute"
NOTEBOOK_LIBRARIES = {"IPython", "anywidget", "ipykernel", "ipywidgets"}
FRAMEWORKS = {"tensorflow", "keras", "torch", "jax", "mlx", "numpy"}

#: A room uses those before it.
ROOMS = ["record", "measure", "explain", "graphs", "experiment", "show", "jupyter", "teach", "testing"]
#: What stands beside the rooms: names that others import, for what lies in a room.
OPEN_DOORS = {"bench", "lessons", "logs", "mlcompute", "planning", "serverextension", "teacher"}
DOORS = {"__init__", "_aliases", "_version"} | OPEN_DOORS
#: What puts the rooms together, and may use all of them; no room uses it.
COMPOSITION = "pipeline"
#: Doors that a room names to somebody else, and does not go through.
NAMED_DOORS = {
    ("explain/doctor/gather/jupyter.py", "serverextension"): "Jupyter Server's settings have it",
    ("jupyter/server/extension.py", "serverextension"): "Jupyter Server asks for it",
    ("teach/teacher/__main__.py", "teacher"): "the command that its help shows",
    ("testing/hub.py", "teacher"): "the command that starts the service",
}


def module_of(path: Path) -> str:
    """As `experiment.bench.run`, without the package's own name."""
    name = told(path).removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


MODULES = tracked(ROOT, "**/*.py")


@functools.cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Every module imported in a file, and whether that happens at its top level.

    A module that a text names counts as imported in a function: it may be loaded by its name, here or in
    another process.
    """
    named = [name for text in texts(ast.parse(path.read_text())) for name in modules_in(text)]
    return written_imports(path) + [(name, False) for name in named]


@functools.cache
def written_imports(path: Path) -> list[tuple[str, bool]]:
    """The same of import statements, and of what is imported by a name that is written in the call."""
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
    return found + [(name, False) for name in by_string(tree) if name is not None]


def by_string(tree: ast.Module) -> Iterator[str | None]:
    """The modules that `import_module` and `__import__` import; None where the name is put together."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in IMPORTERS:
            name = node.args[0]
            yield name.value if isinstance(name, ast.Constant) else None


IMPORTERS = {"import_module", "__import__"}


def texts(tree: ast.Module) -> list[str]:
    """What stands between quotes, docstrings aside."""
    docs = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    return [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in docs
    ]


def modules_in(text: str) -> list[str]:
    """The modules of the package that a text names: of `jupyter_mlgpu.show.{name}` the package `show`."""
    found = []
    for name in re.findall(r"jupyter_mlgpu(?:\.\w+)+", text):
        while "." in name and name not in modules_by_name():
            name = name.rpartition(".")[0]
        found += [name] if "." in name else []
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
        if room not in DOORS | {COMPOSITION}:
            entered = used & (DOORS - {"_version"} | {COMPOSITION})
            assert {one for one in entered if (told(path), one) not in NAMED_DOORS} == set(), told(path)
    print(*ROOMS)
    assert upward == []


def test_beside_the_rooms_there_are_doors_and_what_puts_the_rooms_together():
    assert {part_of(path) for path in MODULES} == {*ROOMS, *DOORS, COMPOSITION}


#: Where the name of a module is put together as the program runs, so that no import can be written, and why.
BY_NAME = {
    "_aliases.py": "each door says which package is behind it",
    "experiment/bench/session.py": "the framework that the user names",
    "explain/doctor/diagnose.py": "each check is a file of a folder, which is looked through",
    "measure/frameworks/profiler_hooks.py": "the profiler of a framework, which its description names",
    "measure/frameworks/registry.py": "frameworks are described by names: others may register theirs",
    "measure/frameworks/torch/lightning.py": "the library has two names",
    "measure/probes/cell/__init__.py": "the probe of each quantity is a file of a folder",
    "show/page/rendering.py": "of a result of `experiment/race/`, the page is made by `show/race/page.py`",
    "teach/lessons/exercises/__init__.py": "the exercises of each lesson are a file of a folder",
}


def test_modules_are_imported_by_imports():
    """In a function where they are seldom needed; by a name in a text only where no import can be written."""
    literal, put_together = [], set()
    for path in MODULES:
        for name in by_string(ast.parse(path.read_text())):
            if name is None:
                put_together.add(told(path))
            elif name.split(".")[0] == "jupyter_mlgpu":
                literal.append((told(path), name))
    assert literal == []
    assert put_together == set(BY_NAME)


def test_an_entry_point_is_a_function_of_a_room_and_no_room_is_found_through_one():
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    assert {name for name in groups if name.startswith("jupyter_mlgpu")} == set()
    for module, _, function in (one.partition(":") for group in groups.values() for one in group.values()):
        tree = ast.parse(modules_by_name()[module].read_text())
        assert function in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}


def test_what_a_room_needs_of_later_ones_is_given_to_it():
    """Its `__init__.py` declares it, and `pipeline.connect` sets it when the package is imported."""
    declared = {room: ast.parse((ROOT / room / "__init__.py").read_text()).body for room in ROOMS}
    needed = {
        room: [one.target.id for one in body if isinstance(one, ast.AnnAssign)]
        for room, body in declared.items()
    }
    assert [room for room, names in needed.items() if names] == ["record", "measure", "jupyter"]
    for room, names in needed.items():
        module = import_module(f"jupyter_mlgpu.{room}")
        assert [name for name in names if not hasattr(module, name)] == []


def test_importing_the_package_imports_of_ours_what_puts_the_rooms_together_alone():
    code = "import sys, jupyter_mlgpu; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name.removeprefix("jupyter_mlgpu.") for name in done.stdout.split() if "jupyter_mlgpu." in name}
    assert ours - {"_version", COMPOSITION} <= set(ROOMS)


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


#: Where a framework is named outside of `frameworks/`, and why.
NAMED = {
    "explain/doctor/checks/*": "a check is about one framework, or about two that do not go together",
    "explain/doctor/version_pairs.py": "as the checks: versions of frameworks that do not go together",
    "teach/lessons/*": "lessons are written for TensorFlow",
    "explain/logs/*": "messages and settings of one framework each",
    "jupyter/notebook/cell/record_stages.py": "the log that PyTorch alone writes of a Mac's GPU",
    "graphs/mlcompute/*": "its engine for computing on a GPU is TensorFlow",
    "graphs/mps/*": "forecasts are made of PyTorch's operations",
    "graphs/planning/*": "plans are made of TensorFlow's graphs",
    "show/mps/*": "forecasts are made of PyTorch's operations",
    "show/planning/*": "plans are made of TensorFlow's graphs",
    "experiment/race/racing.py": "an example, in a sentence",
    "jupyter/cli/bench.py": "an example, in a help text",
    "measure/checking/*": "it computes PyTorch's operations again",
    "jupyter/notebook/cell/checked_cell.py": "it checks PyTorch's operations",
    "show/checking/*": "the answer is about PyTorch's operations",
    "measure/training_callbacks.py": "each is for a library of one framework",
    "record/redact/people.py": "words that are no names of people",
    "testing/records.py": "a record to look at",
}


def framework_names(path: Path) -> set[str]:
    """Names and titles of frameworks in a module's texts (docstrings aside), and whose folder it imports."""
    said = texts(ast.parse(path.read_text()))
    said += [name for name, _ in imports(path) if name.startswith("jupyter_mlgpu.measure.frameworks.")]
    names = [*registry.OWN, *map(registry.title, registry.OWN)]
    return {one for one in names for text in said if re.search(rf"(?<![\w-]){one}(?![\w-])", text)}


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
        sandbox_worker = ROOT / "teach" / "grading" / "sandbox_worker.py"
        if (
            part_of(path) not in ("jupyter", "__init__")
            and path != sandbox_worker
            and (found := {name.split(".")[0] for name, _ in imports(path)} & NOTEBOOK_LIBRARIES)
        ):
            wrong[told(path)] = found
    assert wrong == {}


def test_only_few_parts_import_a_framework_and_never_at_the_top():
    wrong = []
    for path in MODULES:
        may = (
            any(map(path.is_relative_to, (FOLDERS, LESSONS, MLCOMPUTE, ROOT / "graphs" / "mps")))
            or path == ROOT / "graphs" / "planning" / "reading.py"
            or path.is_relative_to(ROOT / "measure" / "checking")
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


def test_a_public_class_is_the_only_one_of_its_name():
    places = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(told(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


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
        "export_spans",
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
