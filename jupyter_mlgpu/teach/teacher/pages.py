"""The content of the pages. All data from reports is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.cellnumbers import CellNumber
from jupyter_mlgpu.show.markup import Child, Markup, bullets, element, joined
from jupyter_mlgpu.teach.packaged import FORMER, LESSONS
from jupyter_mlgpu.teach.sharing.report import EXERCISES, SharedReading, SharedRecord
from jupyter_mlgpu.teach.teacher import texts
from jupyter_mlgpu.teach.teacher.frame import PageFrame, moment
from jupyter_mlgpu.teach.teacher.store import Receipt, StudentSummary

#: Clocks that differ by fewer seconds count as equal, because a report may take that long to arrive.
CLOSE = 5

#: A table's row: a key that no other row of the table has, and its cells.
_Row = tuple[str, tuple[Child, ...]]


def class_page(frame: PageFrame, students: Sequence[StudentSummary], now: float) -> str:
    """Return the page of all students: lesson progress, and each one's last receipt.

    `now` is in seconds since 1970.
    """
    body = [element("p", frame.say("nobody"))]
    if students:
        head = ("student", "lesson", "in_lesson", "in_all", "receipt", "wall_time", "peak_memory_process")
        rows = [_class_row(frame, student) for student in students]
        body = [
            element("p", f"{frame.say('count', count=f'{len(students):,}')} {frame.say('missing')}"),
            _table(frame, "class", frame.say("table_class"), (*head, "ran", "arrived", "clock"), rows),
        ]
    return frame.page(texts.say("class", frame.language), body, now, frame.prefix)


def student_page(frame: PageFrame, name: str, student: StudentSummary | None, now: float) -> str:
    """Return the page of one student: clock, lessons and receipts; None if nothing is stored."""
    here = f"{frame.prefix}students/{quote(name, safe='')}"
    if student is None:
        return frame.page(name, [element("p", frame.say("you_nothing"))], now, here)
    lessons: list[_Row] = [
        (
            lesson,
            (lesson, _progress(frame, student, exercises), bullets(_exercises(frame, student, exercises))),
        )
        for lesson, exercises in LESSONS.items()
        if any(exercise in student.checks for exercise in exercises)
    ]
    body = [element("p", f"{frame.say('clock')}: {_clock(frame, student)}")]
    if lessons:
        columns = ("lesson", "in_lesson", "exercises")
        body.append(_table(frame, "lessons", frame.say("table_lessons"), columns, lessons))
    if student.receipts:
        head = ("arrived", "lesson", "run", "number", "outcome", "ran", "started", "readings")
        rows = [_receipt_row(frame, receipt) for receipt in student.receipts]
        body.append(_table(frame, "receipts", frame.say("table_receipts", count=len(rows)), head, rows))
        body.append(element("p", frame.say("missing")))
    return frame.page(name, body, now, here)


def _class_row(frame: PageFrame, student: StudentSummary) -> _Row:
    link = f"{frame.prefix}students/{quote(student.name, safe='')}"
    if student.receipts:
        receipt = student.receipts[0]
        record = receipt.record
        last = frame.say("cell", number=_number(record), outcome=texts.say(record.outcome, frame.language))
        values = {one.quantity: one for one in record.readings}
        shown = [_value(frame, values.get(name)) for name in ("wall_time", "peak_memory_process")]
        found: tuple[Child, ...] = (last, *shown, _ran_on(frame, record), _time(receipt.arrived))
    else:
        found = (frame.say("no_receipt"), "", "", "", _time(student.arrived))
    lesson = _lesson_today(student.lesson)
    cells = (
        element("a", student.name, href=link),
        lesson if lesson else frame.say("no_lesson"),
        _progress(frame, student, LESSONS.get(lesson or "", ())),
        _progress(frame, student, EXERCISES),
        *found,
        _clock(frame, student),
    )
    return student.name, cells


def _lesson_today(lesson: str | None) -> str | None:
    """Return today's name of a lesson that was stored under a former one."""
    return None if lesson is None else FORMER.get(lesson, lesson)


def _receipt_row(frame: PageFrame, receipt: Receipt) -> _Row:
    record = receipt.record
    cells = (
        _time(receipt.arrived),
        _lesson_today(receipt.lesson) or frame.say("no_lesson"),
        record.run[:6],
        _number(record),
        frame.say(record.outcome),
        _ran_on(frame, record),
        _time(record.started_at),
        bullets([_reading(frame, one) for one in record.readings]),
    )
    return record.id, cells


def _number(record: SharedRecord) -> str:
    """Return the cell's number as the student sees it: `[7]`, or `#7` for code outside of a numbered cell."""
    count = record.execution_count
    return CellNumber(record.number if count is None else count, own=count is None).name


def _progress(frame: PageFrame, student: StudentSummary, exercises: Sequence[str]) -> str:
    passed = sum(1 for one in exercises if one in student.checks and student.checks[one].passed)
    return frame.say("of", passed=passed, all=len(exercises)) if exercises else ""


def _exercises(frame: PageFrame, student: StudentSummary, exercises: Sequence[str]) -> list[str]:
    found = [student.checks[one] for one in exercises if one in student.checks]
    return [
        frame.say("passed" if one.passed else "not_passed", exercise=one.exercise, tries=one.tries)
        for one in found
    ]


def _ran_on(frame: PageFrame, record: SharedRecord) -> str:
    if record.framework is None and record.device is None:
        return frame.say("unknown")
    framework = registry.title(record.framework) if record.framework else ""
    framework = f"{framework} {record.framework_version or ''}".strip()
    return ", ".join(one for one in (framework, record.device) if one)


def _value(frame: PageFrame, reading: SharedReading | None) -> str:
    if reading is None or reading.value is None:
        return frame.say("not_measured")
    if reading.unit == "s":
        return units.seconds(reading.value)
    if reading.unit == "bytes":
        return units.size(reading.value)
    return units.with_uncertainty(reading.value, None, reading.unit)


def _reading(frame: PageFrame, reading: SharedReading) -> str:
    title = texts.say(reading.quantity, frame.language)
    if reading.value is None:
        return f"{title}: {frame.say('not_measured')}"
    return frame.say(
        "reading",
        title=title,
        value=_value(frame, reading),
        scope=frame.say(f"scope_{reading.scope}"),
        source=reading.source,
        samples=f"{reading.samples:,}",
    )


def _clock(frame: PageFrame, student: StudentSummary) -> str:
    ahead = student.clock_ahead
    if abs(ahead) <= CLOSE:
        return frame.say("clock_near", seconds=CLOSE)
    return frame.say("clock_ahead" if ahead > 0 else "clock_behind", span=units.seconds(abs(ahead)))


def _time(seconds: float) -> Markup:
    when = moment(seconds)
    return element("time", when, datetime=f"{when.replace(' ', 'T')}Z")


def _table(frame: PageFrame, key: str, caption: str, head: Sequence[str], rows: Sequence[_Row]) -> Markup:
    """Return a table that can be scrolled with the keyboard; the first cell of a row is its header.

    By its key the script finds the table, or a row, again.
    """
    columns = [element("th", frame.say(name), scope="col") for name in head]
    lines = [
        element(
            "tr", element("th", first, scope="row"), *(element("td", cell) for cell in rest), data_key=name
        )
        for name, (first, *rest) in rows
    ]
    table = element(
        "table",
        element("caption", caption),
        "\n",
        element("thead", element("tr", *columns)),
        "\n",
        element("tbody", "\n", joined(*lines, between="\n"), "\n"),
    )
    return element(
        "div", "\n", table, class_="wide", role="region", tabindex=0, aria_label=caption, data_key=key
    )
