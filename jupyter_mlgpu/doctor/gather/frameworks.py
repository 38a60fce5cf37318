"""Each framework asked in a process of its own, so that one that crashes or hangs costs its own answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace

from jupyter_mlgpu.clock import real_time
from jupyter_mlgpu.doctor.ask import MARK
from jupyter_mlgpu.doctor.facts import Answer
from jupyter_mlgpu.doctor.maybe import Unknown
from jupyter_mlgpu.frameworks import registry

#: Seconds for all frameworks together.
TOGETHER_S = 60.0
#: So many at once: importing is work for a processor, and more would only wait for each other.
_AT_ONCE = 2
_LETTERS, _LINES = 1_500, 8


def read(
    installed: Callable[[str], bool],
    say: Callable[[str], None],
    seconds: float = TOGETHER_S,
) -> Mapping[str, Answer]:
    """The answers of the frameworks that are installed; `say` is told of each that is done."""
    names = list(filter(installed, registry.FRAMEWORKS))
    if not names:
        return {}
    deadline = real_time.monotonic() + seconds
    running: list[subprocess.Popen[bytes]] = []
    say(f"Asking {', '.join(names)}, each in a process of its own, {seconds:g} s at most")
    pool = ThreadPoolExecutor(max_workers=_AT_ONCE)
    try:
        asked = {pool.submit(ask, name, deadline, running=running): name for name in names}
        waiting = list(names)
        for done in as_completed(asked):
            waiting.remove(asked[done])
            if waiting:
                say(f"{asked[done]} has answered, waiting for {', '.join(waiting)}")
        return {name: answer.result() for answer, name in asked.items()}
    except BaseException:  # Ctrl-C: nobody waits for the answers any more
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
) -> Answer:
    """One framework's answer; `deadline` is on the monotonic clock, `command` another program to ask.

    The process is put into `running`, for who must end it early.
    """
    start = real_time.monotonic()
    left = deadline - start
    late = Unknown(f"{name} did not answer in the time that all frameworks have together.")
    if left <= 0:
        return _unanswered(late)
    process = subprocess.Popen(
        command or (sys.executable, "-m", "jupyter_mlgpu.doctor.ask", name, *registry.FRAMEWORKS[name]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A GPU's memory is the notebook's: by default some frameworks would take nearly all that is free.
        env={**registry.framework(name).modest, **os.environ},
        start_new_session=True,  # what it starts itself ends with it
    )
    (running if running is not None else []).append(process)
    try:
        out, err = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        _kill(process)
        process.communicate()
        return _unanswered(late)
    return answer(process.returncode, _text(out), _text(err), real_time.monotonic() - start)


def answer(status: int, out: str, err: str, seconds: float) -> Answer:
    """What a process has answered: its exit status, what it printed, how long it took."""
    before, mark, line = out.rpartition(MARK)
    printed = [one for one in f"{before if mark else out}\n{err}".splitlines() if one.strip()]
    said = tuple(one[-300:] for one in printed[-_LINES:])
    if not mark:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else None
        ended = f"Its process ended with {name or f'status {status}'} before it had answered."
        return replace(
            _unanswered(Unknown(ended)),
            imported=False,
            error="\n".join([ended, *said])[-_LETTERS:],
            signal=name,
            seconds=seconds,
            said=said,
        )
    told = json.loads(line)
    missing = Unknown("It was not imported.")
    return Answer(
        imported=told["imported"],
        error=None if told["error"] is None else told["error"][-_LETTERS:],
        signal=None,
        version=told.get("version", missing),
        devices=tuple(told["devices"]) if "devices" in told else missing,
        computed=told.get("computed", missing),
        compute_error=(told["compute_error"] or "")[-_LETTERS:] or None if "computed" in told else missing,
        seconds=seconds,
        said=said,
    )


def _unanswered(why: Unknown) -> Answer:
    return Answer(why, why, why, why, why, why, why, why, why)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):  # it has just ended by itself
            os.killpg(process.pid, signal.SIGKILL)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
