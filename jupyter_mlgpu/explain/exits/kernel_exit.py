"""Write the report on a kernel's exit: a sentence, its last native lines, and one thing to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Struct

from jupyter_mlgpu.explain.exits.exit_cause import Cause, ExitCause, fullest_memory, judge
from jupyter_mlgpu.explain.exits.sizes import size_forecast
from jupyter_mlgpu.record import decoding, units
from jupyter_mlgpu.record.bounds import Otherwise, Unread
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import At, FlightRecord
from jupyter_mlgpu.record.limit import Confidence
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Causes for which the memory in use is informative.
_OF_MEMORY = ("machine_memory", "container_memory", "killed", "unknown")
#: The number of lines that are reported: the reason of an abort is in the last ones.
_LAST_LINES = 8


class KernelExit(Struct, frozen=True):
    """The reason why a kernel died.

    `next` is one thing to do; `lines` are its last native lines, oldest first. `sentence` also says which
    size would have fitted, if the cell had run with two smaller ones. If the cell died of memory and this is
    not known, `why_no_size` says why. `here` is the sentence as it reads under the cell that ran, None if no
    cell ran.
    """

    cause: Annotated[Cause, Unread()]
    confidence: Annotated[Confidence, Otherwise("open")]
    sentence: Sentence
    next: Sentence
    lines: tuple[LogLine, ...] = ()
    why_no_size: Annotated[Sentence | None, Unread()] = None
    here: Annotated[Sentence | None, Unread()] = None

    @property
    def note(self) -> Sentence:
        """The report in a few sentences, as a receipt's note."""
        last = [say("Its last line was “{line}”.", line=line.text) for line in self.lines[-1:]]
        return joined(self.sentence, *last, self.next)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        data: dict[str, Any] = decoding.to_json(self)
        return data


def post_mortem(flight_record: FlightRecord | None, exit_report: ExitReport) -> KernelExit | None:
    """Return the report on a kernel's exit, or None if the kernel was shut down or restarted."""
    lines = _explained_lines(_last_lines(flight_record, exit_report))
    judgement = judge(flight_record, exit_report, lines)
    if judgement is None:
        return None
    size = size_forecast(flight_record, judgement)

    def sentence(cell: Sentence) -> Sentence:
        died = _sentence(judgement, _place(flight_record, exit_report, judgement, cell))
        return died if size.sentence is None else joined(died, size.sentence)

    in_cell = flight_record is not None and _was_in_cell(flight_record.at)
    return KernelExit(
        judgement.cause,
        judgement.confidence,
        sentence(_cell(flight_record)),
        _next(judgement, lines),
        lines[-_LAST_LINES:],
        size.why_not,
        sentence(say("here")) if in_cell else None,
    )


def _last_lines(flight_record: FlightRecord | None, exit_report: ExitReport) -> Sequence[str]:
    if exit_report.lines is not None:
        return exit_report.lines
    return () if flight_record is None else flight_record.state.lines


def _explained_lines(texts: Sequence[str]) -> tuple[LogLine, ...]:
    if not texts:
        return ()
    # The catalogue takes a moment to load, and most kernels that die leave no lines.
    from jupyter_mlgpu.explain.logs.catalogue import Catalogue
    from jupyter_mlgpu.explain.logs.reader import LogReader

    reader = LogReader(Catalogue.load(), clean=redact)
    reader.feed("stderr", "".join(f"{text}\n" for text in texts).encode(errors="replace"), "")
    return reader.finish().lines


def _was_in_cell(at: At) -> bool:
    return at.phase in ("running", "exited") and at.sequence > 0


def _cell(flight_record: FlightRecord | None) -> Sentence:
    count = None if flight_record is None else flight_record.at.execution_count
    return say("in a cell") if count is None else say("in [{count}]", count=str(count))


def _place(
    flight_record: FlightRecord | None, exit_report: ExitReport, judgement: ExitCause, cell: Sentence
) -> Sentence:
    """Return a phrase such as "in [7] after 12 s with 15.2 GiB of 16 GiB in use", as far as it is known.

    `cell` is the phrase for the cell that ran.
    """
    if flight_record is None:
        return say("at an unknown time")
    at = flight_record.at
    if _was_in_cell(at):
        after = None if exit_report.at is None else exit_report.at - at.since
        # The time is meaningless if the clock was set meanwhile, or if it is when the code asked to exit.
        if after is None or not 0 <= after < 30 * 24 * 3600 or at.phase == "exited":
            place = cell
        else:
            place = say("{cell} after {time}", cell=cell, time=units.seconds(after))
    elif at.sequence == 0:
        place = say("before its first cell")
    else:
        place = say("while no cell was running")
    sample = flight_record.state.sample
    if sample is None or judgement.cause not in _OF_MEMORY or at.phase != "running":
        return place
    used, total, _ = fullest_memory(sample)
    return say(
        "{place} with {used} of {total} in use", place=place, used=units.size(used), total=units.size(total)
    )


def _cause(judgement: ExitCause) -> Sentence:
    name = judgement.signal or ""
    match judgement.cause:
        case "machine_memory":
            return say("out of memory")
        case "container_memory":
            return say("out of container memory")
        case "device_memory":
            return say("out of device memory")
        case "device_lost":
            return say("the device was lost")
        case "killed":
            return say("ended from outside ({signal})", signal=name)
        case "crash":
            return say("a crash in native code ({signal})", signal=name)
        case "abort":
            return say("native code aborted ({signal})", signal=name or "SIGABRT")
        case "exit":
            if judgement.status is None:
                return say("its code exited")
            return say("its code exited with status {status}", status=judgement.status)
        case "unknown":
            return say("it was killed ({signal}) by an unknown sender", signal=name)


def _sentence(judgement: ExitCause, place: Sentence) -> Sentence:
    cause = _cause(judgement)
    if judgement.confidence == "sure" or judgement.cause == "unknown":
        return say("The kernel died {place}: {cause}.", place=place, cause=cause)
    if judgement.confidence == "likely":
        return say("The kernel died {place}: likely {cause}.", place=place, cause=cause)
    return say("The kernel died {place}: perhaps {cause}.", place=place, cause=cause)


def _next(judgement: ExitCause, lines: Sequence[LogLine]) -> Sentence:
    match judgement.cause:
        case "machine_memory" | "container_memory":
            return say(
                "Make that cell hold less in memory at once (a smaller batch, data in "
                "pieces), and restart other kernels that hold memory."
            )
        case "device_memory":
            return say("Use a smaller batch or model, and end other programs that hold the device's memory.")
        case "device_lost":
            return say("Restart the kernel and run `jupyter mlgpu doctor` before running the cell again.")
        case "killed" if judgement.confidence == "open":
            return say(
                "Memory was short: check whether a program here ends others in that case "
                "(systemd-oomd, earlyoom, a cluster's own), and make that cell hold less in "
                "memory at once."
            )
        case "killed":
            return say(
                "Find out what ended it: a person, a job's time limit, or a program that watches memory."
            )
        case "crash":
            return say(
                "Run the cell again with `import faulthandler; faulthandler.enable()` as its "
                "first line: the last native lines then name the Python line that crashed."
            )
        case "abort" if lines and lines[-1].advice:
            return Sentence(lines[-1].advice)
        case "abort" if lines:
            return say(
                "Search for its last line, and run the cell in smaller parts to find the one that fails."
            )
        case "abort":
            return say("Check the last output in the terminal that started the server.")
        case "exit":
            return say("Look for `exit`, `quit` or `os._exit` in that cell and in the code it calls.")
        case "unknown":
            return say("Run the cell again while watching `top` or the sidebar's counters.")
