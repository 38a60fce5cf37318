"""Tests each framework in its own process, so a crash or a hang affects only its own answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import fields, replace

from jupyter_mlgpu.explain.doctor.ask import MARK
from jupyter_mlgpu.explain.doctor.facts import FrameworkAnswer
from jupyter_mlgpu.explain.doctor.maybe import Unknown
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

#: Seconds for all frameworks together.
TOGETHER_S = 60.0
#: Processes at once. Importing is bound by the processor, so more would only slow each other down.
_AT_ONCE = 2
_LETTERS, _LINES = 1_500, 8


def read(
    installed: Callable[[str], bool],
    tell: Callable[[Sentence], None],
    seconds: float = TOGETHER_S,
) -> Mapping[str, FrameworkAnswer]:
    """Return the answers of the installed frameworks; `tell` is called with progress sentences."""
    names = list(filter(installed, registry.FRAMEWORKS))
    if not names:
        return {}
    deadline = real_time.monotonic() + seconds
    running: list[subprocess.Popen[bytes]] = []
    tell(
        say(
            "Testing {frameworks}, each in its own process, for at most {seconds} s",
            frameworks=", ".join(names),
            seconds=f"{seconds:g}",
        )
    )
    pool = ThreadPoolExecutor(max_workers=_AT_ONCE)
    try:
        futures = {pool.submit(ask, name, deadline, running=running): name for name in names}
        waiting = list(names)
        for future in as_completed(futures):
            waiting.remove(futures[future])
            if waiting:
                tell(
                    say(
                        "{framework} has responded, waiting for {others}",
                        framework=futures[future],
                        others=", ".join(waiting),
                    )
                )
        return {name: answer.result() for answer, name in futures.items()}
    except BaseException:  # Ctrl-C: the answers are no longer needed
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            _kill(process)
        raise
    finally:
        pool.shutdown()


def ask(
    name: str,
    deadline: float,
    command: Sequence[str] = (),
    running: list[subprocess.Popen[bytes]] | None = None,
) -> FrameworkAnswer:
    """Return one framework's answer; `deadline` is on the monotonic clock, `command` replaces the program.

    The process is appended to `running`, so that the caller can kill it early.
    """
    start = real_time.monotonic()
    left = deadline - start
    late = Unknown(
        say("{framework} did not respond within the time shared by all frameworks.", framework=name)
    )
    if left <= 0:
        return _unanswered(late)
    process = subprocess.Popen(
        command
        or (sys.executable, "-m", "jupyter_mlgpu.explain.doctor.ask", name, *registry.FRAMEWORKS[name]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Leaves GPU memory for the notebook: by default some frameworks take nearly all that is free.
        env={**registry.framework(name).memory_growth_env, **os.environ},
        start_new_session=True,  # its own child processes can be killed with it
    )
    (running if running is not None else []).append(process)
    try:
        out, err = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        _kill(process)
        process.communicate()
        return _unanswered(late)
    return answer(process.returncode, _text(out), _text(err), real_time.monotonic() - start)


def answer(status: int, out: str, err: str, seconds: float) -> FrameworkAnswer:
    """Return the answer in a process's exit status and output; `seconds` is the time that it took."""
    before, mark, line = out.rpartition(MARK)
    printed = [one for one in f"{before if mark else out}\n{err}".splitlines() if one.strip()]
    last_lines = tuple(one[-300:] for one in printed[-_LINES:])
    if not mark:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else None
        ended = say(
            "Its process ended with {how} before responding.",
            how=name or say("status {status}", status=str(status)),
        )
        return replace(
            _unanswered(Unknown(ended)),
            imported=False,
            error="\n".join([ended, *last_lines])[-_LETTERS:],
            signal=name,
            seconds=seconds,
            said=last_lines,
        )
    data = json.loads(line)
    missing = Unknown(say("It was not imported."))
    return FrameworkAnswer(
        imported=data["imported"],
        error=None if data["error"] is None else data["error"][-_LETTERS:],
        signal=None,
        version=data.get("version", missing),
        devices=tuple(data["devices"]) if "devices" in data else missing,
        computed=data.get("computed", missing),
        compute_error=(data["compute_error"] or "")[-_LETTERS:] or None if "computed" in data else missing,
        product=data.get("product") if "computed" in data else missing,
        seconds=seconds,
        said=last_lines,
    )


def _unanswered(why: Unknown) -> FrameworkAnswer:
    return FrameworkAnswer(*[why] * len(fields(FrameworkAnswer)))


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
