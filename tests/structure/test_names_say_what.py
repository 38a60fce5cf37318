"""Names say what they hold: a public class is there once, and words that say nothing name no part.

`made` or `inside` may be said of anything, so as the name of a module, a class or an attribute they tell a
reader nothing. In a function of a few lines, where all of it is seen, they may stand.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tracked import tracked

import jupyter_mlgpu

ROOT = Path(jupyter_mlgpu.__file__).parent
BROWSER = ROOT.parent / "labextension" / "src"
MODULES = tracked(ROOT, "**/*.py")

WORDS = {
    "between",
    "chosen",
    "choices",
    "mentioned",
    "inside",
    "aside",
    "around",
    "underway",
    "once",
    "held",
    "kept",
    "showing",
    "told",
    "made",
    "found",
    "one",
}

#: Names with such a word that stay, and why.
ALLOWED = {
    "OnePassNorm": "the field's own term: mean and variance in one pass",
    "_one_sentence": "it reads as a statement: `with _one_sentence():`",
    "GpuFacts.found": "a field of the doctor's files of facts, which people have saved",
    "KernelFacts.inside": "a field of the doctor's files of facts, which people have saved",
    "DoctorData.found": "a field of what the kernel tells of the doctor",
    "PickerData.chosen": "a field of what the kernel tells of devices",
    "SnapshotState.choices": "a field of what the kernel tells of devices",
    "SidebarEvent.choices": "a field of what the kernel tells of devices",
}


#: The same of the page; its messages are made of types in Python.
ALLOWED_IN_THE_PAGE = {
    "devicechoice.ts: chosen": "a field of what the kernel tells of devices",
    "state.ts: choices": "a field of what the kernel tells of devices",
}


def words_of(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()))


def classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield path, node


def attributes(node: ast.ClassDef) -> Iterator[str]:
    """Of a class and of its objects, those that others read."""
    for one in ast.walk(node):
        match one:
            case ast.AnnAssign(target=ast.Name(id=name)) if one in node.body:
                yield name
            case ast.FunctionDef(name=name, decorator_list=[ast.Name(id="property")]):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


def empty_names() -> set[str]:
    """Names of modules, classes and public attributes that have such a word, or are one."""
    found = {path.stem for path in MODULES if words_of(path.stem) & WORDS}
    for _, node in classes():
        if words_of(node.name) & WORDS:
            found.add(node.name)
        found |= {f"{node.name}.{name}" for name in attributes(node) if name.strip("_") in WORDS}
    for path in MODULES:
        names = variables(ast.parse(path.read_text(encoding="utf-8")))
        found |= {f"{path.stem}: {name}" for name in names if name.strip("_").lower() in WORDS}
    return found


def variables(module: ast.Module) -> Iterator[str]:
    """Those at the top of a module, which live as long as it."""
    for one in module.body:
        targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def empty_names_of_the_page() -> set[str]:
    """Of TypeScript: files, and fields of interfaces, of classes and of what a view is given."""
    found = set()
    for path in tracked(BROWSER, "**/*.ts*"):
        if words_of(path.stem) & WORDS:
            found.add(path.name)
        text = path.read_text(encoding="utf-8")
        fields = re.findall(r"^  (?:private |readonly )*(\w+)\??: .*;$", text, re.M)
        found |= {f"{path.name}: {name}" for name in fields if name in WORDS}
    return found


def test_names_of_modules_classes_and_attributes_say_what_they_hold():
    assert empty_names() == set(ALLOWED)
    assert empty_names_of_the_page() == set(ALLOWED_IN_THE_PAGE)


def test_a_public_class_is_the_only_one_of_its_name():
    places: dict[str, list[str]] = defaultdict(list)
    for path, node in classes():
        if not node.name.startswith("_"):
            places[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
