"""Compares a learner's answer with the reference answer of an exercise (`judge`).

The answer is called with one fixed example and with random inputs, so that an answer which only fits the
example counts as wrong. A wrong answer raises no error: the `Verdict` says what is wrong, and holds the
reference answer for the cells below.
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

#: Number of sets of random inputs for which an answer has to give the right result.
_RANDOM_INPUTS = 3

#: Maximum number of characters of an input that are shown; a longer one is cut.
_MAX_SHOWN = 100

#: A learner's answer: a function, or `...` or None while it is not written yet.
Answer = Any
Arguments = Mapping[str, object]


@dataclass(frozen=True)
class Exercise:
    """A place in a lesson where the learner fills in an answer, usually a function.

    Attributes:
        name: the name of the answer, as in "relu is not written yet."
        task: what to write; it completes the sentence "The task: …".
        reference: the right answer.
        example: arguments for which a wrong result is easy to understand.
        fresh: returns random arguments.
        run: calls the answer, as `run(answer, arguments)`, if passing the arguments by position is not
            enough. The arguments are a dictionary by name.
        tolerance: relative difference allowed between numbers (see `differences.close`). Integers must be
            equal.

    Arguments are mappings from name to value: NumPy arrays, numbers, strings or lists. They are passed to the
    answer by position, in the order of the mapping. The answer returns a tensor of any framework, a string,
    or a tuple, list or dictionary of these. If it returns None or `...`, the exercise is still open.
    """

    name: str
    task: str
    reference: Answer
    example: Arguments
    fresh: Callable[[random.Random], Arguments]
    run: Callable[[Answer, Arguments], object] | None = None
    tolerance: float = 1e-5

    def call(self, answer: Answer, arguments: Arguments) -> object:
        """Call an answer and return its result. It gets a copy of the arguments, which it may change."""
        copied = copy.deepcopy(dict(arguments))
        return answer(*copied.values()) if self.run is None else self.run(answer, copied)


@dataclass(frozen=True)
class Verdict:
    """The result of judging an answer.

    `answer` is the function that the cells below use: the learner's answer if it is right, otherwise the
    reference answer.
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
                *(line for value in self.shown for line in value.text()),
            ]
        )

    def _repr_html_(self) -> str:
        lines = [element("div", translate(sentence)) for sentence in self.sentences]
        text = element("div", element("b", self._title()), *lines)
        return str(joined(text, *(value.html() for value in self.shown)))

    def _title(self) -> str:
        titles = {"right": say("✓ Right."), "open": say("○ Still open."), "wrong": say("✗ Not yet.")}
        return translate(titles[self.state])


def judge(exercise: Exercise, answer: Answer, coaching: Coaching | None = None, attempt: int = 1) -> Verdict:
    """Call an answer with the example and with random inputs, and stop at the first wrong result.

    If `coaching` has a mistake that gives the same results, the verdict describes that mistake. It also gives
    the hint for this `attempt`, counted from 1.
    """

    def wrong(problem: Sentence, inputs: list[Sentence], shown: tuple[ShownValue, ...]) -> Verdict:
        sentences = [problem]
        if coaching is not None:
            mistake = _find_mistake(exercise, answer, coaching)
            sentences += [coaching.hint(attempt)] if mistake is None else [mistake, coaching.hint(attempt)]
        return _verdict_with_reference("wrong", exercise, sentences, inputs, shown)

    draw = random.Random()
    for arguments in [exercise.example, *(exercise.fresh(draw) for _ in range(_RANDOM_INPUTS))]:
        wanted = read(exercise.call(exercise.reference, arguments))
        columns, inputs = _shown_inputs(arguments, wanted)
        if answer is None or answer is ...:
            problem = say("{name} is not written yet.", name=exercise.name)
            return _verdict_with_reference("open", exercise, [problem], inputs, still_open(wanted, columns))
        try:
            result = read(exercise.call(answer, arguments), like=wanted)
        except Exception as error:
            if _has_dots(answer):
                shown = still_open(wanted, columns)
                return _verdict_with_reference("open", exercise, [_dots(exercise)], inputs, shown)
            problem = error_sentence(exercise.name, answer, error)
            return wrong(problem, inputs, still_open(wanted, columns, mark=""))
        difference = compare(result, wanted, exercise.tolerance, columns)
        if difference.same:
            continue
        problem = say("{name} {what}.", name=exercise.name, what=difference.what)
        if difference.same is None:
            return _verdict_with_reference("open", exercise, [problem], inputs, difference.shown)
        if _has_dots(answer):  # what it gives is an accident: `...` counts as true
            shown = still_open(wanted, columns)
            return _verdict_with_reference("open", exercise, [_dots(exercise)], inputs, shown)
        return wrong(problem, inputs, difference.shown)
    right = say(
        "{name} gives the right result, also on {count} sets of fresh inputs.",
        name=exercise.name,
        count=_RANDOM_INPUTS,
    )
    return Verdict("right", (right, say("The cells below use your answer.")), (), answer)


def _find_mistake(exercise: Exercise, answer: Answer, coaching: Coaching) -> Sentence | None:
    """Return a description of the known mistake that gives the same results as `answer`, or None."""
    draw = random.Random()
    inputs = [exercise.example, exercise.fresh(draw), exercise.fresh(draw)]
    try:
        results = [read(exercise.call(answer, arguments)) for arguments in inputs]
    except Exception:  # the verdict describes the exception instead
        return None
    for mistake in coaching.mistakes:
        try:
            if all(
                compare(result, read(exercise.call(mistake.answer, arguments)), exercise.tolerance, {}).same
                for result, arguments in zip(results, inputs, strict=True)
            ):
                return mistake.named
        except Exception:  # the mistake's answer fails for these inputs, so it is not the learner's mistake
            continue
    return None


def _verdict_with_reference(
    state: Literal["open", "wrong"],
    exercise: Exercise,
    problem: list[Sentence],
    inputs: list[Sentence],
    shown: tuple[ShownValue, ...],
) -> Verdict:
    """Return the verdict for an answer that is not right: the cells below use the reference answer."""
    sentences = (
        *problem,
        say("The task: {task}.", task=exercise.task),
        *inputs,
        say("Until it is right, the cells below use the reference answer."),
    )
    return Verdict(state, sentences, shown, exercise.reference)


def _dots(exercise: Exercise) -> Sentence:
    return say("{name} still has three dots in it.", name=exercise.name)


def _has_dots(answer: Answer) -> bool:
    """Return True if an answer's source contains `...` as a placeholder, not as an index (`x[..., 0]`)."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(answer)))
    except (OSError, TypeError, SyntaxError):  # the answer's source is not available
        return False
    if not isinstance(tree.body[0], ast.FunctionDef | ast.ClassDef):
        return False  # the source of a lambda is the whole line that contains it
    indices = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    in_indices = {id(node) for index in indices for node in ast.walk(index)}
    return any(
        isinstance(node, ast.Constant) and node.value is ... and id(node) not in in_indices
        for node in ast.walk(tree)
    )


def _shown_inputs(arguments: Arguments, wanted: Value) -> tuple[dict[str, list[str]], list[Sentence]]:
    """Return the arguments as columns of the table of results, and as sentences; one of the two is empty.

    Columns are used if the result is small and every argument has as many numbers as the result.
    """
    values = {name: read(value) for name, value in arguments.items()}
    size = wanted.array.size if isinstance(wanted, Numbers) else 0
    numbers = {name: value.array for name, value in values.items() if isinstance(value, Numbers)}
    if (
        1 < size <= SMALL
        and values
        and all(name in numbers and numbers[name].size == size for name in values)
    ):
        return {
            name: [number(item) for item in array.ravel().tolist()] for name, array in numbers.items()
        }, []
    sentences = [
        say("{name} = {value}", name=name, value=_brief(arguments[name], value))
        for name, value in values.items()
    ]
    if not sentences:
        return {}, []
    listed = reduce(lambda first, second: say("{first}; {second}", first=first, second=second), sentences)
    return {}, [say("Here, {arguments}.", arguments=listed)]


def _brief(argument: object, value: Value) -> str:
    if isinstance(value, Numbers):
        if value.array.size > SMALL:
            return describe(value)
        return _number_text(value.array.tolist())
    text = repr(argument)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def _number_text(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_number_text, values))}]"
    return number(values)
