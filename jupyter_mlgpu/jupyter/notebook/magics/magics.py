"""The magics as IPython calls them: each parses its line and calls a command."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class

from jupyter_mlgpu.jupyter.notebook.cell.transform import THIS_CELL
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import magic_ownership
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import RepeatedCell, parse_request
from jupyter_mlgpu.record.errors import MlgpuError, RestartNeededError
from jupyter_mlgpu.record.sentence import Sentence, of_error
from jupyter_mlgpu.record.visible import visible

if TYPE_CHECKING:
    from jupyter_mlgpu.experiment.bench.against import Against
    from jupyter_mlgpu.experiment.bench.run import BenchRun
    from jupyter_mlgpu.experiment.race.result import RaceResult
    from jupyter_mlgpu.graphs.mps.forecast import MpsForecast
    from jupyter_mlgpu.graphs.planning.forecast import Plan
    from jupyter_mlgpu.jupyter.notebook.magics.commands import Commands
    from jupyter_mlgpu.jupyter.notebook.magics.devices import DeviceCommands
    from jupyter_mlgpu.record.displayable import Displayable
    from jupyter_mlgpu.show.doctor.page import DiagnosisPage


@magics_class
class MlgpuMagics(Magics):
    """`%mlgpu`, which lists all magics, and `%mlc_device`, `%mlc_trace`, `%%mlc_race` and the others."""

    def __init__(
        self,
        shell: Any,
        commands: Commands,
        devices: DeviceCommands,
        repeats: RepeatedCell,
        catch_up: Callable[[], None],
    ) -> None:
        """Set the commands behind the magics; `catch_up` reads all lines that are still being read."""
        super().__init__(shell)
        self._catch_up = catch_up
        self._devices = devices
        self._shell = shell
        self._ours = magic_ownership(shell)
        self._commands = commands
        self._repeats = repeats

    @line_magic
    def mlgpu(self, line: str) -> None:
        """List all magics of jupyter_mlgpu, each with an example.

        %mlgpu                 the list; for a magic's own help, add a question mark to its name

        Example:

            %mlgpu
            %mlc_trace?
        """
        from jupyter_mlgpu.jupyter.notebook.magics.overview import overview

        with _one_sentence():
            _print(overview(_without_comment(line)))

    @line_cell_magic
    def mlc_device(self, line: str, cell: str | None = None) -> None:
        """Choose the device that cells run on, or list the devices available.

        Every day

        %mlc_device gpu        run on the first GPU from now on, including the rest of this cell
        %mlc_device cpu        run on the CPU
        %mlc_device auto       undo the choice: each framework chooses its own device, as at the start.
                               `any`, the word from ML Compute, means the same
        %mlc_device            the requested device, and where the last cell ran
        %mlc_device list       every device available here, and why others are not

        More

        %mlc_device cpu:1      run on a numbered device
        %mlc_device mps        the same as gpu on a Mac, also as metal; cuda is the same as gpu where the
                               GPU is NVIDIA's or AMD's. Refused where the GPU is of another kind
        %%mlc_device cpu       as a cell's first line: run only this cell there
        %mlc_device status     the requested device, and each device's memory, by process where known
        %mlc_device gpu --framework torch   the same for one framework only; others are not affected

        No restart is needed. Anything already on another device (a model's weights, for example) stays
        there, and other threads are not moved: the receipt shows where the work really ran and what
        stayed behind. If a device does not exist, the request is refused and nothing changes. A restart is
        needed only if a framework was told to hide its GPU before it started; a button then offers it.

        Example:

            %mlc_device gpu
            model.fit(x, y)
        """
        if cell is not None:  # called by a program; `transform.py` changes a typed line before it gets here
            if self._ours("%%mlc_device") and self._ours("%mlc_device"):
                cell = f"%%mlc_device {line}\n{cell}"
            else:  # the user has registered a magic under our name, which calls ours
                with _one_sentence():
                    _print(self._devices.run(f"{line} {THIS_CELL}"))
            self._shell.run_cell(cell).raise_error()
            return
        with _one_sentence():
            _print(self._devices.run(_without_comment(line)))

    @line_cell_magic
    def mlc_trace(self, line: str, cell: str | None = None) -> Displayable | None:
        """Measure cells and show a receipt under each one.

        Refer to a cell by the number next to it: 10 is [10], and 10.2 is its second run if it ran several
        times. #12 is a record's own number, for blocks, scripts, and cell numbers that occur twice. In a
        loaded run, use 10@9f2c. `%mlc_trace show` lists them all.

        Every day

        %mlc_trace on          trace every cell, starting with the next (as %load_ext does)
        %mlc_trace off         stop tracing; records are kept
        %mlc_trace show        a table of all records
        %mlc_trace why         what limited the last cell, how certain that is, and the evidence
        %mlc_trace why 10      the same for cell [10]
        %mlc_trace compare 10 12   how cells [10] and [12] differ: medians over all runs of each
        %mlc_trace logs        all messages so far (native log lines, logging records, warnings), explained
        %mlc_trace save PATH   save the records to a file (JSON Lines, one record per line)
        %%mlc_trace --ops      as a cell's first line: time per operation, from the framework's profiler
        %%mlc_trace --ops --repeat 5   the same after a warm-up run and 5 runs without the profiler
        %%mlc_trace --check    PyTorch: are the results right? Names the first wrong operation and its line

        More

        %mlc_trace status      whether tracing is on, and the number of records
        %mlc_trace growth      which cells leave more memory behind with each run, with 95 % intervals
        %mlc_trace growth 50   the same over their last 50 runs
        %mlc_trace fits 256 32=5 64=6         would batch size 256 fit in memory? [5] ran 32, [6] ran 64
        %mlc_trace compare 3-7 8-12           two ranges of cells: [3] to [7], and [8] to [12]
        %mlc_trace compare a.jsonl b.jsonl    two saved files, cell by cell
        %mlc_trace compare cpu gpu            what ran on two devices
        %mlc_trace clear       clear all records of this kernel
        %mlc_trace load PATH   load records from a file; they are marked as loaded
        %mlc_trace replay PATH show a file's records that ran on a device, marked as replayed: nothing runs
        %mlc_trace export trace.json.gz           cells and profiled operations as a timeline for Perfetto
        %mlc_trace export --cell 10 trace.json.gz   the same for cell [10]
        %mlc_trace export --xprof FOLDER          TensorFlow's and JAX's own profiles, for XProf
        %mlc_trace logs --raw  native lines as printed;  --json: one JSON object per message
        %mlc_trace verbose     which logging variables are set, and which frameworks are already imported
        %mlc_trace verbose on  TensorFlow logs where each operation runs (use before importing it)
        %mlc_trace verbose all    everything TensorFlow can log: 55,000 lines in a 20-step fit
        %mlc_trace verbose mlc    for programs that use Apple's fork, started from here
        %mlc_trace verbose NAME=VALUE  one variable;  off restores all of them
        %%mlc_trace            as a cell's first line: trace it even while tracing is off
        %%mlc_trace --ops --shapes     also input shapes, and PyTorch's FLOP: its profiler takes twice as long
        %%mlc_trace --items 6400       the cell works on 6,400 images or rows: items per second, joules each

        A profiler slows the cell down, so the time of a profiled run is not shown as its timing; with
        --repeat, the runs before it are. No state is reset between runs: each starts from what the last left.
        With --check, each operation is computed again on the CPU in float64: its receipt has no figures.

        Examples:

            %mlc_trace save records.jsonl

            %mlc_trace verbose on
            import tensorflow as tf

            %%mlc_trace
            model.fit(x, y)

            %%mlc_trace --check
            loss = train_step(x, y)
        """
        if cell is not None:
            # `transform.py` removes a typed line before the cell runs, except for a cell that repeats. So
            # this is a cell that repeats, or a program called the magic.
            with _one_sentence():
                request = parse_request(line)
                if request.repeat is not None:
                    self._repeats.run(cell, request, request.repeat)
                elif request.ops or request.check:
                    self._repeats.refuse()
            if request.repeat is None:
                ours = self._ours("%%mlc_trace")  # else the user's own magic called ours, and would again
                self._shell.run_cell(f"%%mlc_trace {line}\n{cell}" if ours else cell).raise_error()
            return None
        if line.endswith(THIS_CELL):
            with _one_sentence():
                self._repeats.set_items(parse_request(line.removesuffix(THIS_CELL)).items)
            return None
        command, _, argument = _without_comment(line, records=True).partition(" ")
        with _one_sentence():
            if command.startswith("--"):
                self._repeats.refuse()
            if command not in ("on", "off"):  # these need no lines, and reading them may take long
                self._catch_up()
            try:
                message = self._commands.trace(command or "status", argument.strip())
            except RestartNeededError as error:  # nothing in the cell depends on it, so the cell goes on
                _offer_restart(error)
                return None
        if not isinstance(message, str):
            return message
        if message:
            _print(message)
        return None

    @line_magic
    def mlc_plan(self, line: str) -> Plan | MpsForecast:
        """Find out which operations would have a Metal kernel, without running anything and without a Mac.

        %mlc_plan model                the forward pass of a built Keras model
        %mlc_plan model x              the same for the shape and type of an input
        %mlc_plan model x y            its training step, as fit would run it
        %mlc_plan function x           a tf.function with its inputs
        %mlc_plan ... --target cuda    for CUDA;  mlcompute: Apple's old TensorFlow fork;
                                       metal-community: tensorflow-metal-plugin, not Apple's plug-in
        %mlc_plan model x y --target mps    the training step of a PyTorch module on a Mac's GPU, without
                                            y its forward pass; also `step x y` for a function

        Inputs may be arrays, tensors or `tf.TensorSpec((None, 28, 28))`: only their shapes and types are
        used, and `*batch` gives the parts of a batch. For a training step, rows come in batches of 32, as in
        fit. The result says what would run on the CPU and why, how many device subgraphs the graph splits
        into, and how many bytes would be copied per step.

        Example:

            p = %mlc_plan model x y
            p.fallbacks
        """
        from jupyter_mlgpu.jupyter.notebook.magics.plan_command import plan_command

        with _one_sentence():
            return plan_command(_without_comment(line), self._shell.user_ns)

    @line_magic
    def mlc_doctor(self, line: str) -> DiagnosisPage | None:
        """Find out what is wrong with this kernel's setup, how we know, and what to do; repairs nothing.

        %mlc_doctor                      this machine and this kernel's Python, in a few seconds
        %mlc_doctor --deep               also query each framework in its own process; takes up to a minute
        %mlc_doctor --fix-plan           only the commands that would fix it
        %mlc_doctor --save-facts FILE    save the facts, redacted, for someone who helps you remotely
        %mlc_doctor --facts FILE         diagnose the machine described in such a file
        %mlc_doctor --all                also what is fine, and what could not be judged
        %mlc_doctor --json               the result as JSON;  --language zh: in Chinese

        Start with the first finding. The result has `.findings` and `.to_json()`.

        Example:

            d = %mlc_doctor
            d.findings
        """
        from jupyter_mlgpu.jupyter.notebook.magics.doctor_command import doctor_command

        with _one_sentence():
            return doctor_command(_without_comment(line), self._shell)

    @line_magic
    def mlc_share(self, line: str) -> None:
        """Let your class's teachers see how your cells and exercises went.

        %mlc_share on       share from the next cell on; shows which fields are sent, where, and who sees them
        %mlc_share off      stop sharing: nothing more is sent
        %mlc_share status   whether sharing is on, what was accepted, what is waiting, and why
        %mlc_share show     the exact JSON that would be sent for the last cell; nothing is sent

        Nothing is sent before you turn it on. It applies to this notebook until its kernel ends. Code,
        output, log lines, paths and file names are never sent. Works only on a class's JupyterHub with a
        teacher's view.

        Example:

            %mlc_share show
            %mlc_share on
        """
        with _one_sentence():
            _print(self._commands.share(_without_comment(line), self._shell))

    @cell_magic
    def mlc_race(self, line: str, cell: str) -> RaceResult:
        """Run a cell on each device, and see which is faster at what size.

        %%mlc_race                          on every device of the current framework, ten times each
        %%mlc_race --over n=100,1e3,1e4     the same for each of these values of n
        %%mlc_race --devices cpu,gpu        on these devices only
        %%mlc_race --framework torch        if several frameworks are imported
        %%mlc_race --repeats 20             20 runs each, after warm-up
        %%mlc_race --setup 3                run In [3] on each device first, to create its data there
        %%mlc_race --setup code             the same, with the code in the string variable `code`
        %%mlc_race --save race.json         save the result, and its chart as race.svg
        %%mlc_race --fresh                  each device in its own process

        The cell is compiled once and run in your notebook. The clock is read, at both ends, only after
        waiting for the device and for the value of the cell's last expression. The result has medians with
        95 % intervals; it is in `_`, with `.figure()`, `.to_json()` and `.save(path)`. No state is reset
        between runs: each starts from what the last left. Your own n is restored at the end. The cell's
        printed output is shown only for the first run on each device.

        Existing weights and data stay on their device: create them in the cell, or in the cell given to
        --setup. A fresh process knows only what its --setup cell creates, and needs GPU memory in addition
        to this notebook's. CUDA's other devices are hidden from it, and magics and `!commands` do not work
        there.

        Example: a row of n numbers times a column of n (together 0.8 GB for n = 1e8):

            %%mlc_race --over n=1e2,1e3,1e4,1e5,1e6,1e7,1e8 --repeats 10
            tf.matmul(tf.ones((1, n)), tf.ones((n, 1)))
        """
        from jupyter_mlgpu.jupyter.notebook.magics.race_command import race_command

        with _one_sentence():
            return race_command(_without_comment(line), cell, self._shell)

    @line_magic
    def mlc_bench(self, line: str) -> BenchRun | Against | None:
        """Measure how fast this machine computes: matrix products, memory, transfers and more.

        %mlc_bench --quick                        the small cases, in at most a minute
        %mlc_bench --quick bert-large             a model's fastest paths, in about a minute
        %mlc_bench gemm bandwidth                 these cases, thoroughly
        %mlc_bench gemm --framework torch,jax     with these frameworks, one after another
        %mlc_bench gemm --device gpu              on this device; by default the first GPU, else the CPU
        %mlc_bench gemm --out mine.json           save the results
        %mlc_bench gemm --pyperf today.json       save the repeats for `python -m pyperf compare_to`
        %mlc_bench burn --minutes 10              large products for ten minutes: does the throughput last?
        %mlc_bench gemm --against h200            compare with published figures, or with a file from --out
        %mlc_bench --against mine.json old.json   compare two files; nothing is measured

        Data is on the device, warm-up continues until times are steady, and timings wait for the device.
        The table has medians with their spread; reasons to doubt a figure are listed below it. The result
        is in `_`, with `.figure()`, `.roofline()`, `.results` and `.save(path)`. If you interrupt it,
        everything measured so far is kept.
        """
        from jupyter_mlgpu.jupyter.notebook.magics.bench_command import bench_command

        with _one_sentence():
            return bench_command(_without_comment(line), self._shell)


class _one_sentence:  # noqa: N801 - reads as a statement: with _one_sentence():
    """Turns our errors into IPython's UsageError, which is shown as one line without a traceback.

    If a restart would help, a button for it is shown above the line.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, RestartNeededError):
            _offer_restart(error)
            raise UsageError(visible(_translated(error.refusal))) from None
        if isinstance(error, MlgpuError):
            raise UsageError(visible(_translated(of_error(error)))) from None


def _print(text: str) -> None:
    print(visible(_translated(text)))


def _translated(text: str) -> str:
    """Return a `Sentence` in the user's language; other text, such as a table, is returned as it is."""
    if not isinstance(text, Sentence):
        return text
    from jupyter_mlgpu.record.language import translate  # imported here because it reads the catalogue

    return translate(text)


def _offer_restart(error: RestartNeededError) -> None:
    from jupyter_mlgpu.jupyter.notebook.magics.restart import show  # imported here because it is rarely used

    show(error)


_COMMENT = re.compile(r"\s#")
#: A comment in a line that names records, in which `#12` is a record and `#3-#7` a range.
_COMMENT_BESIDE_RECORDS = re.compile(r"\s#(?!\d[\w.@#-]*(\s|$))", re.ASCII)


def _without_comment(line: str, *, records: bool = False) -> str:
    """Return the line without a comment: `%mlc_device cpu  # slow` becomes `cpu`. A word may contain a #."""
    comment = _COMMENT_BESIDE_RECORDS if records else _COMMENT
    return comment.split(f" {line}", maxsplit=1)[0].strip()
