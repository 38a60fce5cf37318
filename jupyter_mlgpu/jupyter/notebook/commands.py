"""What the magics do: words in, the sentence to print out."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mlgpu.jupyter.notebook.cell_numbers import cell_number, of_cell
from jupyter_mlgpu.jupyter.notebook.channel import Channel
from jupyter_mlgpu.jupyter.notebook.events import CellEvents
from jupyter_mlgpu.jupyter.notebook.logbook import Logbook
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.kit import Kit
from jupyter_mlgpu.record import files
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, below, joined, say, say_count
from jupyter_mlgpu.record.shown import Shown

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.comparing.compare import RecordComparison
    from jupyter_mlgpu.explain.logs.verbose import Verbose
    from jupyter_mlgpu.show.why.page import Reasons

#: What `%mlc_share` does is a part of teaching, which stands on this one: it is found by its name.
_SHARING = "jupyter_mlgpu.teach.commands.share"

#: Receipts that replaying shows under its cell; a file may hold thousands of records.
RECEIPTS = 10


class Sharing(Protocol):
    """A student's consent, and what it sets going."""

    def run(self, words: str) -> str:
        """`%mlc_share WORDS`; returns what to print."""

    def end(self) -> None:
        """Send nothing more."""


class Commands:
    """The commands behind `%mlc_trace`. All raise our errors, written for the user."""

    def __init__(
        self,
        kit: Kit,
        events: CellEvents,
        channel: Channel,
        logbook: Logbook,
        capture: Capture,
    ) -> None:
        self._kit = kit
        self._events = events
        self._channel = channel
        self._logbook = logbook
        self._capture = capture
        self._verbose: Verbose | None = None
        self._sharing: Sharing | None = None

    def trace(self, command: str, argument: str) -> str | Shown:
        """`%mlc_trace COMMAND ARGUMENT`; returns what to print, or a result to show."""
        commands: dict[str, Callable[[], str | Shown]] = {
            "on": lambda: self._set_tracing(True),
            "off": lambda: self._set_tracing(False),
            "status": self._trace_status,
            "show": self._show,
            "clear": self._clear,
            "save": lambda: self._save(_unquoted(argument)),
            "load": lambda: self._load(_unquoted(argument)),
            "replay": lambda: self._replay(_unquoted(argument)),
            "logs": lambda: self._logs(argument),
            "verbose": lambda: self._set_verbose(argument),
            "growth": lambda: self._growth(argument),
            "export": lambda: self._export(argument),
            "compare": lambda: self._compare(argument),
            "fits": lambda: _fits(argument),
            "why": lambda: self._why(argument),
        }
        if command not in commands:
            raise UsageError(
                say(
                    "Unknown command {command} after %mlc_trace. Choose {known}; `%mlc_trace?` explains each "
                    "with an example.",
                    command=repr(command),
                    known=", ".join(commands),
                )
            )
        if command in ("save", "load", "replay") and not argument:
            raise UsageError(
                say(
                    "%mlc_trace {command} needs a file, for example `%mlc_trace {command} records.jsonl`.",
                    command=command,
                )
            )
        return commands[command]()

    def _set_tracing(self, on: bool) -> Sentence:
        self._events.set_tracing(on)
        self._channel.push({"type": "trace", "on": on})
        if on:
            return say("Tracing is on: every cell gets a receipt, from the next one on.")
        return say("Tracing is off; the records so far are kept. `%mlc_trace on` turns it on again.")

    def _trace_status(self) -> Sentence:
        store = self._kit.store
        records = say_count("{count} record", "{count} records", len(store.records()))
        if store.dropped:
            records = say(
                "{records} ({dropped} older ones were let go)", records=records, dropped=store.dropped
            )
        if self._events.tracing:
            state = say("Tracing is on, {records}.", records=records)
        else:
            state = say("Tracing is off, {records}.", records=records)
        return joined(state, say("`%mlc_trace?` explains the commands."))

    def _show(self) -> str:
        from jupyter_mlgpu.show.receipts import text  # what draws is loaded when something is drawn

        return text.table(self._kit.store.records())

    def _growth(self, argument: str) -> str:
        from jupyter_mlgpu.explain import growth  # seldom asked for
        from jupyter_mlgpu.show.receipts import growing

        last = int(argument) if argument.isdecimal() else growth.LAST if not argument else 0
        if not growth.FEWEST <= last <= growth.MOST:
            raise UsageError(
                say(
                    "After %mlc_trace growth comes how many of a cell's last runs to look at, {fewest} to "
                    "{most}, or nothing for {last}; found {found}.",
                    fewest=growth.FEWEST,
                    most=growth.MOST,
                    last=growth.LAST,
                    found=repr(argument),
                )
            )
        records = self._kit.store.records()
        return growing.table([*growth.of_all(records, last), *growth.of_blocks(records, last)])

    def _clear(self) -> Sentence:
        self._kit.store.clear()
        self._kit.replays.clear()
        self._kit.profiles.clear()
        self._kit.looks.clear()
        self._logbook.clear()
        self._channel.push({"type": "cleared"})
        return say("All records of this kernel were forgotten; receipts in the notebook stay.")

    def _save(self, path: str) -> Sentence:
        count, problems = files.save_what_can_be(path, self._kit.store.records())
        saved = say_count(
            "Saved {count} record to {path}.", "Saved {count} records to {path}.", count, path=path
        )
        return below(saved, *problems)

    def save_as_told(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """A browser wants the records saved, `{"type": "save", "path": ...}`; answers what was said of it.

        The path is seen from the kernel's folder. Raises UsageError for what is no path, RecordError where it
        cannot be written.
        """
        path = content.get("path")
        if not isinstance(path, str) or not path.strip():
            raise UsageError("Saving the records needs a file's name, for example records.jsonl.")
        return {"said": self._save(path)}

    def _load(self, path: str) -> Sentence:
        records, problems = files.load_records(path)
        records = [_explained(record) for record in records]
        new, left_out = self._kit.store.extend(records)
        self._channel.push({"type": "hello"})  # there may be thousands: let the browsers ask for a snapshot
        known = len(records) - new - left_out
        said = [
            say_count(
                "Loaded {count} record from {path}; it is shown as loaded.",
                "Loaded {count} records from {path}; they are shown as loaded.",
                new,
                path=path,
            )
        ]
        if known:
            said.append(say("{count} more were here already.", count=known))
        if left_out:
            said.append(
                say(
                    "{count} older ones found no room: load a part of the file, or do `%mlc_trace clear` "
                    "first.",
                    count=left_out,
                )
            )
        return below(joined(*said), *problems)

    def _replay(self, path: str) -> Sentence:
        from jupyter_mlgpu.jupyter.notebook import receipts
        from jupyter_mlgpu.measure.frameworks.replay import Replay  # seldom asked for, as below

        records, problems = files.load_records(path)
        replay = Replay(list(map(_explained, records)), PurePath(path).name)
        played = replay.records
        new = [record for record in played if self._kit.store.get(record.key) is None]
        _, left_out = self._kit.store.extend(new)
        self._kit.replays.append(replay)
        self._channel.push({"type": "hello"})  # as for loading
        for record in new[:RECEIPTS]:
            receipts.show(record)
        said = [
            say_count(
                "Replayed {count} record from {path}: nothing of it ran here.",
                "Replayed {count} records from {path}: nothing of them ran here.",
                len(new),
                path=path,
            )
        ]
        if len(new) > RECEIPTS:
            said.append(say("The first {count} are shown here, all of them in the sidebar.", count=RECEIPTS))
        if left_out:
            said.append(
                say("The {count} oldest found no room; `%mlc_trace clear` makes some.", count=left_out)
            )
        if len(new) < len(played):
            said.append(say("{count} were here already and stay as they are.", count=len(played) - len(new)))
        if len(played) < len(records):
            left = len(records) - len(played)
            said.append(say("{count} that do not say where they ran were left out.", count=left))
        return below(joined(*said), *problems)

    def _export(self, words: str) -> str:
        from jupyter_mlgpu.jupyter.notebook.export_command import export

        return export(words, self._kit)

    def _compare(self, words: str) -> RecordComparison:
        from jupyter_mlgpu.jupyter.notebook.compare_command import compare_command

        return compare_command(words, self._kit)

    def _why(self, number: str) -> Reasons:
        from jupyter_mlgpu.show.why.page import Reasons

        records = self._kit.store.records()
        if not number:
            if not records:
                raise UsageError("No cell has a record yet: run one with tracing on.")
            return Reasons(records[-1])
        return Reasons(of_cell(records, cell_number(number), self._kit.recorder.run.id))

    def share(self, words: str, shell: Any) -> str:
        """`%mlc_share WORDS`, typed in this shell; returns what to print."""
        if self._sharing is None:
            sharing: Sharing = importlib.import_module(_SHARING).ShareCommand(self._kit, shell)
            self._sharing = sharing
        return self._sharing.run(words)

    def stop_sharing(self) -> None:
        """Send nothing more to the teacher's view."""
        if self._sharing is not None:
            self._sharing.end()

    def restore_environment(self) -> None:
        """Take back what `%mlc_trace verbose` has set."""
        if self._verbose is not None:
            self._verbose.restore()

    def _set_verbose(self, words: str) -> str:
        if self._verbose is None:
            # Seldom asked for: loading waits until it is.
            from jupyter_mlgpu.explain.logs.verbose import of_this_process

            self._verbose = of_this_process()
        return self._verbose.command(words, sys.modules)

    def _logs(self, option: str) -> str:
        from jupyter_mlgpu.show.receipts import logbook

        records = self._kit.store.records()
        if option == "--raw":
            return self._raw()
        if option == "--json":
            return logbook.as_json(records, self._logbook.early)
        if option:
            raise UsageError(
                say(
                    "Unknown option {option} after %mlc_trace logs: leave it out, or choose --raw or --json.",
                    option=repr(option),
                )
            )
        return logbook.explained(records, self._logbook.early)

    def _raw(self) -> str:
        from jupyter_mlgpu.show.page.text import visible

        lines: list[str] = []
        for sequence, stream, data, gone in self._capture.raw():
            lines.append(say("cell {number}, {stream}:", number=sequence, stream=stream))
            if gone:
                lines.append(say("[{count} older bytes are no longer kept]", count=gone))
            lines.append(visible(data.decode(errors="backslashreplace")).rstrip("\n"))
        return below(*lines) if lines else say("No native lines of a traced cell are kept.")


def _fits(words: str) -> Sentence:
    from jupyter_mlgpu.jupyter.notebook.fits_command import fits_command

    return fits_command(words)


def _unquoted(path: str) -> str:
    return path.strip("'\"")


def _explained(record: Record) -> Record:
    """A record of Apple's fork comes with its lines as they were printed: they are explained here."""
    if all(line.verdict != "unknown" for line in record.logs):
        return record
    from jupyter_mlgpu.explain.logs.catalogue import Catalogue
    from jupyter_mlgpu.explain.logs.reexplain import explain_again

    return explain_again(record, Catalogue.load())
