"""The questions that an assistant may ask: each returns a sentence in our own words, and data.

None runs a user's code, writes a file or opens a network connection. All raise MlgpuError, one sentence.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from jupyter_mlgpu.explain.comparing.compare import Pair, RecordComparison, compare, side_names
from jupyter_mlgpu.explain.comparing.headline import headline
from jupyter_mlgpu.explain.doctor.consult import consult
from jupyter_mlgpu.explain.doctor.diagnose import head
from jupyter_mlgpu.explain.logs.catalogue import VERDICTS, Catalogue
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.jupyter.assistant import forms
from jupyter_mlgpu.jupyter.assistant.forms import Form
from jupyter_mlgpu.jupyter.assistant.saved import read
from jupyter_mlgpu.record import incoming, units
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.show.receipts import limits

#: Most receipts and compared cells of an answer, all of which an assistant reads, and changes of a cell.
CELLS, CHANGES = 20, 15
#: Most characters of the doctor's evidence and remedy.
LONG = 1_500
_BLOCK = 256 * 1024
_CANNOT_TELL = ("unclear", "approximate", "unknown")
_MORE_RUNS = (
    "Run each at least 4 times, save all runs with `%mlc_trace save records.jsonl`, and compare there."
)

Answer = tuple[str, Form]


def records(file: str, cells: str | None) -> Answer:
    """Return the receipts of a file's cells, or of those that `cells` names."""
    saved = read(file)
    chosen = saved.select(cells)
    catalogue, names = Catalogue.load(), saved.names()
    count = f"{len(chosen):,} record" + "s" * (len(chosen) != 1)
    answer = f"{saved.name} has {count}"
    timed = {one.key: wall for one in chosen if (wall := one.reading("wall_time").value) is not None}
    if timed:
        longest = max(timed, key=lambda key: timed[key])
        whole = units.seconds(sum(timed.values()))
        longest_in_words = f"{forms.name(names[longest])} took longest, {units.seconds(timed[longest])}"
        answer += f", {whole} of wall time in all; {longest_in_words}"
    if len(chosen) > CELLS:
        answer += f". The first {CELLS} are listed; name cells to see others"
    if saved.problems:
        answer += f". {len(saved.problems):,} entries could not be read"
    return f"{answer}.{_replayed(*chosen)}", {
        "cells": [forms.cell(one, names[one.key], catalogue) for one in chosen[:CELLS]],
        "problems": [forms.quoted(problem) for problem in saved.problems[: forms.NOTES]],
    }


def limit(file: str, cell: str) -> Answer:
    """Return what limited a cell, of several runs the last one."""
    saved = read(file)
    *others, record = saved.select(cell)
    name = forms.name(saved.names()[record.key])
    of_several = f" It is the last of {len(others) + 1:,} selected runs." if others else ""
    return _limit_in_words(record, name) + of_several + _replayed(record), {
        "cell": name,
        "origin": record.origin,
        "limit": forms.limit(record.limit),
        "why_no_limit": forms.quoted(record.why_no_limit),
        "lines": [forms.line(one) for one in record.lines[: forms.ITEMS]],
    }


def _limit_in_words(record: Record, name: str) -> str:
    found = record.limit
    if found is None or found.kind == "unknown":
        return f"What limited {name} is not known."
    if found.confidence == "open":
        return f"It is unclear what limited {name}: {limits.clause(found)}."
    return (
        f"What limited {name} is {forms.CONFIDENCE.get(found.confidence, 'likely')}: {limits.clause(found)}."
    )


def comparison(file: str, cells: str | None, other_file: str | None, other_cells: str | None) -> Answer:
    """Compare two sets of cells, of one file or of two."""
    saved = read(file)
    other = saved if other_file is None else read(other_file)
    first, second = saved.select(cells, all_runs=True), other.select(other_cells, all_runs=True)
    if {one.key for one in first} & {one.key for one in second}:
        # As in a notebook: the same code on the same device, then the two numbers stand for single runs.
        first, second = saved.select(cells), other.select(other_cells)
    sides = saved.side(cells, other is not saved), other.side(other_cells, other is not saved)
    found = compare(first, second, names=side_names(*sides))
    headlines = [str(headline(pair, found.first, found.second)) for pair in found.pairs]
    answer, can_tell = _comparison_in_words(found, headlines)
    return answer + _replayed(*first, *second), {
        "can_tell": can_tell,
        "sides": [found.first, found.second],
        "cells": [
            {
                "answer": said,
                "title": forms.quoted(pair.name),
                "changes": [forms.change(one) for one in (*pair.changes, *pair.operations)[:CHANGES]],
                "notes": [forms.quoted(note) for note in pair.notes[: forms.NOTES]],
            }
            for pair, said in zip(found.pairs[:CELLS], headlines, strict=False)
        ],
        "notes": [forms.quoted(note) for note in found.notes],
    }


def _comparison_in_words(found: RecordComparison, headlines: Sequence[str]) -> tuple[str, bool]:
    """Return the answer, and False if no cell's times tell which side is faster."""
    first, second = found.first, found.second
    findings = Counter(map(_finding, found.pairs))
    unknown = sum(findings[word] for word in _CANNOT_TELL)
    if unknown == len(found.pairs):
        why = [*headlines, _MORE_RUNS] if len(headlines) == 1 else [_MORE_RUNS]
        return " ".join([f"These records cannot tell which of {first} and {second} is faster.", *why]), False
    if len(headlines) == 1:
        return headlines[0], True
    return (
        f"Of {len(headlines):,} cells, {findings['more']:,} took longer in {second} than in {first}, "
        f"{findings['less']:,} less long, {findings['same']:,} the same time, and of {unknown:,} the records "
        "cannot tell."
    ), True


def _finding(pair: Pair) -> str:
    return "unknown" if pair.timing is None else pair.timing.finding


def doctor() -> Answer:
    """Return what is wrong with this machine and this Python, without starting any other Python."""
    diagnosis = consult(start_kernels=False)
    python = redact(visible_line(sys.executable))
    asked = f"This was asked of the Python {python}, which may not be the notebook's."
    return f"{head(diagnosis)} {asked}", {
        "findings": [
            {
                "id": one.id,
                "title": str(one.title),
                "evidence": forms.quoted(one.evidence, LONG),
                "remedy": (one.remedy or "")[:LONG],
                "confidence": forms.CONFIDENCE.get(one.confidence or "", one.confidence),
            }
            for one in (*diagnosis.findings, *diagnosis.of("crashed"))
        ],
        "not_asked": [one.id for one in diagnosis.of("not asked")],
    }


def explanation(text: str | None, file: str | None) -> Answer:
    """Explain the messages of a log, given as a text or as a file."""
    if (text is None) == (file is None):
        raise UsageError("Give either the text of a log or the name of its file.")
    catalogue = Catalogue.load()
    reader = LogReader(catalogue, clean=redact)
    if file is None:
        reader.feed("log", (text or "").encode(errors="replace"), "")
    else:
        with incoming.opened(Path(file).expanduser(), most=incoming.MOST_OF_ONES_OWN, what="a log") as log:
            while block := log.read(_BLOCK):
                reader.feed("log", block, "")
    lines = reader.finish().lines
    kinds = _by_message(lines)
    messages = [forms.message(one, catalogue) for one in kinds[: forms.ITEMS]]
    return _log_in_words(lines, messages), {"messages": messages, "left_out": len(kinds) - len(messages)}


def _by_message(lines: Sequence[LogLine]) -> list[LogLine]:
    """Return a line for each known message and each different unknown one, with its count; worst first."""
    found: dict[str, LogLine] = {}
    for one in lines:
        before = found.get(one.id or one.text)
        found[one.id or one.text] = replace(before or one, count=one.count + (before.count if before else 0))
    return forms.worst_first(found.values())


def _log_in_words(lines: Sequence[LogLine], messages: Sequence[Form]) -> str:
    if not messages:
        return "This log contains no messages."
    counts = Counter[str]()
    for one in lines:
        counts[one.verdict] += one.count
    verdicts = ", ".join(f"{counts[word]:,} {word}" for word in (*VERDICTS, "unknown") if counts[word])
    if messages[0]["verdict"] == "unknown":
        return f"None of the messages of this log is known ({verdicts})."
    return f"Messages by verdict: {verdicts}. The worst is {messages[0]['id']}: {messages[0]['meaning']}"


def _replayed(*chosen: Record) -> str:
    any_replayed = any(one.origin == "replayed" for one in chosen)
    return " Replayed: some of these figures are of another machine." if any_replayed else ""
