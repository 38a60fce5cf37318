"""`check`: finds an exercise by its name and judges the answer. Each lesson's exercises are a module."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Mapping
from functools import cache

from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Exercise, Verdict, judge
from jupyter_mlgpu.teach.lessons.coaching import Coaching

#: Wrong answers to each exercise in this kernel. Each one unlocks the next hint.
_wrong: Counter[str] = Counter()


def modules() -> tuple[str, ...]:
    """Return the names of the modules that hold exercises, in the order of the lessons."""
    return tuple(sorted(one.name for one in pkgutil.iter_modules(__path__) if one.name.startswith("lesson_")))


def exercises_of(module: str) -> tuple[Exercise, ...]:
    """Return the exercises of one lesson's module."""
    found: tuple[Exercise, ...] = importlib.import_module(f"{__name__}.{module}").EXERCISES
    return found


@cache
def exercises() -> Mapping[str, Exercise]:
    """Return all exercises by name, which is that of the function a learner writes."""
    return {one.name: one for module in modules() for one in exercises_of(module)}


def coaching_of(name: str) -> Coaching:
    """Return the hints and the likely mistakes of an exercise."""
    module = next(one for one in modules() for each in exercises_of(one) if each.name == name)
    found: Mapping[str, Coaching] = importlib.import_module(
        f"jupyter_mlgpu.teach.lessons.mistakes.{module}"
    ).COACHING
    return found[name]


def check(name: str, answer: Answer) -> Verdict:
    """Judge a learner's answer to the exercise `name`.

    Raises UsageError if there is no such exercise, and MissingPackageError if a package that the exercise
    computes with is not installed.
    """
    require("`check`", "lessons", "numpy")
    if not modules():
        raise UsageError(
            say("`check` cannot be used here: where submissions are graded, no reference answer can be read.")
        )
    if name not in exercises():
        raise UsageError(f"There is no exercise {name!r}. Write one of these: {', '.join(exercises())}.")
    try:
        verdict = judge(exercises()[name], answer, coaching_of(name), attempt=_wrong[name] + 1)
    except ModuleNotFoundError as error:  # ours: one in the learner's answer is part of the verdict
        require("`check`", "lessons", error.name or "")
        raise
    _wrong[name] += verdict.state == "wrong"
    if verdict.state != "open":
        current().on_check(name, verdict.state == "right")
    return verdict
