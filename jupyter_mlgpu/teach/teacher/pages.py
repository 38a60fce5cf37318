"""The pages, as plain HTML without scripts. All data from reports is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Given
from jupyter_mlgpu.show import markup
from jupyter_mlgpu.show.markup import Child, Markup, bullets, document, element, joined
from jupyter_mlgpu.teach.packaged import FORMER, LESSONS
from jupyter_mlgpu.teach.sharing.report import EXERCISES, SharedReading, SharedRecord
from jupyter_mlgpu.teach.teacher import texts
from jupyter_mlgpu.teach.teacher.store import Receipt, StudentSummary

#: Clocks that differ by fewer seconds count as equal, because a report may take that long to arrive.
CLOSE = 5

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
caption { text-align: left; font-weight: bold; padding: .5rem 0; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top; border-bottom: 1px solid; }
ul { margin: 0; padding-left: 1.2rem; }
a:focus-visible, .wide:focus-visible { outline: 3px solid; outline-offset: 2px; }
"""
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
#: The header Content-Security-Policy: a page may load and run nothing but the style above.
POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; {markup.POLICY}; frame-ancestors 'none'"
_CODES = {"en": "en", "zh": "zh-Hans"}


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The common parts of every page: language, the service's prefix, the user, and the retention time."""

    language: str
    prefix: str
    person: str
    teaches: bool
    keep_days: int

    def say(self, key: str, **slots: Given) -> str:
        """Return a text in the page's language."""
        return texts.say(key, self.language, **slots)

    def page(self, title: str, body: Sequence[Child], now: float, here: str) -> str:
        """Return a whole page. `here` is the address to reload."""
        links = [element("a", self.say("refresh"), href=here)]
        if self.teaches and here != self.prefix:
            links.append(element("a", self.say("to_class"), href=self.prefix))
        name = element("p", self.say("signed_in", name=self.person))
        parts = [
            element("header", name, "\n", element("nav", joined(*links, between=" | "))),
            element(
                "main",
                joined(
                    element("h1", title),
                    element("p", self.say("as_of", now=_moment(now))),
                    *body,
                    between="\n",
                ),
                "\n",
            ),
            element("footer", element("p", self.say("kept", days=self.keep_days))),
        ]
        return _document(self.language, title, parts)


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
            _table(frame, frame.say("table_class"), (*head, "ran", "arrived", "clock"), rows),
        ]
    return frame.page(texts.say("class", frame.language), body, now, frame.prefix)


def student_page(frame: PageFrame, name: str, student: StudentSummary | None, now: float) -> str:
    """Return the page of one student: clock, lessons and receipts; None if nothing is stored."""
    here = f"{frame.prefix}students/{quote(name, safe='')}"
    if student is None:
        return frame.page(name, [element("p", frame.say("you_nothing"))], now, here)
    lessons = [
        (lesson, _progress(frame, student, exercises), bullets(_exercises(frame, student, exercises)))
        for lesson, exercises in LESSONS.items()
        if any(exercise in student.checks for exercise in exercises)
    ]
    body = [element("p", f"{frame.say('clock')}: {_clock(frame, student)}")]
    if lessons:
        body.append(_table(frame, frame.say("table_lessons"), ("lesson", "in_lesson", "exercises"), lessons))
    if student.receipts:
        head = ("arrived", "lesson", "run", "number", "outcome", "ran", "started", "readings")
        rows = [_receipt_row(frame, receipt) for receipt in student.receipts]
        body.append(_table(frame, frame.say("table_receipts", count=len(rows)), head, rows))
        body.append(element("p", frame.say("missing")))
    return frame.page(name, body, now, here)


def refusal_page(language: str, sentence: str) -> str:
    """Return a page with one sentence, given as plain text."""
    return _document(language, sentence, [element("main", element("p", sentence))])


def _document(language: str, title: str, parts: Sequence[Markup]) -> str:
    # A header sets what the page may load, and no page can leave it out.
    body = joined(*parts, between="\n")
    return document(title, _STYLE, body, "\n", policy=None, language=_CODES[language], wide=True)


def _class_row(frame: PageFrame, student: StudentSummary) -> tuple[Child, ...]:
    link = f"{frame.prefix}students/{quote(student.name, safe='')}"
    if student.receipts:
        receipt = student.receipts[0]
        record = receipt.record
        last = frame.say("cell", number=record.number, outcome=texts.say(record.outcome, frame.language))
        values = {one.quantity: one for one in record.readings}
        shown = [_value(frame, values.get(name)) for name in ("wall_time", "peak_memory_process")]
        found: tuple[Child, ...] = (last, *shown, _ran_on(frame, record), _time(receipt.arrived))
    else:
        found = (frame.say("no_receipt"), "", "", "", _time(student.arrived))
    lesson = _lesson_today(student.lesson)
    return (
        element("a", student.name, href=link),
        lesson if lesson else frame.say("no_lesson"),
        _progress(frame, student, LESSONS.get(lesson or "", ())),
        _progress(frame, student, EXERCISES),
        *found,
        _clock(frame, student),
    )


def _lesson_today(lesson: str | None) -> str | None:
    """Return today's name of a lesson that was stored under a former one."""
    return None if lesson is None else FORMER.get(lesson, lesson)


def _receipt_row(frame: PageFrame, receipt: Receipt) -> tuple[Child, ...]:
    record = receipt.record
    return (
        _time(receipt.arrived),
        _lesson_today(receipt.lesson) or frame.say("no_lesson"),
        record.run[:6],
        str(record.number),
        frame.say(record.outcome),
        _ran_on(frame, record),
        _time(record.started_at),
        bullets([_reading(frame, one) for one in record.readings]),
    )


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


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):  # a clock set thousands of years ahead
        return f"{seconds:.0f} s"


def _time(seconds: float) -> Markup:
    moment = _moment(seconds)
    return element("time", moment, datetime=f"{moment.replace(' ', 'T')}Z")


def _table(frame: PageFrame, caption: str, head: Sequence[str], rows: Sequence[Sequence[Child]]) -> Markup:
    """Return a table that can be scrolled with the keyboard; the first cell of a row is its header."""
    columns = [element("th", frame.say(name), scope="col") for name in head]
    lines = [
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:]))
        for row in rows
    ]
    table = element(
        "table",
        element("caption", caption),
        "\n",
        element("thead", element("tr", *columns)),
        "\n",
        element("tbody", "\n", joined(*lines, between="\n"), "\n"),
    )
    return element("div", "\n", table, class_="wide", role="region", tabindex=0, aria_label=caption)
