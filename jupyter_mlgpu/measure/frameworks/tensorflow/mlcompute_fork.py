#!/usr/bin/env python3
"""Measure programs on Apple's TensorFlow fork (2.4.0rc0 with ML Compute, macOS 11, Python 3.8).

The fork cannot run where jupyter_mlgpu runs, so this one file goes to the fork: copy it next to your
program. It needs Python 3.8 or newer and nothing else.

    python3.8 mlcompute_fork.py --device gpu --mlc-logging train.py      a whole script

    import mlcompute_fork                                                or blocks of your own code
    mlcompute_fork.set_device("gpu")                                     (before the first tensor)
    with mlcompute_fork.trace("one epoch"):
        model.fit(x, y)

Both add records to mlcompute_records.jsonl, one a line. `%mlc_trace load mlcompute_records.jsonl` reads
them in a notebook of today, and explains their log lines.

What a block or script prints goes to a temporary file and, every tenth of a second, on to where it
A block's or script's output goes to a temporary file, and from there to its destination every tenth of a
second. The output of a program started inside a block is not shown after the block has ended. Written from
the fork's README and public threads; never run on a Mac by its authors.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import getpass
import hashlib
import json
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

RECORDS = "mlcompute_records.jsonl"
DEVICES = ("any", "cpu", "gpu")

# The environment variables of the fork's README: their effect, and the format of their value.
KNOBS = {
    "TF_MLC_LOGGING": ("print the device, the graphs and their MLCSubgraphOp nodes, in graph mode", r"1"),
    "TF_CPP_MIN_VLOG_LEVEL": ("print buffers, keys and cache figures, in eager mode", r"\d+"),
    "TF_DISABLE_MLC": ("switch ML Compute off", r"1"),
    "TF_DISABLE_MLC_EAGER": ("keep operations off ML Compute in eager mode: ';MatMul;Relu'", r"(;\w+)+;?"),
    "TF_MLC_ALLOCATOR_INIT_VALUE": ("fill new memory with a value", r"\S+"),
}

_UTC = "%Y-%m-%dT%H:%M:%S.%fZ"
_LINES = 2000  # distinct lines kept in a record; all of them are printed
_LONGEST = 20000  # bytes kept of a line
_RUN = {
    "id": uuid.uuid4().hex,
    "notebook": None,
    "host_digest": hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12],
    "engine": None,
}
_records = 0  # records made by this process
_device = None  # the selected device


class ForkError(RuntimeError):
    """An operation that this file refuses; the text says what to do instead."""


def set_device(name: str = "any") -> None:
    """Select ML Compute's device: `any` (the best available), `cpu` or `gpu`; call before the first tensor.

    In eager mode the fork always uses the CPU. model.fit and tf.function run as graphs, and
    tf.compat.v1.disable_eager_execution() leaves eager mode altogether.
    """
    global _device
    if name not in DEVICES:
        raise ForkError(f"There is no device {name!r}: choose 'any', 'cpu' or 'gpu'.")
    try:
        _mlcompute().set_mlc_device(device_name=name)
    except RuntimeError as error:
        if "before initialization" not in str(error):
            raise
        raise ForkError(
            "ML Compute's device cannot be changed any more, for TensorFlow has made its first tensor: "
            f"start Python again and call set_device({name!r}) before anything else."
        ) from error
    _device = name


def is_apple_mlc_enabled() -> bool:
    """Return True if this TensorFlow will use ML Compute; False under TF_DISABLE_MLC=1."""
    return bool(_mlcompute().is_apple_mlc_enabled())


def is_tf_compiled_with_apple_mlc() -> bool:
    """Return True if this TensorFlow was built with ML Compute."""
    return bool(_mlcompute().is_tf_compiled_with_apple_mlc())


def set_knobs(**values: object) -> None:
    """Set variables of `KNOBS`, as in `set_knobs(TF_MLC_LOGGING=1)`; call before importing tensorflow."""
    for name, value in values.items():
        if name not in KNOBS:
            known = ", ".join(KNOBS)
            raise ForkError(f"There is no variable {name}: choose from {known}.")
        if not re.fullmatch(KNOBS[name][1], str(value)):
            raise ForkError(f"{name}={value} will not do: it is meant to {KNOBS[name][0]}.")
    if values and "tensorflow" in sys.modules:
        raise ForkError(
            "TensorFlow reads these variables once, when it is imported, and it is imported already: "
            "start Python again and call set_knobs before `import tensorflow`."
        )
    os.environ.update({name: str(value) for name, value in values.items()})


def one_thread() -> None:
    """Use one inter-op thread, which keeps log lines of operations apart; call before the first tensor."""
    import tensorflow

    tensorflow.config.threading.set_inter_op_parallelism_threads(1)


@contextlib.contextmanager
def trace(name: str, out: str = RECORDS) -> Iterator[None]:
    """Measure a block: its time, the selected device, how it ended and its output.

    The record is added to the file `out`. An exception of the block is passed on unchanged.
    """
    lines, pid = _Lines(), os.getpid()
    measured = _Measured()
    try:
        with _redirected(lines), measured:
            yield
    finally:
        # Not in a child that was forked in the block, nor after an interrupt before its first line.
        if os.getpid() == pid and measured.outcome:
            _append(out, _record(name, dict(measured.results(), **_about_tensorflow()), lines))


class _Measured:
    """The clock around a block.

    Its clock functions are bound here, so that a block that freezes time for its own code does not change
    them.
    """

    outcome = ""
    _wall_ns = staticmethod(time.perf_counter_ns)
    _cpu_ns = staticmethod(time.process_time_ns)
    _now = staticmethod(datetime.now)

    def __enter__(self) -> None:
        self.started_at = self._now(timezone.utc).strftime(_UTC)  # noqa: UP017 - Python 3.8 has no datetime.UTC
        self.cpu = self._cpu_ns()
        self.wall = self._wall_ns()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.seconds = (self._wall_ns() - self.wall) / 1e9
        self.cpu_seconds = (self._cpu_ns() - self.cpu) / 1e9
        self.outcome = "ok" if kind is None else "error"
        if isinstance(error, KeyboardInterrupt):
            self.outcome = "interrupted"
        elif isinstance(error, SystemExit) and error.code in (None, 0):
            self.outcome = "ok"

    def results(self) -> dict[str, Any]:
        """Return the measured values after the block."""
        return {
            "started_at": self.started_at,
            "monotonic_ns": self.wall,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "outcome": self.outcome,
            "device": _device,
        }


class _Lines:
    """The distinct lines of the output in the order of their first occurrence, with counts."""

    def __init__(self) -> None:
        self._rest = {"stdout": b"", "stderr": b""}
        self._counts: dict[tuple[str, str], int] = {}
        self.left_out = 0
        self.cut = 0

    def feed(self, stream: str, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._grow(stream, first)
        for piece in others:
            self._end(stream)
            self._grow(stream, piece)

    def finish(self) -> list[dict[str, Any]]:
        for stream in self._rest:
            self._end(stream)
        return [
            {
                "text": text,
                "id": None,
                "verdict": "unknown",
                "meaning": None,
                "advice": None,
                "fields": {},
                "count": count,
                "stream": stream,
                "time": None,
                "late": False,
            }
            for (stream, text), count in self._counts.items()
        ]

    def _grow(self, stream: str, piece: bytes) -> None:
        rest = self._rest[stream] + piece
        if len(rest) > _LONGEST:
            rest = _visible_part(rest)
        if len(rest) > _LONGEST:
            self.cut += len(rest) - _LONGEST
            rest = rest[:_LONGEST]
        self._rest[stream] = rest

    def _end(self, stream: str) -> None:
        rest, self._rest[stream] = self._rest[stream], b""
        text = _private(_visible_part(rest).decode("utf-8", "backslashreplace"))
        if not text.strip():
            return
        key = (stream, text)
        if key in self._counts or len(self._counts) < _LINES:
            self._counts[key] = self._counts.get(key, 0) + 1
        else:
            self.left_out += 1


def _visible_part(line: bytes) -> bytes:
    """Return the part of a line that a terminal still shows: a progress bar overwrites itself."""
    return line.rstrip(b"\r").rpartition(b"\r")[2].strip(b"\b")


class _Tail:
    """A file that replaces one output stream; its content is copied to `target`."""

    def __init__(self, stream: str, fd: int, lines: _Lines) -> None:
        self.stream, self.fd = stream, fd
        self.target = os.dup(fd)
        self.file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it lives as long as this
        flags = fcntl.fcntl(self.file, fcntl.F_GETFL)
        fcntl.fcntl(self.file, fcntl.F_SETFL, flags | os.O_APPEND)
        self._lines, self._copied, self._broken = lines, 0, False

    def copy(self) -> None:
        """Copy and count the new content."""
        while True:
            data = os.pread(self.file.fileno(), 1 << 16, self._copied)
            if not data:
                return
            self._copied += len(data)
            self._lines.feed(self.stream, data)
            while data and not self._broken:
                try:
                    data = data[os.write(self.target, data) :]
                except BlockingIOError:
                    time.sleep(0.01)
                except OSError:  # the reader of a pipe has exited: the rest is still recorded
                    self._broken = True

    def close(self) -> None:
        os.close(self.target)
        self.file.close()


def _tails(lines: _Lines) -> list[_Tail]:
    tails = []
    for stream, fd in (("stdout", 1), ("stderr", 2)):
        with contextlib.suppress(OSError):  # closed by the user, or no space for a file: not recorded
            tails.append(_Tail(stream, fd, lines))
    return tails


@contextlib.contextmanager
def _redirected(lines: _Lines) -> Iterator[None]:
    """Redirect file descriptors 1 and 2 to files until the block ends; a pipe could block native code."""
    _flush()
    pid, finished = os.getpid(), threading.Event()
    terminals = [stream for stream in (sys.stdout, sys.stderr) if _is_terminal(stream)]
    # Those with an `isatty` of their own belong to an outer block.
    terminals = [stream for stream in terminals if "isatty" not in getattr(stream, "__dict__", ())]
    tails = _tails(lines)

    def keep_copying() -> None:
        while not finished.wait(0.1):
            for tail in tails:
                tail.copy()

    copier = threading.Thread(target=keep_copying, daemon=True)
    try:
        for tail in tails:
            os.dup2(tail.file.fileno(), tail.fd)
        _pretend_terminals(terminals)
        copier.start()
        yield
    finally:
        try:
            _flush()
        finally:
            for tail in tails:
                os.dup2(tail.target, tail.fd)
            for stream in terminals:
                with contextlib.suppress(AttributeError):
                    del stream.isatty  # the class's own method is visible again
            if os.getpid() == pid:
                finished.set()
                if copier.ident is not None:
                    copier.join()
                for tail in tails:
                    tail.copy()
            for tail in tails:
                tail.close()


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError, OSError):  # None, closed, or another object
        return False


def _pretend_terminals(streams: list[Any]) -> None:
    """Make streams report a terminal: Keras writes its progress bar in one line only on a terminal."""
    for stream in streams:
        with contextlib.suppress(AttributeError):
            stream.isatty = lambda: True


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).fflush(None)


def _mlcompute() -> Any:
    try:
        from tensorflow.python.compiler.mlcompute import mlcompute
    except ImportError as error:
        raise ForkError(
            f"This Python has no TensorFlow with ML Compute ({error}): "
            "use the Python 3.8 of the environment that Apple's installer made."
        ) from error
    return mlcompute


def _about_tensorflow() -> dict[str, Any]:
    """Return TensorFlow's version and state if the program has imported it."""
    about: dict[str, Any] = {}
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        return about
    for name, ask in (
        ("version", lambda: str(tensorflow.__version__)),
        ("eager", lambda: bool(tensorflow.executing_eagerly())),
        ("enabled", is_apple_mlc_enabled),
        ("compiled", is_tf_compiled_with_apple_mlc),
    ):
        with contextlib.suppress(Exception):  # not Apple's, or still importing: then it is not known
            about[name] = ask()
    return about


def _record(name: str, results: dict[str, Any], lines: _Lines) -> dict[str, Any]:
    """Return a record of schema 2 (jupyter_mlgpu's record.schema.json): unknown is null, with a reason."""
    global _records
    _records += 1
    ended = "The script ended before it could tell."
    nothing = "mlcompute_fork.py does not measure it."
    versions = {"python": platform.python_version()}
    if platform.mac_ver()[0]:
        versions["macos"] = platform.mac_ver()[0]
    if "version" in results:
        versions["tensorflow"] = results["version"]
    facts = {
        name: {"value": os.environ[name], "source": "environment variable"}
        for name in KNOBS
        if name in os.environ
    }
    for key, function in (
        ("enabled", "is_apple_mlc_enabled"),
        ("compiled", "is_tf_compiled_with_apple_mlc"),
    ):
        if key in results:
            facts[function] = {"value": results[key], "source": f"mlcompute.{function}()"}
    if "eager" in results:
        facts["executing_eagerly"] = {"value": results["eager"], "source": "tf.executing_eagerly()"}
    logs = lines.finish()
    readings = [
        _reading("wall_time", results.get("seconds"), "s", "cell", "time.perf_counter_ns", ended),
        _reading("cpu_time", results.get("cpu_seconds"), "s", "process", "time.process_time_ns", ended),
        _reading("device_time", None, "s", "cell", "none", "ML Compute does not tell it."),
        _reading("peak_memory_process", None, "bytes", "process", "none", nothing),
        _reading("peak_memory_allocator", None, "bytes", "cell", "none", "ML Compute does not tell it."),
        _reading("peak_memory_device", None, "bytes", "device", "none", "ML Compute does not tell it."),
        _reading("memory_process", None, "bytes", "process", "none", nothing),
        _reading("memory_allocator", None, "bytes", "device", "none", "ML Compute does not tell it."),
        _reading("energy", None, "J", "machine", "none", nothing),
    ]
    return {
        "schema": 2,
        "run": _RUN,
        "cell": {
            "sequence": _records,
            "id": None,
            "execution_count": None,
            "source_digest": None,
            "name": _private(name)[:80],
        },
        "started_at": results["started_at"],
        "started_monotonic_ns": results["monotonic_ns"],
        "outcome": results["outcome"],
        "device": {
            "requested": {"*": results["device"]} if results["device"] else {},
            "ran_on": None,
            "why_missing": _why_not_placed(results),
        },
        "readings": readings,
        "logs": logs,
        "ops": [],
        "facts": facts,
        "versions": versions,
        "mode": "light",
        "origin": "live",
        "notes": _notes(results, lines),
    }


def _reading(
    quantity: str, value: float | None, unit: str, scope: str, detail: str, why: str
) -> dict[str, Any]:
    known = value is not None
    return {
        "quantity": quantity,
        "value": value,
        "unit": unit,
        "scope": scope,
        "source": "none" if detail == "none" else "clock",
        **({} if detail == "none" else {"detail": detail}),
        "samples": 1 if known else 0,
        "why_missing": None if known else why,
    }


def _why_not_placed(results: dict[str, Any]) -> str:
    if "ended" in results:
        return "The script ended before it could tell."
    if "version" not in results:
        return "The program did not import TensorFlow."
    if not results.get("compiled"):
        return "mlcompute_fork.py does not watch where operations run."
    return "Apple's fork does not tell where each operation ran; its log names the device at most."


def _notes(results: dict[str, Any], lines: _Lines) -> list[str]:
    notes = list(results.get("notes", []))
    if "ended" in results:
        notes.append(results["ended"])
    elif "version" in results and not results.get("compiled"):
        notes.append("This TensorFlow does not say that it has ML Compute: it may not be Apple's fork.")
    elif results.get("enabled") is False:
        notes.append("ML Compute was switched off.")
    elif results.get("eager"):
        notes.append(
            "TensorFlow was in eager mode: there Apple's fork uses the CPU, whatever device is asked for. "
            "Which device its graphs (model.fit, tf.function) used is not known."
        )
    if lines.left_out:
        notes.append(
            f"{lines.left_out:,} more lines were printed than the {_LINES:,} different ones kept here."
        )
    if lines.cut:
        notes.append(f"{lines.cut:,} bytes at the end of very long lines were left out.")
    return notes


def _private(text: str) -> str:
    """Replace home folders by ~ and the user's name by <user>."""
    home = os.path.expanduser("~")
    if len(home) > 1:
        text = re.sub(re.escape(home) + r"(?![\w.-])", "~", text)
    text = re.sub(r"(/Users/|/home/)[^/\s'\":]+", "~", text)
    return text if _USER is None else _USER.sub("<user>", text)


def _user() -> Any:
    try:
        name = getpass.getuser()
    except Exception:  # an account without a name
        return None
    ordinary = len(name) < 3 or name in ("root", "user", "home")
    return None if ordinary else re.compile(rf"\b{re.escape(name)}\b")


_USER = _user()


def _append(out: str, record: dict[str, Any]) -> None:
    """Add a record to the file, whole or not at all; an error is printed and not raised."""
    line = (json.dumps(record, allow_nan=False) + "\n").encode("ascii")
    try:
        handle = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            before = os.fstat(handle).st_size
            if os.write(handle, line) != len(line):
                os.ftruncate(handle, before)
                raise OSError("the disk is full")
        finally:
            os.close(handle)
    except OSError as error:
        print(f"mlcompute_fork: the record could not be written to {out} ({error}).", file=sys.stderr)


def main(words: list[str]) -> int:
    """Run a script in its own process, so that a record is also made if it crashes; the command line."""
    options = _arguments(words)
    try:
        knobs = {name: options[name] for name in KNOBS if options[name] is not None}
        set_knobs(**knobs)
        with open(options["script"], "rb"):
            pass
    except (ForkError, OSError) as error:
        print(f"mlcompute_fork: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        order = {
            "report": report,
            "device": options["device"],
            "one_thread": options["one_thread"],
            "terminals": [name for name in ("stdout", "stderr") if _is_terminal(getattr(sys, name))],
        }
        lines, measured = _Lines(), _Measured()
        tails = _tails(lines)
        _flush()
        with measured:
            child = ["--child", json.dumps(order), options["script"], *options["arguments"]]
            status = _supervise(child, tails)
        results = measured.results()
        del results["seconds"], results["cpu_seconds"]  # of this process; the script's own are in its report
        results.update(_without_report(status), device=options["device"])
        with contextlib.suppress(OSError, ValueError):  # a crash leaves no report
            with open(report, encoding="utf-8") as file:
                results.update(json.load(file))
            del results["ended"]
    if results["outcome"] != "refused":
        _append(options["out"], _record(os.path.basename(options["script"]), results, lines))
    for tail in tails:
        tail.close()
    return status if status >= 0 else 128 - status


def _without_report(status: int) -> dict[str, str]:
    """Return the outcome of a script that left no report."""
    if status in (-signal.SIGINT, 130):
        return {"outcome": "interrupted", "ended": "The script was interrupted."}
    if status < 0:
        name = signal.Signals(-status).name
        return {"outcome": "error", "ended": f"The script was ended by {name}; its last lines may say why."}
    outcome = "ok" if status == 0 else "error"
    return {"outcome": outcome, "ended": f"The script ended at once, with exit status {status}."}


def _arguments(words: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(
        prog="mlcompute_fork.py",
        description=f"Run a script on Apple's TensorFlow fork and add a record of it to {RECORDS}.",
    )
    parser.add_argument("--device", choices=DEVICES, help="what ML Compute uses; eager mode stays on the CPU")
    parser.add_argument("--out", default=RECORDS, metavar="FILE", help="the records file (%(default)s)")
    parser.add_argument(
        "--one-thread", action="store_true", help="one inter-op thread, so that log lines do not mix"
    )
    for name in ("TF_MLC_LOGGING", "TF_DISABLE_MLC"):
        flag = "--" + name[3:].lower().replace("_", "-")
        parser.add_argument(
            flag, dest=name, action="store_const", const="1", help=f"{KNOBS[name][0]} ({name}=1)"
        )
    for name, flag, word in (
        ("TF_CPP_MIN_VLOG_LEVEL", "--vlog-level", "LEVEL"),
        ("TF_DISABLE_MLC_EAGER", "--disable-mlc-eager", "OPERATIONS"),
        ("TF_MLC_ALLOCATOR_INIT_VALUE", "--allocator-init-value", "VALUE"),
    ):
        parser.add_argument(flag, dest=name, metavar=word, help=f"{KNOBS[name][0]} ({name})")
    parser.add_argument("script", help="the Python script to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own arguments")
    return vars(parser.parse_args(words))


def _supervise(words: list[str], tails: list[_Tail]) -> int:
    """Run this file as the child that runs the script; return its status as subprocess does."""
    files = {tail.stream: tail.file for tail in tails}
    child = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), *words],
        stdout=files.get("stdout"),
        stderr=files.get("stderr"),
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the script, which handles it itself
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    status = None
    while status is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = child.wait(0.1)
        for tail in tails:
            tail.copy()
    return status


def _child(order: dict[str, Any], script: str, arguments: list[str]) -> int:
    """Run the script as Python itself would, and write a report for the parent."""
    sys.modules.setdefault("mlcompute_fork", sys.modules[__name__])
    # First, because the folder of this file may contain modules with the names of frameworks.
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    sys.argv = [script, *arguments]
    sys.stderr.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # as newer Python does
    for name in order["terminals"]:
        stream = getattr(sys, name)
        stream.reconfigure(line_buffering=True)
        _pretend_terminals([stream])
    notes = []
    try:
        if order["one_thread"]:
            one_thread()
        if order["device"] is not None:
            set_device(order["device"])
    except (ForkError, ImportError) as error:
        print(f"mlcompute_fork: {error}", file=sys.stderr)
        _write_report(order, {"outcome": "refused"})
        return 2
    if "tensorflow" in sys.modules:
        notes.append("TensorFlow was imported before the clock started.")
    program = types.ModuleType("__main__")
    program.__file__ = script
    ours, sys.modules["__main__"] = sys.modules["__main__"], program
    measured = _Measured()
    try:
        with measured:
            with open(script, "rb") as file:
                code = compile(file.read(), script, "exec")
            exec(code, program.__dict__)
        return 0
    except SystemExit:
        raise
    except BaseException as error:
        _print_traceback(error, script)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    finally:
        sys.modules["__main__"] = ours
        _write_report(order, dict(measured.results(), notes=notes, **_about_tensorflow()))


def _write_report(order: dict[str, Any], results: dict[str, Any]) -> None:
    with open(order["report"], "w", encoding="utf-8") as file:
        json.dump(results, file)


def _print_traceback(error: BaseException, script: str) -> None:
    """Print the traceback as Python does, without the lines of this file."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename != script:
        traceback = traceback.tb_next
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(_child(json.loads(sys.argv[2]), sys.argv[3], sys.argv[4:]))
    sys.exit(main(sys.argv[1:]))
