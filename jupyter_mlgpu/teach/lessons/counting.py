"""`progress`: counts passed checks and predictions in the saved notebooks of a folder.

Nothing is stored: an exercise is passed if the output of one of its checks says so, and a prediction is made
if its second argument is neither `...` nor `None`. labextension/src/kernel/progress.ts counts the same in an
open notebook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record import incoming
from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, of_error, say, say_count
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.show.page.model import Page, with_head
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.teach.submissions.reading import join_text

#: `check("name"` outside a comment line, and not as a method. Both patterns must match the same text as those
#: of progress.ts, so they use ASCII.
_CHECK = re.compile(r"""^(?![ \t]*#).*?(?<![\w.])check\([ \t]*["'](\w+)["']""", re.MULTILINE | re.ASCII)
#: Group 1 is the placeholder; it is empty if a prediction was made.
_PREDICT = re.compile(
    r"""^(?![ \t]*#).*?(?<![\w.])predict\([ \t]*(?:"[^"\n]*"|'[^'\n]*')[ \t]*,[ \t]*(\.\.\.|None\b)?""",
    re.MULTILINE | re.ASCII,
)
#: First character of the verdict on a right answer, the same in every language.
_RIGHT = "✓"


@dataclass(frozen=True)
class LessonProgress:
    """The number of exercises, passed exercises, predictions, and predictions made in a lesson."""

    checks: int
    passed: int
    predictions: int
    predictions_made: int


@dataclass(frozen=True, repr=False)
class LessonsProgress(Displayable):
    """The progress of each lesson by its title, and why some notebooks could not be read."""

    lessons: Mapping[str, LessonProgress]
    problems: tuple[str, ...] = ()


def progress() -> LessonsProgress:
    """Count the passed checks and the predictions made in the saved lessons of this folder.

    >>> progress()  # doctest: +SKIP
    3 of 31 checks passed, 2 of 16 predictions made in this folder's lessons, as they were last saved.
    """
    lessons, problems = {}, []
    for path in sorted(Path.cwd().glob("[0-9][0-9]_*.ipynb")):
        try:
            notebook = _read(path)
        except UsageError as error:
            problems.append(of_error(error))
            continue
        found = count_progress(cell for cell in _cells(notebook) if cell.get("cell_type") == "code")
        if found is not None:
            lessons[_title(notebook) or path.stem] = found
    return LessonsProgress(lessons, tuple(problems))


def count_progress(cells: Iterable[Mapping[str, Any]]) -> LessonProgress | None:
    """Return the progress in a notebook's code cells, or None if it is not a lesson."""
    right: dict[str, bool] = {}
    predictions = predictions_made = 0
    for cell in cells:
        code = join_text(cell.get("source")) or ""
        for name in _CHECK.findall(code):
            is_right = any(text.startswith(_RIGHT) for text in _results(cell))
            right[name] = right.get(name, False) or is_right
        placeholders = _PREDICT.findall(code)
        predictions += len(placeholders)
        predictions_made += placeholders.count("")
    if not right and not predictions:
        return None
    return LessonProgress(len(right), sum(right.values()), predictions, predictions_made)


def _read(path: Path) -> Any:
    try:
        return json.loads(incoming.read_notebook(path).decode())
    except (ValueError, RecursionError) as error:
        raise UsageError(
            say("{path} is not a notebook: it is not JSON.", path=visible_line(path.name))
        ) from error


def _cells(notebook: Any) -> list[Mapping[str, Any]]:
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return [one for one in cells if isinstance(one, dict)] if isinstance(cells, list) else []


def _title(notebook: Any) -> str:
    """Return a notebook's first line if that is a heading, else an empty string."""
    first = next(iter(_cells(notebook)), {})
    line = (join_text(first.get("source")) or "").partition("\n")[0]
    return line.removeprefix("# ") if line.startswith("# ") else ""


def _results(cell: Mapping[str, Any]) -> Iterator[str]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        data = output.get("data") if isinstance(output, dict) else None
        if isinstance(data, dict):
            yield join_text(data.get("text/plain")) or ""


@page_of.register
def _page(shown: LessonsProgress) -> Page:
    if not shown.lessons:
        none = say("No lesson is in this folder: `jupyter mlgpu lessons my-lessons` copies them.")
        return Page((), headline=translate(none), notes=tuple(map(translate, shown.problems)))
    rows = [(title, *_of(one)) for title, one in shown.lessons.items()]
    head = tuple(map(translate, (say("lesson"), say("checks passed"), say("predictions made"))))
    return Page(
        (with_head([head, *rows], figures=head[1:]),),
        headline=translate(_headline(shown.lessons.values())),
        notes=tuple(map(translate, shown.problems)),
    )


def _of(one: LessonProgress) -> tuple[str, str]:
    return _part(one.passed, one.checks), _part(one.predictions_made, one.predictions)


def _part(part: int, whole: int) -> str:
    """Return "3 of 5", or an empty string if `whole` is 0."""
    return translate(say("{part} of {whole}", part=part, whole=whole)) if whole else ""


def _headline(lessons: Iterable[LessonProgress]) -> Sentence:
    all_of_them = list(lessons)
    return say(
        "{checks}, {predictions} in this folder's lessons, as they were last saved.",
        checks=say_count(
            "{passed} of {count} check passed",
            "{passed} of {count} checks passed",
            sum(one.checks for one in all_of_them),
            passed=sum(one.passed for one in all_of_them),
        ),
        predictions=say_count(
            "{made} of {count} prediction made",
            "{made} of {count} predictions made",
            sum(one.predictions for one in all_of_them),
            made=sum(one.predictions_made for one in all_of_them),
        ),
    )
