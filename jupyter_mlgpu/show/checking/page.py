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
        (*table, *_known(result), *_not_checked(result)),
        notes,
        title=say("Are the results right?"),
        headline=headline(result),
    )


def headline(result: ResultCheck) -> Sentence:
    """Return the answer: the first wrong result, or how many operations were right and how many left out."""
    if result.first:
        wrong = result.first[0]
        return joined(_first(wrong), wrong.known) if wrong.known else _first(wrong)
    others = sum(result.not_comparable.values()) + result.left_out
    if result.checked:
        answer = say_count(
            "No wrong result in {count} operation.", "No wrong result in {count} operations.", result.checked
        )
        more = say_count("{count} more was not checked.", "{count} more were not checked.", others)
        return joined(answer, more) if others else answer
    if not (others + result.random):
        return say("This cell computed nothing with PyTorch in its own thread, so nothing was checked.")
    return say_count(
        "The only operation of PyTorch in this cell could not be checked.",
        "None of the {count} operations of PyTorch in this cell could be checked.",
        others + result.random,
    )


def _first(wrong: WrongResult) -> Sentence:
    what = say("`{operation}`", operation=name(wrong.operation))
    if wrong.where:
        what = say("`{operation}` on {line}", operation=name(wrong.operation), line=wrong.where)
    deviation = wrong.deviation
    if deviation.what == "shape":
        return say(
            "First wrong result: {operation} has the shape {given}, and {expected} is right.",
            operation=what,
            given=deviation.given,
            expected=deviation.expected,
        )
    if deviation.off is None or not deviation.explained:
        return say(
            "First wrong result: {operation} gave {given}, and {expected} is right.",
            operation=what,
            given=deviation.given,
            expected=deviation.expected,
        )
    return say(
        "First wrong result: {operation} is off by {off}, and rounding in {dtype} explains at most "
        "{explained}.",
        operation=what,
        off=_short(deviation.off),
        dtype=wrong.dtype,
        explained=_short(deviation.explained),
    )


def name(operation: str) -> str:
    """Return an operation's name as users write it: `cumsum` for `aten.cumsum`."""
    return operation.removeprefix("aten.")


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
        say("times"),
    )
    return Table(
        columns,
        tuple(map(_row, result.first)),
        figures=columns[5:],
        caption=say("The first wrong results, in the order of the run"),
    )


def _row(wrong: WrongResult) -> tuple[str, ...]:
    deviation = wrong.deviation
    return (
        name(wrong.operation),
        wrong.where,
        wrong.device,
        f"{wrong.dtype} {list(wrong.shape)}",
        _element(wrong, deviation),
        deviation.given,
        deviation.expected,
        "" if deviation.off is None else _short(deviation.off),
        "" if deviation.explained is None else _short(deviation.explained),
        f"{deviation.wrong:,} / {deviation.elements:,}",
        f"{wrong.times:,}",
    )


def _element(wrong: WrongResult, deviation: Deviation) -> str:
    place = str(list(deviation.index))
    return (
        place if not wrong.output else say("{place} of result {number}", place=place, number=wrong.output + 1)
    )


def _known(result: ResultCheck) -> list[str]:
    """Return what is known of the wrong operations after the first, whose issue the headline has."""
    return [*dict.fromkeys(one.known for one in result.first[1:] if one.known)]


def _not_checked(result: ResultCheck) -> list[Sentence]:
    found = []
    if result.first:
        found.append(
            say("Operations checked: {checked}; wrong: {wrong}.", checked=result.checked, wrong=result.wrong)
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
        names = [*map(name, result.not_comparable)]
        more = ", …" if len(names) > _NAMED else ""
        found.append(
            say_count(
                "{count} operation could not be compared: {names}.",
                "{count} operations could not be compared: {names}.",
                sum(result.not_comparable.values()),
                names=", ".join(names[:_NAMED]) + more,
            )
        )
    if result.left_out:
        found.append(
            say_count(
                "{count} operation was left out: checking takes {time} at most, half of it for repetitions, "
                "and skips very large tensors.",
                "{count} operations were left out: checking takes {time} at most, half of it for "
                "repetitions, and skips very large tensors.",
                result.left_out,
                time=units.seconds(result.budget),
            )
        )
    return [joined(*found)] if found else []


def _short(number: float) -> str:
    return f"{number:.2g}"
