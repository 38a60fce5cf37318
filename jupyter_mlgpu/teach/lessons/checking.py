"""`judge`: compares a learner's answer with the reference answer of an exercise.

An answer is tried on one fixed example and on random inputs, so an answer that only fits the example fails. A
wrong answer raises no error: the `Verdict` says what is missing and holds an answer that the cells below can
use.
"""

from __future__ import annotations

import ast
import copy
import inspect
import random
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.markup import element, joined
from jupyter_mlgpu.teach.lessons.coaching import Coaching
from jupyter_mlgpu.teach.lessons.differences import SMALL, compare, describe, still_open
from jupyter_mlgpu.teach.lessons.display import ShownValue, number
from jupyter_mlgpu.teach.lessons.stopping import error_sentence
from jupyter_mlgpu.teach.lessons.values import Numbers, Value, read

#: Number of random inputs that an answer has to get right.
FRESH = 3

#: Longest input that is shown unshortened, in characters.
_LONGEST = 100

#: A learner's answer: a function, or three dots or None while it is not written yet.
Answer = Any
Arguments = Mapping[str, object]


@dataclass(frozen=True)
class Exercise:
    """One blank of a lesson. `task` ends the sentence "The task: …".

    The result for `example` shows a mistake at a glance; `fresh` draws random arguments. Both are mappings by
    name, passed to the answer by position, in their order: NumPy arrays, numbers, words or lists. An answer
    returns a tensor of any framework, a word, or a tuple, list or dictionary of these. None or three dots
    mean that it is still open. `run(answer, arguments)` calls answers that need another kind of call. Numbers
    may differ by `tolerance` of their size, integers may not.
    """

    name: str
    task: str
    reference: Answer
    example: Arguments
    fresh: Callable[[random.Random], Arguments]
    run: Callable[[Answer, Arguments], object] | None = None
    tolerance: float = 1e-5

    def give(self, answer: Answer, arguments: Arguments) -> object:
        """Call an answer with a copy of the arguments, so that it may change them."""
        own = copy.deepcopy(dict(arguments))
        return answer(*own.values()) if self.run is None else self.run(answer, own)


@dataclass(frozen=True)
class Verdict:
    """The result of judging an answer.

    `answer` is what the cells below use: the learner's answer if it is right, otherwise the reference.
    """

    state: Literal["right", "open", "wrong"]
    sentences: tuple[Sentence, ...]
    shown: tuple[ShownValue, ...]
    answer: Answer

    def __repr__(self) -> str:
        return "\n".join(
            [
                self._title(),
                *map(translate, self.sentences),
                *(line for one in self.shown for line in one.text()),
            ]
        )

    def _repr_html_(self) -> str:
        lines = [element("div", translate(one)) for one in self.sentences]
        text = element("div", element("b", self._title()), *lines)
        return str(joined(text, *(one.html() for one in self.shown)))

    def _title(self) -> str:
        titles = {"right": say("✓ Right."), "open": say("○ Still open."), "wrong": say("✗ Not yet.")}
        return translate(titles[self.state])


def judge(exercise: Exercise, answer: Answer, coaching: Coaching | None = None, attempt: int = 1) -> Verdict:
    """Try an answer on the example and on random inputs, and stop at the first wrong result.

    The verdict names the mistake if `coaching` recognises it, and gives the hint for this `attempt`.
    """

    def wrong(what: Sentence, given: list[Sentence], shown: tuple[ShownValue, ...]) -> Verdict:
        help_on = [] if coaching is None else [coaching.hint(attempt)]
        named = None if coaching is None else _find_mistake(exercise, answer, coaching)
        first = [what] if named is None else [what, named]
        return _not_right("wrong", exercise, [*first, *help_on], given, shown)

    draw = random.Random()
    for arguments in [exercise.example, *(exercise.fresh(draw) for _ in range(FRESH))]:
        wanted = read(exercise.give(exercise.reference, arguments))
        inputs, given = _shown_inputs(arguments, wanted)
        if answer is None or answer is ...:
            nothing = say("{name} is not written yet.", name=exercise.name)
            return _not_right("open", exercise, [nothing], given, still_open(wanted, inputs))
        try:
            got = read(exercise.give(answer, arguments), like=wanted)
        except Exception as error:
            if _has_dots(answer):
                return _not_right("open", exercise, [_dots(exercise)], given, still_open(wanted, inputs))
            return wrong(
                error_sentence(exercise.name, answer, error), given, still_open(wanted, inputs, mark="")
            )
        found = compare(got, wanted, exercise.tolerance, inputs)
        if found.same:
            continue
        what = say("{name} {what}.", name=exercise.name, what=found.what)
        if found.same is None:
            return _not_right("open", exercise, [what], given, found.shown)
        if _has_dots(answer):
            return _not_right("open", exercise, [_dots(exercise)], given, found.shown)
        return wrong(what, given, found.shown)
    right = say(
        "{name} gives the right result, also on {count} sets of fresh inputs.",
        name=exercise.name,
        count=FRESH,
    )
    return Verdict("right", (right, say("The cells below use your answer.")), (), answer)


def _find_mistake(exercise: Exercise, answer: Answer, coaching: Coaching) -> Sentence | None:
    """Return the name of the mistake that gives the same results as `answer`; None if there is none."""
    draw = random.Random()
    tried = [exercise.example, exercise.fresh(draw), exercise.fresh(draw)]
    try:
        results = [read(exercise.give(answer, arguments)) for arguments in tried]
    except Exception:  # the verdict names the error instead
        return None
    for mistake in coaching.mistakes:
        try:
            pairs = zip(results, tried, strict=True)
            if all(
                compare(got, read(exercise.give(mistake.answer, each)), exercise.tolerance, {}).same
                for got, each in pairs
            ):
                return mistake.named
        except Exception:  # this mistake cannot be made with these inputs
            continue
    return None


def _not_right(
    state: Literal["right", "open", "wrong"],
    exercise: Exercise,
    what: list[Sentence],
    given: list[Sentence],
    shown: tuple[ShownValue, ...],
) -> Verdict:
    sentences = (
        *what,
        say("The task: {task}.", task=exercise.task),
        *given,
        say("Until it is right, the cells below use the reference answer."),
    )
    return Verdict(state, sentences, shown, exercise.reference)


def _dots(exercise: Exercise) -> Sentence:
    return say("{name} still has three dots in it.", name=exercise.name)


def _has_dots(answer: Answer) -> bool:
    """Return True if an answer's source contains three dots as a value; `x[..., 0]` does not count."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(answer)))
    except (OSError, TypeError, SyntaxError):  # its source is not available
        return False
    if not isinstance(tree.body[0], ast.FunctionDef | ast.ClassDef):
        return False  # the source of a lambda is the whole line that contains it
    indices = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    meant = {id(node) for index in indices for node in ast.walk(index)}
    return any(
        isinstance(node, ast.Constant) and node.value is ... and id(node) not in meant
        for node in ast.walk(tree)
    )


def _shown_inputs(arguments: Arguments, wanted: Value) -> tuple[dict[str, list[str]], list[Sentence]]:
    """Return the arguments as table columns if they have the result's size; else in a sentence."""
    values = {name: read(value) for name, value in arguments.items()}
    size = wanted.array.size if isinstance(wanted, Numbers) else 0
    numbers = {name: one.array for name, one in values.items() if isinstance(one, Numbers)}
    if (
        1 < size <= SMALL
        and values
        and all(name in numbers and numbers[name].size == size for name in values)
    ):
        return {name: [number(one) for one in array.ravel().tolist()] for name, array in numbers.items()}, []
    sentences = [
        say("{name} = {value}", name=name, value=_brief(arguments[name], one)) for name, one in values.items()
    ]
    if not sentences:
        return {}, []
    listed = reduce(lambda one, other: say("{first}; {second}", first=one, second=other), sentences)
    return {}, [say("Here, {arguments}.", arguments=listed)]


def _brief(argument: object, value: Value) -> str:
    if isinstance(value, Numbers):
        if value.array.size > SMALL:
            return describe(value)
        return _number_text(value.array.tolist())
    text = repr(argument)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _number_text(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_number_text, values))}]"
    return number(values)
