"""The pages, as plain HTML that runs no script. Everything that was sent is text in it, and no mark-up."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from urllib.parse import quote

from jupyter_mlgpu.render import words
from jupyter_mlgpu.sharing.report import EXERCISES, LESSONS, SharedReading, SharedRecord
from jupyter_mlgpu.teacher.store import Receipt, Student
from jupyter_mlgpu.teacher.texts import say

#: Clocks that differ by less than this, in seconds, are said to agree: so long a report may be on its way.
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
#: The header Content-Security-Policy: of all that a page could load or run, only the style above.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_CODES = {"en": "en", "zh": "zh-Hans"}


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around every page: its language, the service's prefix, who looks, how long data is kept."""

    language: str
    prefix: str
    person: str
    teaches: bool
    keep_days: int

    def say(self, key: str, **slots: object) -> str:
        """A text in the page's language, as HTML."""
        return escape(say(key, self.language, **slots))

    def page(self, title: str, body: Sequence[str], now: float, here: str) -> str:
        """A whole page. `title` is plain text, `body` HTML, `here` the address to load again."""
        links = [f'<a href="{escape(here)}">{self.say("refresh")}</a>']
        if self.teaches and here != self.prefix:
            links.append(f'<a href="{escape(self.prefix)}">{self.say("to_class")}</a>')
        return _document(
            self.language,
            title,
            [
                f"<header><p>{self.say('signed_in', name=self.person)}</p>",
                f"<nav>{' | '.join(links)}</nav></header>",
                f"<main><h1>{escape(title)}</h1>",
                f"<p>{self.say('as_of', now=_moment(now))}</p>",
                *body,
                f"</main><footer><p>{self.say('kept', days=self.keep_days)}</p></footer>",
            ],
        )


def class_page(frame: Frame, students: Sequence[Student], now: float) -> str:
    """All students: lesson progress, and the last receipt of each. `now` in seconds since 1970."""
    body = [f"<p>{frame.say('nobody')}</p>"]
    if students:
        head = ("student", "lesson", "in_lesson", "in_all", "receipt", "wall_time", "peak_memory_process")
        rows = [_class_row(frame, student) for student in students]
        body = [
            f"<p>{frame.say('count', count=f'{len(students):,}')} {frame.say('missing')}</p>",
            _table(frame, frame.say("table_class"), (*head, "ran", "arrived", "clock"), rows),
        ]
    return frame.page(say("class", frame.language), body, now, frame.prefix)


def student_page(frame: Frame, name: str, student: Student | None, now: float) -> str:
    """One student: clock, lessons, receipts; None where nothing is kept of who looks."""
    here = f"{frame.prefix}students/{quote(name, safe='')}"
    if student is None:
        return frame.page(name, [f"<p>{frame.say('you_nothing')}</p>"], now, here)
    lessons = [
        (lesson, _progress(frame, student, exercises), _list(_exercises(frame, student, exercises)))
        for lesson, exercises in LESSONS.items()
        if any(exercise in student.checks for exercise in exercises)
    ]
    body = [f"<p>{frame.say('clock')}: {_clock(frame, student)}</p>"]
    if lessons:
        body.append(_table(frame, frame.say("table_lessons"), ("lesson", "in_lesson", "exercises"), lessons))
    if student.receipts:
        head = ("arrived", "lesson", "run", "number", "outcome", "ran", "started", "readings")
        rows = [_receipt_row(frame, receipt) for receipt in student.receipts]
        body.append(_table(frame, frame.say("table_receipts", count=len(rows)), head, rows))
        body.append(f"<p>{frame.say('missing')}</p>")
    return frame.page(name, body, now, here)


def refusal_page(language: str, sentence: str) -> str:
    """A page that says one sentence, plain text."""
    return _document(language, sentence, [f"<main><p>{escape(sentence)}</p></main>"])


def _document(language: str, title: str, parts: Sequence[str]) -> str:
    head = (
        f'<!DOCTYPE html>\n<html lang="{_CODES[language]}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    )
    return head + "\n".join(parts) + "\n</body>\n</html>\n"


def _class_row(frame: Frame, student: Student) -> tuple[str, ...]:
    link = f"{frame.prefix}students/{quote(student.name, safe='')}"
    if student.receipts:
        receipt = student.receipts[0]
        record = receipt.record
        last = frame.say("cell", number=record.number, outcome=say(record.outcome, frame.language))
        values = {one.quantity: one for one in record.readings}
        shown = [_value(frame, values.get(name)) for name in ("wall_time", "peak_memory_process")]
        found = (last, *shown, _ran_on(frame, record), _time(receipt.arrived))
    else:
        found = (frame.say("no_receipt"), "", "", "", _time(student.arrived))
    lesson = student.lesson
    return (
        f'<a href="{escape(link)}">{escape(student.name)}</a>',
        escape(lesson) if lesson else frame.say("no_lesson"),
        _progress(frame, student, LESSONS.get(lesson or "", ())),
        _progress(frame, student, EXERCISES),
        *found,
        _clock(frame, student),
    )


def _receipt_row(frame: Frame, receipt: Receipt) -> tuple[str, ...]:
    record = receipt.record
    return (
        _time(receipt.arrived),
        escape(receipt.lesson) if receipt.lesson else frame.say("no_lesson"),
        escape(record.run[:6]),
        str(record.number),
        frame.say(record.outcome),
        _ran_on(frame, record),
        _time(record.started_at),
        _list([_reading(frame, one) for one in record.readings]),
    )


def _progress(frame: Frame, student: Student, exercises: Sequence[str]) -> str:
    passed = sum(1 for one in exercises if one in student.checks and student.checks[one].passed)
    return frame.say("of", passed=passed, all=len(exercises)) if exercises else ""


def _exercises(frame: Frame, student: Student, exercises: Sequence[str]) -> list[str]:
    found = [student.checks[one] for one in exercises if one in student.checks]
    return [
        frame.say("passed" if one.passed else "not_passed", exercise=one.exercise, tries=one.tries)
        for one in found
    ]


def _ran_on(frame: Frame, record: SharedRecord) -> str:
    if record.framework is None and record.device is None:
        return frame.say("unknown")
    framework = words.framework(record.framework) if record.framework else ""
    framework = f"{framework} {record.framework_version or ''}".strip()
    return escape(", ".join(one for one in (framework, record.device) if one))


def _value(frame: Frame, reading: SharedReading | None) -> str:
    if reading is None or reading.value is None:
        return frame.say("not_measured")
    if reading.unit == "s":
        return escape(words.seconds(reading.value))
    if reading.unit == "bytes":
        return escape(words.size(reading.value))
    return escape(words.with_uncertainty(reading.value, None, reading.unit))


def _reading(frame: Frame, reading: SharedReading) -> str:
    title = say(reading.quantity, frame.language)
    if reading.value is None:
        return f"{escape(title)}: {frame.say('not_measured')}"
    return escape(
        say(
            "reading",
            frame.language,
            title=title,
            value="{value}",
            scope=say(f"scope_{reading.scope}", frame.language),
            source=reading.source,
            samples=f"{reading.samples:,}",
        )
    ).replace("{value}", _value(frame, reading))


def _clock(frame: Frame, student: Student) -> str:
    ahead = student.clock_ahead
    if abs(ahead) <= CLOSE:
        return frame.say("clock_near", seconds=CLOSE)
    return frame.say("clock_ahead" if ahead > 0 else "clock_behind", span=words.seconds(abs(ahead)))


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):  # a clock that is set thousands of years ahead
        return f"{seconds:.0f} s"


def _time(seconds: float) -> str:
    moment = _moment(seconds)
    return f'<time datetime="{moment.replace(" ", "T")}Z">{moment}</time>'


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""


def _table(frame: Frame, caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of HTML cells, of which the first of a row names it; it can be scrolled with the keyboard."""
    columns = "".join(f'<th scope="col">{frame.say(name)}</th>' for name in head)
    lines = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{caption}">\n'
        f"<table><caption>{caption}</caption>\n"
        f"<thead><tr>{columns}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )
