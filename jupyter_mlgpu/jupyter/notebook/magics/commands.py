"""The commands behind `%mlc_trace` and `%mlc_share`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu import jupyter
from jupyter_mlgpu.jupyter.notebook.browser.channel import Channel, KernelChannel
from jupyter_mlgpu.jupyter.notebook.browser.logbook import Logbook
from jupyter_mlgpu.jupyter.notebook.cell.events import CellEvents
from jupyter_mlgpu.jupyter.notebook.magics import record_files
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import magic_parser, unknown
from jupyter_mlgpu.record.sentence import Sentence, below, joined, say, say_count

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.comparing.compare import RecordComparison
    from jupyter_mlgpu.explain.logs.verbose import Verbose
    from jupyter_mlgpu.show.why.page import Reasons


@dataclass(eq=False, repr=False)
class Commands:
    """The commands behind `%mlc_trace`. They raise our errors, whose text is written for the user."""

    runtime: Runtime
    events: CellEvents
    channel: Channel
    logbook: Logbook
    capture: Capture

    def __post_init__(self) -> None:
        self._verbose: Verbose | None = None
        self._sharing: jupyter.Sharing | None = None

    def trace(self, command: str, argument: str) -> str | Displayable:
        """Run `%mlc_trace COMMAND ARGUMENT`; return the text to print or a result to show."""
        commands: dict[str, Callable[[], str | Displayable]] = {
            "on": lambda: self._set_tracing(True),
            "off": lambda: self._set_tracing(False),
            "status": self._trace_status,
            "show": self._show,
            "clear": self._clear,
            "save": lambda: record_files.save(_unquoted(argument), self.runtime),
            "load": lambda: record_files.load(_unquoted(argument), self.runtime, self.channel),
            "replay": lambda: record_files.replay(_unquoted(argument), self.runtime, self.channel),
            "logs": lambda: self._logs(argument),
            "verbose": lambda: self._set_verbose(argument),
            "growth": lambda: self._growth(argument),
            "export": lambda: self._export(argument),
            "compare": lambda: self._compare(argument),
            "fits": lambda: self._fits(argument),
            "why": lambda: self._why(argument),
        }
        if command not in commands:
            raise UsageError(
                joined(
                    unknown(say("command"), command, commands, "%mlc_trace"),
                    say("`%mlc_trace?` explains each with an example."),
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
        with Uninterrupted():  # the sidebar must show the true state even after a Ctrl-C
            self.events.set_tracing(on)
            self.channel.push({"type": "trace", "on": on})
        if on:
            return say("Tracing is on, starting with the next cell.")
        return say("Tracing is off; the records so far are kept. `%mlc_trace on` turns it on again.")

    def _trace_status(self) -> Sentence:
        store = self.runtime.store
        records = say_count("{count} record", "{count} records", len(store.records()))
        if store.dropped:
            records = say(
                "{records} ({dropped} older ones were dropped)", records=records, dropped=store.dropped
            )
        if self.events.tracing:
            state = say("Tracing is on; this kernel has {records}.", records=records)
        else:
            state = say("Tracing is off; this kernel has {records}.", records=records)
        return joined(state, *self._missing_page(), say("`%mlc_trace?` explains the commands."))

    def _missing_page(self) -> list[Sentence]:
        """Return a hint if no page with our sidebar has asked so far.

        A kernel cannot tell if JupyterLab has our front end.
        """
        audience = self.channel.audience if isinstance(self.channel, KernelChannel) else None
        if audience is None or audience.known_to_a_client or not audience.on_a_server:
            return []
        from jupyter_mlgpu.record import origin  # rarely used, and reads files

        return [
            say(
                "So far no page with the sidebar has asked this kernel. Where JupyterLab shows none, run "
                "`{line}` in the environment that JupyterLab runs in, and restart it.",
                line=origin.install_line(),
            )
        ]

    def _show(self) -> str:
        from jupyter_mlgpu.show.receipts import text  # rendering is imported when it is needed

        records = self.runtime.store.records()
        return text.table(records, cellnumbers.names(records, self.runtime.recorder.run.id))

    def _growth(self, argument: str) -> str:
        from jupyter_mlgpu.explain import growth  # rarely used
        from jupyter_mlgpu.show.receipts import growing

        last = int(argument) if argument.isdecimal() else growth.LAST if not argument else 0
        if not growth.FEWEST <= last <= growth.MOST:
            raise UsageError(
                say(
                    "%mlc_trace growth takes the number of a cell's last runs to use, {fewest} "
                    "to {most} (default {last}); found {found}.",
                    fewest=growth.FEWEST,
                    most=growth.MOST,
                    last=growth.LAST,
                    found=repr(argument),
                )
            )
        records = self.runtime.store.records()
        names = cellnumbers.names(records, self.runtime.recorder.run.id)
        return growing.table([*growth.of_all(records, last), *growth.of_blocks(records, last)], names)

    def _clear(self) -> Sentence:
        self.runtime.store.clear()
        self.runtime.replays.clear()
        self.runtime.profiles.clear()
        self.runtime.samples.clear()
        self.logbook.clear()
        self.channel.push({"type": "cleared"})
        return say("All records of this kernel were cleared; receipts in the notebook stay.")

    def _export(self, words: str) -> str:
        from jupyter_mlgpu.jupyter.notebook.magics.export_command import export

        return export(words, self.runtime)

    def _compare(self, words: str) -> RecordComparison:
        from jupyter_mlgpu.jupyter.notebook.magics.compare_command import compare_command

        return compare_command(words, self.runtime)

    def _fits(self, words: str) -> Sentence:
        from jupyter_mlgpu.jupyter.notebook.magics.fits_command import fits_command

        return fits_command(words)

    def _why(self, number: str) -> Reasons:
        from jupyter_mlgpu.show.why.page import Reasons

        records = self.runtime.store.records()
        if not number:
            if not records:
                raise UsageError(say("No cell has a record yet: run a cell with tracing on."))
            return Reasons(records[-1])
        cell = cellnumbers.cell_number(number)
        return Reasons(cellnumbers.select_one(cell, records, self.runtime.recorder.run.id))

    def share(self, words: str, shell: Any) -> str:
        """Run `%mlc_share WORDS` in this shell; return the text to print."""
        if self._sharing is None:
            self._sharing = jupyter.share_command(self.runtime, shell)
        return self._sharing.run(words)

    def stop_sharing(self) -> None:
        """Stop sending to the teacher's view."""
        if self._sharing is not None:
            self._sharing.end()

    def restore_environment(self) -> None:
        """Undo the environment variables that `%mlc_trace verbose` has set."""
        if self._verbose is not None:
            self._verbose.restore()

    def _set_verbose(self, words: str) -> str:
        if self._verbose is None:
            # Imported here because it is rarely used.
            from jupyter_mlgpu.explain.logs.verbose import of_this_process

            self._verbose = of_this_process()
        return self._verbose.command(words, sys.modules)

    def _logs(self, option: str) -> str:
        from jupyter_mlgpu.show.receipts import logbook

        records = self.runtime.store.records()
        names = cellnumbers.names(records, self.runtime.recorder.run.id)
        help_text = say("`%mlc_trace logs` without options explains each line.")
        parser = magic_parser("%mlc_trace logs", help_text)
        parser.add_argument("--raw", action="store_true")
        parser.add_argument("--json", action="store_true")
        arguments = parser.parse_line(option)
        if arguments.raw:
            return self._with_capture_problem(self._raw(names))
        if arguments.json:
            return logbook.as_json(records, self.logbook.early)
        return self._with_capture_problem(logbook.explained(records, self.logbook.early, names))

    def _with_capture_problem(self, lines: str) -> str:
        return lines if self.capture.missing is None else below(lines, self.capture.missing)

    def _raw(self, names: Mapping[tuple[str, int], str]) -> str:
        from jupyter_mlgpu.record.visible import visible

        run = self.runtime.recorder.run.id
        lines: list[str] = []
        for sequence, stream, data, gone in self.capture.raw():
            number = names.get((run, sequence), f"#{sequence}")
            lines.append(say("cell {number}, {stream}:", number=number, stream=stream))
            if gone:
                lines.append(say("[{count} older bytes are no longer kept]", count=gone))
            lines.append(visible(data.decode(errors="backslashreplace")).rstrip("\n"))
        return below(*lines) if lines else say("No messages from traced cells are kept.")


def _unquoted(path: str) -> str:
    return path.strip("'\"")
