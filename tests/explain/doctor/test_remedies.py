"""No value of the facts leaves its quotes in a remedy: a shell runs nothing that a facts file holds."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tracked import tracked

from jupyter_mlgpu.explain.doctor import checks, light, reading
from jupyter_mlgpu.explain.doctor.check import Check
from jupyter_mlgpu.explain.doctor.diagnose import diagnose, find_checks
from jupyter_mlgpu.explain.doctor.facts import Facts
from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.doctor import page

BROKEN = Path(__file__).parent / "broken"
CASES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in tracked(BROKEN, "*.json")
}
CHECKS = {one.id: one for one in find_checks() if isinstance(one, Check)}
#: The file that a planted command makes, and what is planted: after a value, and in its place.
X = "planted_file"
PLANTS = (
    f"$(touch {X})",
    f"`touch {X}`",
    f";touch {X};",
    f"\ntouch {X}\n",
    f"'\ntouch {X}\n'",
    f'"\ntouch {X}\n"',
    f"';touch {X};'",
    f'";touch {X};"',
    f'"$(touch {X})"',
    f"&&touch {X}&&",
    f"|touch {X}|",
    f">{X}",
    f"' >{X} '",
    f" #\ntouch {X} ",
    f"\\';touch {X};",
    f"~/$(touch {X})",
    f"\r\ntouch {X}\r",
    f"${{IFS}};touch {X}",
)
#: Programs that remedies name; the planted command's own is the real one.
STUBS = (
    "brew", "conda", "curl", "df", "dmesg", "grep", "head", "ipython", "jupyter",
    "ls", "mkdir", "mv", "nvidia-smi", "pip", "pmset", "powerprofilesctl", "ps", "python",
    "softwareupdate", "sudo", "tail", "top", "uv",
)  # fmt: skip


def ways(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every text in the facts, names of tables included."""
    if isinstance(value, str):
        yield way
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from ways(getattr(value, field.name), (*way, field.name))
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from ways(item, (*way, number))
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield (*way, ("name", name))
            yield from ways(item, (*way, ("of", name)))


def with_text(value: Any, way: tuple[Any, ...], change: Callable[[str], str]) -> Any:
    """The facts with one text changed, past all that reading a file would refuse."""
    if not way:
        return say(change(value)) if isinstance(value, Sentence) else change(value)
    step, *rest = way
    if isinstance(step, str):
        return dataclasses.replace(value, **{step: with_text(getattr(value, step), tuple(rest), change)})
    if isinstance(step, int):
        return (*value[:step], with_text(value[step], tuple(rest), change), *value[step + 1 :])
    what, name = step
    if what == "name":
        return {(change(one) if one == name else one): item for one, item in value.items()}
    return {**value, name: with_text(value[name], tuple(rest), change)}


def remedy_of(check: str, facts: Facts) -> str | None:
    results = diagnose(facts, [CHECKS[check]]).results
    return results[0].remedy if results[0].status == "finding" else None


def planted_remedies(facts: Facts, check: str) -> dict[str, tuple[tuple[Any, ...], str]]:
    """Every remedy that a planted text changes, with where and what was planted."""
    honest = remedy_of(check, facts)
    found = {}
    # A text that no remedy takes in is told by a harmless one.
    for way in ways(facts):
        for change in (lambda text: f"{text}harmless", lambda text: "harmless"):
            changed = remedy_of(check, with_text(facts, way, change))
            if changed is not None and changed != honest:
                break
        else:
            if isinstance(way[-1], tuple) or remedy_of(
                check, with_text(facts, way, lambda text: text + PLANTS[0])
            ) in (None, honest):
                continue
        for plant in PLANTS:
            for text in (with_text(facts, way, lambda old, p=plant: old + p),
                         with_text(facts, way, lambda old, p=plant: p + old),
                         with_text(facts, way, lambda old, p=plant: p)):  # fmt: skip
                remedy = remedy_of(check, text)
                if remedy is not None and X in remedy:
                    found[remedy] = (way, plant)
    return found


@pytest.fixture(scope="module")
def run_by_sh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], set[str]]:
    """Runs a plan under sh, every program of it a stub; gives the files that came of it."""
    programs = tmp_path_factory.mktemp("programs")
    for name in STUBS:
        (programs / name).write_text("#!/bin/sh\necho /nowhere\n")
        (programs / name).chmod(0o755)
    (programs / "touch").symlink_to(str(shutil.which("touch")))
    shell = shutil.which("sh") or "/bin/sh"

    def run(plan: str) -> set[str]:
        folder = tmp_path_factory.mktemp("run")
        (folder / "home").mkdir()
        env = {"PATH": str(programs), "HOME": str(folder / "home"), "USER": "ada"}
        subprocess.run(
            [shell, "-s"],
            input=plan.encode("utf-8", "replace"),
            cwd=folder,
            env=env,
            capture_output=True,
            timeout=60,
        )
        return {one.name for one in folder.rglob("*")} - {"home"}

    return run


def test_what_is_planted_would_be_seen(run_by_sh: Callable[[str], set[str]]):
    assert run_by_sh(f"pip install torch==2.13.0$(touch {X})") == {X}
    assert run_by_sh(f"pip install 'torch==2.13.0$(touch {X})'") == set()


@pytest.mark.parametrize("name", CASES)
def test_no_planted_text_leaves_its_quotes_in_any_remedy(
    name: str, machine: Callable[..., Facts], run_by_sh: Callable[[str], set[str]]
):
    case = CASES[name]
    found = planted_remedies(machine(case["machine"], case["changes"]), case["expect"])
    # Each alone in brackets, so that one with an open quote does not hide the next.
    ran = run_by_sh("\n".join(f"eval {shlex.quote(one)}" for one in found))
    assert ran == set(), [where for one, where in found.items() if run_by_sh(one)][:3]
    for remedy, where in found.items():
        for line in remedy.split("\n"):
            assert line.startswith("# ") or shlex.split(line), (where, line)
            assert line.isprintable(), (where, line)


def test_texts_of_many_facts_reach_remedies_so_that_the_test_above_tests_something(
    machine: Callable[..., Facts],
):
    names = (
        "torch-for-the-cpu",
        "kernel-without-ipykernel",
        "notebook-not-trusted",
        "dyld-path-lost",
        "offline",
    )
    reached = {name: planted_remedies(machine(CASES[name]["machine"], CASES[name]["changes"]),
                                      CASES[name]["expect"]) for name in names}  # fmt: skip
    assert [name for name, found in reached.items() if not found] == []


def saved(tmp_path: Path, case: str, machine: Callable[..., Facts], way: str, value: object) -> str:
    data = reading.to_json(machine(CASES[case]["machine"], CASES[case]["changes"]))
    *parents, last = way.split("/")
    place: Any = data
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    (tmp_path / "facts.json").write_text(json.dumps(data))
    return str(tmp_path / "facts.json")


@pytest.mark.parametrize(
    ("case", "way", "value", "said"),
    [
        ("torch-for-the-cpu", "packages/torch/version", f"2.13.0$(touch {X})", "packages.torch.version"),
        ("torch-for-the-cpu", "packages/torch/version", f"2.13.0\ntouch {X}", "packages.torch.version"),
        ("torch-for-the-cpu", "packages/torch/version", "2.13.0\ud800", "packages.torch.version"),
        ("torch-for-the-cpu", "packages/torch/version", "--index-url=x", "packages.torch.version"),
        ("torch-for-the-cpu", "packages/torch/version", "1" * 500, "packages.torch.version"),
        ("torch-for-the-cpu", "python/executable", "/usr/bin/py\x00thon", "python.executable"),
        ("torch-for-the-cpu", "gpus/driver", "550;reboot", "gpus.driver"),
        ("kernel-without-ipykernel", "kernel/specs/0/interpreter", "py\nreboot", "specs[0].interpreter"),
        ("kernel-without-ipykernel", "kernel/specs/0/name", "a\x1b[2J", "specs[0].name"),
        ("notebook-not-trusted", "notebooks/0/name", "a\nb.ipynb", "notebooks[0].name"),
        ("notebook-not-trusted", "notebooks/0/name", "-f", "notebooks[0].name"),
        ("own-numpy-file", "python/shadows/0", "numpy.py;reboot", "python.shadows[0]"),
        ("offline", "network", {"a;reboot": False}, "network"),
        ("offline", "packages", {"torch\nreboot": {"version": "1"}}, "packages"),
        ("import-fails", "frameworks", {"torch;reboot": {"imported": False}}, "frameworks"),
        ("torch-for-the-cpu", "environment/variables", {"A=$(x) B": "1"}, "environment.variables"),
        ("torch-for-the-cpu", "machine/release", {"unknown": "no\nreason"}, "machine.release"),
    ],
)
def test_a_file_with_what_is_no_such_value_is_refused_and_the_field_is_named(
    case: str, way: str, value: object, said: str, machine: Callable[..., Facts], tmp_path: Path, capsys: Any
):
    file = saved(tmp_path, case, machine, way, value)
    assert cli.main(["doctor", "--facts", file, "--fix-plan"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    (sentence,) = shown.err.splitlines()
    assert f"the facts.{said}" in sentence.replace("kernel.specs", "specs") or said in sentence
    assert sentence.isprintable()


def test_every_text_of_a_facts_file_is_refused_with_a_control_character_in_it(machine: Callable[..., Facts]):
    facts = machine("cuda")
    taken = []
    for way in ways(facts):
        for odd in ("\x00", "\x1b", "\x7f", "\x9b", "\u2028", "\ud800"):
            changed = with_text(facts, way, lambda text, odd=odd: f"{text[:1]}{odd}{text[1:]}")
            try:
                reading.from_json(reading.to_json(changed))
            except RecordError:
                continue
            taken.append((way, odd))
    assert taken == []


def test_what_a_framework_said_may_have_lines(machine: Callable[..., Facts]):
    answer = {"imported": False, "error": "Traceback:\n\tFile x\nImportError: no"}
    facts = machine("cpu", {"frameworks": {"torch": answer}})
    assert reading.from_json(reading.to_json(facts)) == facts


def test_every_healthy_and_every_broken_machine_is_read(machine: Callable[..., Facts]):
    for case in CASES.values():
        facts = machine(case["machine"], case["changes"])
        assert reading.from_json(reading.to_json(facts)) == facts


def test_no_check_writes_a_line_for_a_shell_from_anything_but_its_own_letters():
    found, wrong = [], []
    for file in sorted(Path(next(iter(checks.__path__))).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(ast.Name("as_written"), [ast.Constant(str())], []):
                    found.append(file.name)
                case ast.Call(ast.Name("as_written")) | ast.Call(ast.Name("Remedy"), [_, *_]):
                    if file.name != "remedies.py":
                        wrong.append(f"{file.name}:{node.lineno}")
    assert wrong == []
    assert len(found) > 30


def test_the_sidebar_never_gets_half_a_line(machine: Callable[..., Facts]):
    names = [f"{number:04} {'x' * 60}.ipynb" for number in range(200)]
    books = [{"name": name, "trusted": False, "rich": True} for name in names]
    (finding,) = light.summary(diagnose(machine("cpu", {"notebooks": books})))["findings"]
    assert len(finding["remedy"]) <= light.LONG
    lines = finding["remedy"].splitlines()
    assert all(line.startswith("# ") or len(shlex.split(line)) == 3 for line in lines)
    assert lines[-1].startswith("# ")
    assert len(lines) > 10


def test_a_plan_is_what_bash_can_read(machine: Callable[..., Facts]):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("There is no bash here.")
    plans = [
        page.plan(diagnose(machine(case["machine"], case["changes"])), language)
        for case in CASES.values()
        for language in page.LANGUAGES
    ]
    done = subprocess.run(
        [bash, "-n"], input="\n".join(plans), capture_output=True, text=True, env=os.environ
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_home_folder_is_still_found_where_its_path_is_quoted(
    machine: Callable[..., Facts], run_by_sh: Callable[[str], set[str]]
):
    changes = CASES["kernel-without-ipykernel"]["changes"] | {
        "kernel/specs/0/interpreter": "~/my env/bin/python"
    }
    (finding,) = diagnose(machine("cuda", changes)).findings
    assert finding.remedy == "~/'my env/bin/python' -m pip install ipykernel"
