"""The magics: words typed by a student, turned into calls; nothing is decided here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class

from jupyter_mlgpu.jupyter.notebook.ops_command import RepeatedCell, asked
from jupyter_mlgpu.jupyter.notebook.ours import ours_in
from jupyter_mlgpu.jupyter.notebook.transform import THIS_CELL
from jupyter_mlgpu.record.errors import MlgpuError, RestartNeededError
from jupyter_mlgpu.record.sentence import Sentence, of_error

if TYPE_CHECKING:
    from jupyter_mlgpu.experiment.bench.against import Against
    from jupyter_mlgpu.experiment.bench.run import BenchRun
    from jupyter_mlgpu.experiment.race.result import RaceResult
    from jupyter_mlgpu.graphs.planning.forecast import Plan
    from jupyter_mlgpu.jupyter.notebook.commands import Commands
    from jupyter_mlgpu.jupyter.notebook.devices import DeviceCommands
    from jupyter_mlgpu.record.shown import Shown
    from jupyter_mlgpu.show.doctor.page import DiagnosisPage


@magics_class
class MlgpuMagics(Magics):
    """`%mlgpu`, which lists them, and `%mlc_device`, `%mlc_trace`, `%%mlc_race` and the others."""

    def __init__(
        self,
        shell: Any,
        commands: Commands,
        devices: DeviceCommands,
        repeats: RepeatedCell,
        catch_up: Callable[[], None],
    ) -> None:
        """`catch_up` has the lines of all cells read that are still being read."""
        super().__init__(shell)
        self._catch_up = catch_up
        self._devices = devices
        self._shell = shell
        self._ours = ours_in(shell)
        self._commands = commands
        self._repeats = repeats

    @line_magic
    def mlgpu(self, line: str) -> None:
        """All magics of jupyter_mlgpu, one line each with an example.

        %mlgpu                 the list; each magic's own help is its name with a question mark

        Example:

            %mlgpu
            %mlc_trace?
        """
        from jupyter_mlgpu.jupyter.notebook.overview import overview

        with _one_sentence():
            _print(overview(_without_comment(line)))

    @line_cell_magic
    def mlc_device(self, line: str, cell: str | None = None) -> None:
        """Choose the device on which the cells run, or see which there are.

        Every day

        %mlc_device gpu        run on the first GPU from now on, also in the rest of this cell
        %mlc_device cpu        run on the CPU
        %mlc_device auto       take the choice back: each framework chooses by itself, as before any choice.
                               `any`, the word of ML Compute, is the same
        %mlc_device            the device asked for, and where the last cell ran
        %mlc_device list       every device that exists here, and why others do not

        More

        %mlc_device cpu:1      run on a numbered device
        %%mlc_device cpu       as a cell's first line: run this cell there, and no other
        %mlc_device status     the device asked for, and the memory of every device, by process if told
        %mlc_device gpu --framework torch   the same for one framework; the others stay where they are

        No restart is needed. What was made on another device before (a model's weights, say) stays
        there, and other threads are not moved: the receipt says where the work really ran, and names
        what stayed. A device that does not exist is refused, and nothing changes. Only where a framework
        was told to hide its GPU before it started is a restart needed: then a button offers it.

        Example:

            %mlc_device gpu
            model.fit(x, y)
        """
        if cell is not None:  # called from a program; typed, the line was changed before (see `transform.py`)
            if self._ours("%%mlc_device") and self._ours("%mlc_device"):
                cell = f"%%mlc_device {line}\n{cell}"
            else:  # a magic of the user's stands under our name, and has called us
                with _one_sentence():
                    _print(self._devices.run(f"{line} {THIS_CELL}"))
            self._shell.run_cell(cell).raise_error()
            return
        with _one_sentence():
            _print(self._devices.run(_without_comment(line)))

    @line_cell_magic
    def mlc_trace(self, line: str, cell: str | None = None) -> Shown | None:
        """Measure cells and show a receipt under each.

        Cells are named by the number before them: 10 is [10], and 10.2 its second run where it ran several
        times; #12 is a record by its own number, for blocks, scripts, and counts that came twice. Of a loaded
        run, 10@9f2c. `%mlc_trace show` lists what there is.

        Every day

        %mlc_trace on          trace every cell from the next one on (as %load_ext does)
        %mlc_trace off         stop tracing; records are kept
        %mlc_trace show        a table of all records
        %mlc_trace why         what limits the last cell, how sure that is, and what it rests on
        %mlc_trace why 10      the same of cell [10]
        %mlc_trace compare 10 12   what differs between cells [10] and [12]: medians over the runs of each
        %mlc_trace logs        every native log line, logging record and warning so far, explained
        %mlc_trace save PATH   write the records to a file (JSON Lines, one record a line)
        %%mlc_trace --ops      over a cell: the time of each operation, by the framework's profiler
        %%mlc_trace --ops --repeat 5   over a cell: run it to warm up, 5 times, and once with the profiler

        More

        %mlc_trace status      whether tracing is on, and how many records there are
        %mlc_trace growth      which cells leave more memory behind at each run, with 95 % intervals
        %mlc_trace growth 50   the same over their last 50 runs
        %mlc_trace fits 256 32=5 64=6         would batch 256 fit into memory? 32 was cell [5], 64 cell [6]
        %mlc_trace compare 3-7 8-12           two groups of cells: from [3] to [7], and from [8] to [12]
        %mlc_trace compare a.jsonl b.jsonl    two saved files, cell by cell
        %mlc_trace compare cpu gpu            what ran on two devices
        %mlc_trace clear       forget all records
        %mlc_trace load PATH   read records from a file; they are shown as loaded
        %mlc_trace replay PATH show a file's records that ran on a device, as replayed: nothing runs here
        %mlc_trace export trace.json.gz           cells and profiled operations as a timeline for Perfetto
        %mlc_trace export --cell 10 trace.json.gz   the same of cell [10]
        %mlc_trace export --xprof FOLDER          TensorFlow's and JAX's own profiles, for XProf
        %mlc_trace logs --raw  native lines as they were printed;  --json: one JSON object a message
        %mlc_trace verbose     which variables about logs are set, and which framework is imported already
        %mlc_trace verbose on  TensorFlow says where each operation runs (set before it is imported)
        %mlc_trace verbose all    everything TensorFlow has to say: 55,000 lines in a 20-step fit
        %mlc_trace verbose mlc    for programs on Apple's fork that are started from here
        %mlc_trace verbose NAME=VALUE  one variable;  off puts all back
        %%mlc_trace            over a cell: trace it, also while tracing is off
        %%mlc_trace --ops --shapes     input shapes, too, and PyTorch's FLOP: its profiler takes twice as long
        %%mlc_trace --items 6400       the cell works on 6,400 images or rows: items a second, joules each

        A profiler makes the cell slower, so the time of a profiled run is not shown as its timing: with
        --repeat, the runs before it are. Each run finds what the one before has left: nothing is put back.

        Examples:

            %mlc_trace save records.jsonl

            %mlc_trace verbose on
            import tensorflow as tf

            %%mlc_trace
            model.fit(x, y)
        """
        if cell is not None:
            # Typed in a notebook, the line was taken away before the cell ran (see `transform.py`), but for
            # a cell that repeats; else the magic was called from a program.
            with _one_sentence():
                wanted = asked(line)
                if wanted.repeat is not None:
                    self._repeats.run(cell, wanted, wanted.repeat)
                elif wanted.ops:
                    self._repeats.refuse()
            if wanted.repeat is None:
                ours = self._ours("%%mlc_trace")  # else a magic of the user's has called us, and would again
                self._shell.run_cell(f"%%mlc_trace {line}\n{cell}" if ours else cell).raise_error()
            return None
        if line.endswith(THIS_CELL):
            with _one_sentence():
                self._repeats.works_on(asked(line.removesuffix(THIS_CELL)).items)
            return None
        command, _, argument = _without_comment(line, records=True).partition(" ")
        with _one_sentence():
            self._catch_up()
            try:
                message = self._commands.trace(command or "status", argument.strip())
            except RestartNeededError as error:  # nothing of the cell's depends on it: the cell goes on
                _offer_restart(error)
                return None
        if not isinstance(message, str):
            return message
        if message:
            _print(message)
        return None

    @line_magic
    def mlc_plan(self, line: str) -> Plan:
        """Which operations would have a Metal kernel, without running anything and without a Mac.

        %mlc_plan model                the forward pass of a built Keras model
        %mlc_plan model x              the same for an input's shape and type
        %mlc_plan model x y            its training step, as fit would run it
        %mlc_plan function x           a tf.function with its inputs
        %mlc_plan ... --target cuda    for CUDA;  mlcompute: for Apple's old TensorFlow fork;
                                       metal-community: for tensorflow-metal-plugin, not Apple's plug-in

        Inputs may be arrays, tensors or `tf.TensorSpec((None, 28, 28))`: only their shapes and types are
        used, and of a training step rows come as fit takes them, 32 at a time. The result says what would
        run on the CPU and why, into how many device subgraphs the graph falls, and how many bytes would be
        copied in a step.

        Example:

            p = %mlc_plan model x y
            p.fallbacks
        """
        from jupyter_mlgpu.jupyter.notebook.plan_command import plan_command

        with _one_sentence():
            return plan_command(_without_comment(line), self._shell.user_ns)

    @line_magic
    def mlc_doctor(self, line: str) -> DiagnosisPage | None:
        """What is wrong with this kernel's set-up, how we know, and what to do; it repairs nothing itself.

        %mlc_doctor                      this machine and this kernel's Python, in a few seconds
        %mlc_doctor --deep               also what each framework says in a process of its own, up to a minute
        %mlc_doctor --fix-plan           only the commands that would mend it
        %mlc_doctor --save-facts FILE    write what was looked at, redacted, for somebody who helps from afar
        %mlc_doctor --facts FILE         what is wrong on the machine of such a file
        %mlc_doctor --all                also what is well, and what could not be judged
        %mlc_doctor --json               the result as JSON;  --language zh: in Chinese

        The first finding is the one to begin with. The result has `.findings` and `.to_json()`.

        Example:

            d = %mlc_doctor
            d.findings
        """
        from jupyter_mlgpu.jupyter.notebook.doctor_command import doctor_command

        with _one_sentence():
            return doctor_command(_without_comment(line), self._shell)

    @line_magic
    def mlc_share(self, line: str) -> None:
        """Show the class's teachers how your cells and exercises went, if you want to.

        %mlc_share on       share from the next cell on; says which fields leave, to where, and who sees them
        %mlc_share off      stop: nothing more is sent
        %mlc_share status   whether it is on, what was taken, what waits, and why
        %mlc_share show     the very JSON that would leave for the last cell; nothing is sent

        Nothing is sent before. It holds for this notebook until its kernel ends. Code, output, log lines,
        paths and names of files never leave. Only on a class's JupyterHub that has a teacher's view.

        Example:

            %mlc_share show
            %mlc_share on
        """
        with _one_sentence():
            _print(self._commands.share(_without_comment(line), self._shell))

    @cell_magic
    def mlc_race(self, line: str, cell: str) -> RaceResult:
        """Run a cell on each device, and see which is faster and from which size on.

        %%mlc_race                          on every device of the framework in use, ten times each
        %%mlc_race --over n=100,1e3,1e4     the same for each of these values of the variable n
        %%mlc_race --devices cpu,gpu        on these devices
        %%mlc_race --framework torch        where several frameworks are imported
        %%mlc_race --repeats 20             so many runs, after warm-up
        %%mlc_race --setup 3                run In [3] on each device first, so that its data is there
        %%mlc_race --setup code             the same with the code in the string variable `code`
        %%mlc_race --save race.json         keep the result, and its chart as race.svg
        %%mlc_race --fresh                  each device in a process of its own

        The cell is compiled once and run in your notebook. Before the clock is read at either end, the
        device is waited for, and so is the value of the cell's last expression. The result has medians with
        their 95 % interval; it is in `_`, with `.figure()`, `.to_json()` and `.save(path)`. Runs restore
        nothing: each finds what the one before left. Your own n is put back at the end. What the cell prints
        is shown for each device's first run alone.

        Weights and data that were made before stay on the device where they are: make them in the cell, or
        in the cell named by --setup. A fresh process knows only what its --setup cell makes, and needs memory
        on the GPU beside this notebook's. CUDA's other devices are hidden from it, and magics and `!commands`
        do not work there.

        Example, a row of n numbers times a column of n (the two take 0.8 GB for n = 1e8):

            %%mlc_race --over n=1e2,1e3,1e4,1e5,1e6,1e7,1e8 --repeats 10
            tf.matmul(tf.ones((1, n)), tf.ones((n, 1)))
        """
        from jupyter_mlgpu.jupyter.notebook.race_command import race_command

        with _one_sentence():
            return race_command(_without_comment(line), cell, self._shell)

    @line_magic
    def mlc_bench(self, line: str) -> BenchRun | Against | None:
        """Measure how fast this machine computes: products of matrices, memory, transfers and more.

        %mlc_bench --quick                        the small cases, in a minute at most
        %mlc_bench gemm bandwidth                 these cases, thoroughly
        %mlc_bench gemm --framework torch,jax     with these frameworks, one after the other
        %mlc_bench gemm --device gpu              on this device; without it, the first GPU, else the CPU
        %mlc_bench gemm --out mine.json           keep the results
        %mlc_bench gemm --against h200            beside published figures, or beside a file of --out
        %mlc_bench --against mine.json old.json   two files beside each other; nothing is measured

        Data lies on the device, warm-up goes on until times are steady, and the device is waited for. The
        table has medians with their spread; what speaks against a figure stands below it. The result is in
        `_`, with `.figure()`, `.roofline()`, `.results` and `.save(path)`. Interrupt it, and what was
        measured until then is kept.
        """
        from jupyter_mlgpu.jupyter.notebook.bench_command import bench_command

        with _one_sentence():
            return bench_command(_without_comment(line), self._shell)


class _one_sentence:  # noqa: N801 - reads as a statement: with _one_sentence():
    """Turns our errors into IPython's UsageError, which is shown as one line without a traceback.

    Where a restart would help, that is offered above the line.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, RestartNeededError):
            _offer_restart(error)
            raise UsageError(_said(error.refusal)) from None
        if isinstance(error, MlgpuError):
            raise UsageError(_said(of_error(error))) from None


def _print(text: str) -> None:
    print(_said(text))


def _said(text: str) -> str:
    """A sentence of ours in the learner's language; a table, and what a program sees, stays as it is."""
    if not isinstance(text, Sentence):
        return text
    from jupyter_mlgpu.record.speaking import said  # the catalogue's reader is loaded when something is said

    return said(text)


def _offer_restart(error: RestartNeededError) -> None:
    from jupyter_mlgpu.jupyter.notebook.restart import show  # seldom needed

    show(error)


_COMMENT = re.compile(r"\s#")
#: Of a line that names records: `#12` is one of them, and `#3-#7` a range.
_COMMENT_BESIDE_RECORDS = re.compile(r"\s#(?!\d[\w.@#-]*(\s|$))", re.ASCII)


def _without_comment(line: str, *, records: bool = False) -> str:
    """What is meant: `%mlc_device cpu  # slow` asks for `cpu`. A path may hold a # within a word."""
    comment = _COMMENT_BESIDE_RECORDS if records else _COMMENT
    return comment.split(f" {line}", maxsplit=1)[0].strip()
