"""Every sentence that the kernel writes into records or tells the sidebar has its Chinese."""

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

import kernel_sentences
import pytest

import jupyter_mlgpu
from jupyter_mlgpu import sentences

ROOT = Path(jupyter_mlgpu.__file__).parent
ENTRIES = sentences.load("zh")
FIELD = re.compile(r"\{(\w+)(?::(word|known|figure))?\}")

#: Modules whose texts come into records, plans and races, or to the sidebar. All texts of such a module do,
#: but those of the functions and constants named here: printed under a cell alone, or no words.
TELLING: dict[str, set[str]] = {
    "frameworks/hardware": {"_cpu_name", "nvidia_gpus"},
    "frameworks/evidence": {"only_device"},
    "frameworks/*/__init__": {"Verified", "show_devices", "why_no_xspace"},
    "frameworks/*/profiler": set(),
    "frameworks/*/profile_reader": set(),
    "frameworks/jax/backend": {"remedy"},
    "frameworks/tensorflow/mlcompute_fork": {
        "_arguments", "_append", "_mlcompute", "set_knobs", "set_device", "print", "KNOBS",
    },
    "frameworks/mlx/backend": set(),
    "frameworks/user_profiler": set(),
    "frameworks/replay": {"__init__"},
    "frameworks/staying": set(),
    "frameworks/tensorflow/backend": set(),
    "frameworks/tensorflow/memory": set(),
    "frameworks/tensorflow/notes": set(),
    "frameworks/tensorflow/placement": {"_ONLY"},
    "frameworks/torch/backend": set(),
    "frameworks/torch/pools": set(),
    "frameworks/torch/scope": set(),
    "bench/judging": {"_NO_MEMORY"},
    "bench/charts": {"_roof"},
    "bench/page": {"_some", "hardware", "head", "_STATUS"},
    "clock": set(),
    "comparing/compare": {"verdict", "Judgement", "judgement"},
    "devicewords": set(),
    "doctor/ask": set(),
    "doctor/diagnose": {"_REPORT", "TypeError"},
    "doctor/gather/*": {"_ASK", "_processor", "question"},
    "doctor/light": {"_MORE"},
    "doctor/maybe": set(),
    "doctor/metal": set(),
    "doctor/page": {"html"},
    "engines/asking": set(),
    "engines/collecting": set(),
    "engines/collection": {"_head", "_clock", "_waiting", "phase_table", "save", "state", "table"},
    "engines/journal": {"append", "__init__"},
    "engines/phases": set(),
    "errors": set(),
    "destinations": set(),
    "files": {"load_records", "_read"},
    "guarded": set(),
    "kit": set(),
    "logs/fold": set(),
    "logs/mps_profile": {"_TOLD", "_COPY", "_OPERATION", "_FALLBACK", "_line"},
    "logs/placement": set(),
    "logs/reader": set(),
    "logs/tap": {"start"},
    "logs/verbose": {"explain", "_set", "_when_read", "_off", "_status", "first_cell"},
    "logs/waiting": set(),
    "notebook/bench_command": {"_save", "_show_charts"},
    "notebook/channel": set(),
    "notebook/sidebar_settings": set(),
    "notebook/compare_command": {"compare_command", "_HELP", "_side"},
    "notebook/devices": {"status", "list", "_select_for_cell", "_import_one", "_lines", "_replayed", "_line"},
    "notebook/doctor_light": {"ask"},
    "notebook/events": {"_complain"},
    "notebook/extension": set(),
    "notebook/inside": {"about"},
    "notebook/logbook": set(),
    "notebook/race_command": {"_save", "_show_chart", "race_command"},
    "notebook/race_fresh": {"code", "setup_code"},
    "notebook/state": set(),
    "notebook/steps": {"fact"},
    "notebook/watch": set(),
    "ops/[!p]*": set(),
    "planning/crossing": set(),
    "planning/forecast": set(),
    "planning/graphdef": set(),
    "planning/placer": set(),
    "planning/placing": set(),
    "planning/reading": {"_what", "_CALLING", "_TAKES", "_training_step"},
    "probes/devicememory": set(),
    "probes/gpus": set(),
    "probes/live": set(),
    "probes/nvml": set(),
    "probes/process": set(),
    "probes/sampler": set(),
    "probes/energy/*": set(),
    "race/child": {"BODY"},
    "race/crossover": set(),
    "race/fresh": {"_error", "devices"},
    "race/page": set(),
    "race/racing": set(),
    "race/runner": set(),
    "recorder": set(),
    "recordlines": set(),
    "render/growing": {"table", "verdict", "_rows"},
    "render/items": set(),
    "selection": set(),
    "statistics": {"median", "ratio_interval"},
}  # fmt: skip

#: Modules with texts that do none of this.
SILENT = {
    "__init__": "names alone",
    "redact/*": "words and patterns of secrets, no sentences",
    "frameworks/base": "capabilities, which `%mlc_device list` prints",
    "frameworks/imports": "printed under a cell",
    "frameworks/jax/arrays": "names alone",
    "frameworks/registry": "printed under a cell: no framework is imported from the sidebar",
    "frameworks/tensorflow/[cguw]*": "names alone",
    "frameworks/*": "benchmarks, printed under a cell, and what the doctor asks",
    "batches": "printed under a cell",
    "bench/*": "printed under a cell",
    "cli/*": "a command",
    "grading/*": "a command",
    "comparing/expect": "lessons' checks, printed under a cell",
    "comparing/page": "the table that a cell prints; the sidebar has its own",
    "engines/*": "names and a drawing that a cell prints",
    "doctor/[cr]*": "names, errors of files and of a command",
    "doctor/checks/*": "told, with commands between; tests/doctor/test_checks.py compares what they say",
    "doctor/loading": "what loaders print",
    "doctor/shapes": "errors of files",
    "exporting/*": "files for other programs",
    "frames": "tables for pandas",
    "incoming": "printed under a cell, or by a command",
    "items": "printed under a cell",
    "lessons/*": "printed under a cell",
    "logs/catalogue": "patterns",
    "logs/knobs": "settings, which `%mlc_trace verbose` explains",
    "logs/lines": "marks in lines that were cut",
    "logs/parse": "what libraries print",
    "logs/prefixes": "patterns",
    "logs/storage": "printed under a cell",
    "logs/subgraphs": "patterns",
    "logs/template": "patterns",
    "markup": "errors of the programmer's",
    "memory_*": "printed under a cell",
    "mlcompute/*": "printed under a cell",
    "notebook/cell_callbacks": "printed under a cell",
    "notebook/cell_code": "names of magics",
    "notebook/chosen": "printed under a cell",
    "notebook/commands": "printed under a cell",
    "notebook/doctor_command": "printed under a cell",
    "notebook/engine": "printed under a cell",
    "notebook/export_command": "printed under a cell",
    "notebook/fits_command": "printed under a cell",
    "notebook/magics": "printed under a cell",
    "notebook/memory": "printed under a cell",
    "notebook/ops_command": "printed under a cell",
    "notebook/plan_command": "printed under a cell",
    "notebook/race_cell": "printed under a cell",
    "notebook/receipts": "printed under a cell",
    "notebook/restart": "printed under a cell",
    "notebook/share_command": "printed under a cell",
    "notebook/transform": "printed under a cell",
    "notebook/widgets": "written into notebooks for pages without a kernel, and help for programmers",
    "plain": "errors of files",
    "ops/planes": "names alone",
    "planning/as_on_a_gpu": "the name under which TensorFlow keeps graphs while a plan is made",
    "planning/downwards": "a drawing that a cell prints",
    "planning/drawing": "a drawing that a cell prints; the page draws its own",
    "planning/page": "the table that a cell prints; the page has its own",
    "planning/subgraphs": "printed under a cell",
    "planning/svg": "a drawing that a cell prints",
    "probes/memory": "printed under a cell",
    "race/cell": "printed under a cell",
    "race/figure": "a chart that a cell prints; the page draws its own",
    "race/options": "answers to the line of a race",
    "race/result": "errors of files",
    "race/svg": "a chart that a cell prints",
    "decoding": "errors of files",
    "record": "errors of files",
    "record_schema_1": "how texts of earlier records began",
    "sentence": "errors of files",
    "render/figures": "reports that a script writes",
    "render/html": "receipts where there is no sidebar, which says it in its own words",
    "render/logbook": "printed under a cell",
    "render/memory": "printed under a cell",
    "render/notes": "receipts where there is no sidebar",
    "render/operations": "receipts where there is no sidebar",
    "render/report": "reports that a script writes",
    "render/text": "printed under a cell",
    "render/words": "receipts where there is no sidebar",
    "servermessages": "answers to a wrong address",
    "sharing/*": "printed under a cell, or answers to a report from elsewhere",
    "submissions/*": "a lab's tests and a command",
    "teacher/*": "a command, and a service with texts of its own",
    "testing/*": "for tests",
    "tracing": "errors of scripts",
}

#: What answers a line that was typed in a cell, and is printed there.
ANSWERS = {"GraphError", "MissingPackageError", "PlanError", "RaceError", "UsageError"}
#: Where the sidebar asks, and is answered the same way.
ASKED = {
    "comparing/compare",
    "notebook/channel",
    "notebook/sidebar_settings",
    "notebook/compare_command",
    "notebook/inside",
}


@functools.cache
def modules() -> dict[str, Path]:
    """All modules of the package, as `notebook/state`."""
    paths = sorted(path for path in ROOT.rglob("*.py") if "node_modules" not in path.parts)
    return {path.relative_to(ROOT).with_suffix("").as_posix(): path for path in paths}


def pattern_of(module: str, patterns: Iterable[str]) -> str | None:
    """The pattern that names a module; one that names it alone before one for a folder."""
    fitting = [one for one in patterns if fnmatch(module, one)]
    return min(fitting, key=lambda one: "*" in one, default=None)


@functools.cache
def told(module: str) -> dict[str, int]:
    """The texts of a telling module that have to be known, and their lines."""
    pattern = pattern_of(module, TELLING)
    raised = set() if module in ASKED else ANSWERS
    source = modules()[module].read_text(encoding="utf-8")
    return {} if pattern is None else kernel_sentences.texts(source, but=TELLING[pattern], raised=raised)


def test_every_sentence_that_is_told_has_its_chinese():
    known = {kernel_sentences.plain(entry) for entry in ENTRIES}
    lacking = [
        f"{module}.py:{line}: {text}"
        for module in modules()
        for text, line in told(module).items()
        if text not in known
    ]
    assert lacking == [], "add them to jupyter_mlgpu/sentences/zh, or say here why nobody is told of them"


def test_of_every_module_with_texts_it_is_said_whether_it_tells_them():
    open_ones = [
        module
        for module, path in modules().items()
        if kernel_sentences.texts(path.read_text(encoding="utf-8"))
        and pattern_of(module, TELLING) is None
        and pattern_of(module, SILENT) is None
    ]
    assert open_ones == []


def test_every_pattern_and_name_that_is_left_out_is_there():
    sources = {name: path.read_text(encoding="utf-8") for name, path in modules().items()}
    assert [one for one in (*TELLING, *SILENT) if not any(fnmatch(name, one) for name in sources)] == []
    for pattern, but in TELLING.items():
        of_these = [source for name, source in sources.items() if pattern_of(name, TELLING) == pattern]
        all_left_out = [kernel_sentences.texts(source, but=but) for source in of_these]
        for name in but:
            # Without it more texts are found: else it need not be named.
            others = [kernel_sentences.texts(source, but=but - {name}) for source in of_these]
            assert others != all_left_out, f"{pattern}: {name}"


def test_no_entry_is_of_what_nobody_says():
    sources = (
        path.read_text(encoding="utf-8")
        for name, path in modules().items()
        if not name.startswith("testing/")
    )
    said = {text for source in sources for text in kernel_sentences.texts(source, words=1)}
    # Those were put together of pieces.
    joined = read(ROOT / "sentences" / "zh" / "joined.toml")
    plain = {entry: kernel_sentences.plain(entry) for entry in ENTRIES.keys() - joined.keys()}
    assert [entry for entry, text in plain.items() if text not in said] == []


def test_no_sentence_stands_in_two_files():
    counted = Counter(name for path in (ROOT / "sentences" / "zh").glob("*.toml") for name in read(path))
    assert [name for name, count in counted.items() if count > 1] == []


def read(path: Path) -> dict[str, str]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def test_every_entry_is_right():
    assert [english for english, chinese in ENTRIES.items() if wrong(english, chinese)] == []


def wrong(english: str, chinese: str) -> str:
    """What is wrong with an entry; empty: nothing."""
    names = [name for name, _ in FIELD.findall(english)]
    left = FIELD.sub("", english) + re.sub(r"\{\w+\}", "", chinese)
    return " ".join(
        said
        for said, found in {
            "a field stands twice": len(names) != len(set(names)),
            "nothing stands between two fields": re.search(r"\}\{", english),
            "it begins or ends with a blank, which is not compared": english != english.strip(),
            "the Chinese has another field": set(re.findall(r"\{(\w+)\}", chinese)) - set(names),
            "a brace stands alone": re.search(r"[{}]", left),
            "there is no Chinese": not chinese.strip(),
        }.items()
        if found
    )


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("{a} and {a}", "{a}"),
        ("{a}{b} is here", "{a}{b}"),
        (" a blank", "x"),
        ("{a} is here", "{b}"),
        ("a { brace", "x"),
        ("{a:number} is here", "{a}"),
        ("a text", ""),
    ],
)
def test_an_entry_that_is_wrong_is_found(english: str, chinese: str):
    assert wrong(english, chinese) != ""


def test_texts_are_found_where_they_stand_in_a_source():
    source = '''
"""A docstring of several words."""
TITLE: "no text at all" = "a constant text"

def say(count, names):
    """Nor is this one a text."""
    if not names:
        raise UsageError("you typed it wrongly")
    raise DeviceError(f"There is no device{'s' if count else ''} {names[0]}{count:,}: " + why + " (really).")

def silent():
    return "nobody reads this"
'''
    assert set(kernel_sentences.texts(source, but={"silent"}, raised={"UsageError"})) == {
        "a constant text",
        "There is no devices {}: {} (really).",
        "There is no device {}: {} (really).",
    }
