"""The page of `%%mlc_trace --check`: the answer, the first wrong operations, and what was not checked."""

from __future__ import annotations

from jupyter_mlgpu.measure.checking.compare import Deviation
from jupyter_mlgpu.measure.checking.result import ResultCheck, WrongResult
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, joined, say, say_count
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.page.rendering import page_of

#: Operations that cannot be compared, by name, in a sentence.
_NAMED = 8


@page_of.register
def page(result: ResultCheck) -> Page:
    """Return the page: answer, table of the first wrong results, what was not checked, and how it works."""
    table = (_table(result),) if result.first else ()
    notes = (
        say(
            "Each operation was computed again on the CPU in float64 from the inputs that the device had, "
            "and the difference was compared with the error that the number type explains."
        ),
        say(
            "This was no timed run: a cell takes many times as long while it is checked, and functions of "
            "`torch.compile` run eagerly."
        ),
    )
    return Page(
        (*table, *_not_checked(result)),
        notes,
        title=say("Are the results right?"),
        headline=headline(result),
    )


def headline(result: ResultCheck) -> Sentence:
    """Return the answer in one sentence."""
    if result.first:
        return _first(result.first[0])
    if not result.checked:
        return say("This cell ran no PyTorch operation that could be checked.")
    return say_count(
        "No wrong result in {count} operation.", "No wrong result in {count} operations.", result.checked
    )


def _first(wrong: WrongResult) -> Sentence:
    what = say("`{operation}`", operation=wrong.operation)
    if wrong.where:
        what = say("`{operation}` on {line}", operation=wrong.operation, line=wrong.where)
    deviation = wrong.deviation
    if deviation.what == "shape":
        return say(
            "First wrong result: {operation}: its shape is {given}, not {expected}.",
            operation=what,
            given=deviation.given,
            expected=deviation.expected,
        )
    if deviation.off is None or not deviation.explained:
        return say(
            "First wrong result: {operation}: {given} where {expected} is right.",
            operation=what,
            given=deviation.given,
            expected=deviation.expected,
        )
    return say(
        "First wrong result: {operation}: off by {off} where {dtype} explains {explained}.",
        operation=what,
        off=_short(deviation.off),
        dtype=wrong.dtype,
        explained=_short(deviation.explained),
    )


def _table(result: ResultCheck) -> Table:
    columns = (
        say("operation"),
        say("line"),
        say("device"),
        say("type and shape"),
        say("element"),
        say("given"),
        say("right"),
        say("off by"),
        say("explained"),
        say("wrong elements"),
    )
    below = ""
    if result.wrong > len(result.first):
        below = say_count("{count} wrong operation in all.", "{count} wrong operations in all.", result.wrong)
    return Table(
        columns,
        tuple(map(_row, result.first)),
        figures=columns[5:],
        caption=say("The first wrong results, in the order of the run"),
        below=below,
    )


def _row(wrong: WrongResult) -> tuple[str, ...]:
    deviation = wrong.deviation
    return (
        wrong.operation,
        wrong.where,
        wrong.device,
        f"{wrong.dtype} {list(wrong.shape)}",
        _element(wrong, deviation),
        deviation.given,
        deviation.expected,
        "" if deviation.off is None else _short(deviation.off),
        "" if deviation.explained is None else _short(deviation.explained),
        f"{deviation.wrong:,} / {deviation.elements:,}",
    )


def _element(wrong: WrongResult, deviation: Deviation) -> str:
    place = str(list(deviation.index))
    return (
        place if not wrong.output else say("{place} of result {number}", place=place, number=wrong.output + 1)
    )


def _not_checked(result: ResultCheck) -> list[Sentence]:
    found = []
    if result.first:
        found.append(
            say_count("{count} operation was checked.", "{count} operations were checked.", result.checked)
        )
    if result.random:
        found.append(
            say_count(
                "{count} random operation cannot be checked.",
                "{count} random operations cannot be checked.",
                result.random,
            )
        )
    if result.not_comparable:
        names = list(result.not_comparable)
        more = ", …" if len(names) > _NAMED else ""
        found.append(
            say_count(
                "{count} more could not be compared: {names}.",
                "{count} more could not be compared: {names}.",
                sum(result.not_comparable.values()),
                names=", ".join(names[:_NAMED]) + more,
            )
        )
    if result.left_out:
        found.append(
            say_count(
                "{count} was left out: checking takes {time} at most, half of it for repetitions, and skips "
                "very large tensors.",
                "{count} were left out: checking takes {time} at most, half of it for repetitions, and skips "
                "very large tensors.",
                result.left_out,
                time=units.seconds(result.budget),
            )
        )
    return [joined(*found)] if found else []


def _short(number: float) -> str:
    return f"{number:.2g}"
