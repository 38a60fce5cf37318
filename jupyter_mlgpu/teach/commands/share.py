"""`%mlc_share`: asks for the student's consent, and shares records only after it was given."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import unknown
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, below, joined, say, say_count
from jupyter_mlgpu.teach.sharing import sender
from jupyter_mlgpu.teach.sharing.address import Address, address_of
from jupyter_mlgpu.teach.sharing.outbox import WAITING, Batch, Outbox, make_report
from jupyter_mlgpu.teach.sharing.post import post
from jupyter_mlgpu.teach.sharing.report import (
    SHARED,
    Report,
    SharedCheck,
    SharedReading,
    SharedRecord,
    to_json,
)
from jupyter_mlgpu.teach.sharing.shared_fields import record_of

_OFF = say("Sharing is off: nothing is sent. `%mlc_share on` turns it on and lists what will be sent.")


class ShareCommand:
    """The commands of `%mlc_share`. The consent is stored in this object only, not on disk."""

    def __init__(self, runtime: Runtime, shell: Any, environment: Mapping[str, str] = os.environ) -> None:
        self._runtime = runtime
        self._shell = shell
        self._environment = environment
        self._outbox = Outbox(runtime.recorder.run.notebook)
        self._sender: sender.Sender | None = None
        self._url = ""
        self._since_ns = 0

    def run(self, words: str) -> str:
        """Run `%mlc_share WORDS`, and return the text to print; raises UsageError for an unknown word."""
        commands = {"on": self._on, "off": self._off, "status": self._status, "show": self._show}
        command = words or "status"
        if command not in commands:
            raise UsageError(
                joined(
                    unknown(say("command"), command, commands, "%mlc_share"),
                    say("`%mlc_share?` explains each with an example."),
                )
            )
        return commands[command]()

    def end(self) -> None:
        """Stop sharing, because the extension is being unloaded."""
        self._withdraw(wait=1.0)

    def _on(self) -> str:
        if self._sender is not None:
            return self._status()
        if not _in_a_notebook(self._shell):
            raise UsageError(
                say(
                    "Nothing is sent: turn sharing on with `%mlc_share on` in a notebook cell, "
                    "where it can be seen."
                )
            )
        address = address_of(self._environment)
        self._outbox = Outbox(self._runtime.recorder.run.notebook)
        self._sender = sender.Sender(self._outbox, partial(post, address))
        self._url = address.url
        self._since_ns = self._runtime.recorder.clock.monotonic_ns()
        self._sender.start()
        self._runtime.store.subscribe(self._record_made)
        self._runtime.on_check = self._add_check
        return _consent(address)

    def _off(self) -> str:
        if self._sender is None:
            return _OFF
        waited = self._sender.state().waiting
        under_way = self._withdraw()
        off = say("Sharing is off: nothing more is sent.")
        if waited:
            off = say_count(
                "Sharing is off: nothing more is sent, and {count} waiting cell was discarded.",
                "Sharing is off: nothing more is sent, and {count} waiting cells were discarded.",
                waited,
            )
        on_its_way = [say("A report was being sent at that moment.")] if under_way else []
        return joined(off, *on_its_way, say("The teacher's view keeps what it already has."))

    def _withdraw(self, wait: float = 0.0) -> bool:
        if self._sender is None:
            return False
        self._runtime.store.unsubscribe(self._record_made)
        self._runtime.on_check = lambda exercise, right: None
        under_way = self._sender.end(wait=wait)
        self._sender = None
        return under_way

    def _record_made(self, record: Record) -> None:
        # The cell that gives the consent began before it.
        if self._sender is not None and self._is_own(record) and record.started_monotonic_ns > self._since_ns:
            self._sender.add(record)

    def _add_check(self, exercise: str, right: bool) -> None:
        if self._sender is not None:
            self._sender.check(exercise, right=right)

    def _is_own(self, record: Record) -> bool:
        return record.origin == "live" and record.run.id == self._runtime.recorder.run.id

    def _status(self) -> str:
        if self._sender is None:
            address_of(self._environment)  # without an address, its error is the message to show
            return _OFF
        return _of_state(self._sender.state(), self._url)

    def _show(self) -> str:
        last = next(filter(self._is_own, reversed(self._runtime.store.records())), None)
        if last is None:
            return say("No cell has been measured yet, so there is nothing to show: run one with tracing on.")
        shared = record_of(last)
        if shared is None:
            return say(
                "Nothing would be sent for the last cell: its record is not of the form that "
                "this kernel makes."
            )
        report, _ = make_report(Batch((shared,), self._outbox.checks, self._outbox.lesson), real_time.time())
        return json.dumps(to_json(report), indent=2)


def _in_a_notebook(shell: Any) -> bool:
    """Return True if a front end's cell is running.

    A terminal has no such cell, nor does a file that runs at a kernel's start.
    """
    try:
        return bool(shell.parent_header["msg_type"] == "execute_request")
    except (AttributeError, KeyError, TypeError, LookupError):
        return False


def _consent(address: Address) -> Sentence:
    """Return the text of the consent: every field by its name, from the classes that are sent."""
    return below(
        say("Sharing is on for this notebook until you run `%mlc_share off` or this kernel ends."),
        say(
            "From the next cell on, these fields are sent to {url}, at most every {seconds} s:",
            url=address.url,
            seconds=f"{sender.EVERY:g}",
        ),
        say("  for each cell: {fields};", fields=_names(SharedRecord, but="readings")),
        say("  for its {quantities}: {fields};", quantities=", ".join(SHARED), fields=_names(SharedReading)),
        say("  for each exercise that you check: {fields};", fields=_names(SharedCheck)),
        say("  with each report: {fields}.", fields=_names(Report, but="records checks")),
        say(
            "Code, output, messages, paths, and names of files, computers and people are "
            "never sent; the hub identifies you by this server's token."
        ),
        say(
            "You and the class's teachers can see it; other students cannot. `%mlc_share "
            "show` prints what is sent, and `%mlc_share off` stops it."
        ),
    )


def _names(kind: type[Struct], but: str = "") -> str:
    return ", ".join(one for one in kind.__struct_fields__ if one not in but.split())


def _of_state(state: sender.State, url: str) -> Sentence:
    sentences = [
        say(
            "Sharing is on, to {url}: {taken} accepted, {waiting} waiting; {passed} of "
            "{tried} attempted exercises are right.",
            url=url,
            taken=_cells(state.taken),
            waiting=_cells(state.waiting),
            passed=state.passed,
            tried=state.tried,
        )
    ]
    if state.why is not None:
        sentences.append(
            say(
                "The last attempt failed: {why}. The next one is in {seconds} s.",
                why=state.why,
                seconds=f"{state.next_try:.0f}",
            )
        )
    if state.left_out:
        sentences.append(
            say(
                "{cells} will not be sent: only the newest {most} can wait.",
                cells=_cells(state.left_out),
                most=WAITING,
            )
        )
    if state.why_refused:
        sentences.append(
            say("{cells} will not be sent again: {why}.", cells=_cells(state.refused), why=state.why_refused)
        )
    if state.unfit:
        sentences.append(
            say(
                "{cells} cannot be shared: the record is not of the form that this kernel makes.",
                cells=_cells(state.unfit),
            )
        )
    return below(*sentences)


def _cells(count: int) -> Sentence:
    return say_count("{count} cell", "{count} cells", count)
