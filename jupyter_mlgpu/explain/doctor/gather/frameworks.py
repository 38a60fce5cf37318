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
from dataclasses import fields, replace

from jupyter_mlgpu.explain.doctor.ask import MARK
from jupyter_mlgpu.explain.doctor.facts import FrameworkAnswer
from jupyter_mlgpu.explain.doctor.maybe import Unknown
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

#: Seconds for all frameworks together.
TOGETHER_S = 60.0
#: So many at once: importing is work for a processor, and more would only wait for each other.
_AT_ONCE = 2
_LETTERS, _LINES = 1_500, 8


def read(
    installed: Callable[[str], bool],
    tell: Callable[[Sentence], None],
    seconds: float = TOGETHER_S,
) -> Mapping[str, FrameworkAnswer]:
    """The answers of the frameworks that are installed; `tell` is given each that is done."""
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
        asked = {pool.submit(ask, name, deadline, running=running): name for name in names}
        waiting = list(names)
        for done in as_completed(asked):
            waiting.remove(asked[done])
            if waiting:
                tell(
                    say(
                        "{framework} has responded, waiting for {others}",
                        framework=asked[done],
                        others=", ".join(waiting),
                    )
                )
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
) -> FrameworkAnswer:
    """One framework's answer; `deadline` is on the monotonic clock, `command` another program to ask.

    The process is put into `running`, for who must end it early.
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
        # A GPU's memory is the notebook's: by default some frameworks would take nearly all that is free.
        env={**registry.framework(name).memory_growth_env, **os.environ},
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


def answer(status: int, out: str, err: str, seconds: float) -> FrameworkAnswer:
    """What a process has answered: its exit status, what it printed, how long it took."""
    before, mark, line = out.rpartition(MARK)
    printed = [one for one in f"{before if mark else out}\n{err}".splitlines() if one.strip()]
    said = tuple(one[-300:] for one in printed[-_LINES:])
    if not mark:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else None
        ended = say(
            "Its process ended with {how} before responding.",
            how=name or say("status {status}", status=str(status)),
        )
        return replace(
            _unanswered(Unknown(ended)),
            imported=False,
            error="\n".join([ended, *said])[-_LETTERS:],
            signal=name,
            seconds=seconds,
            said=said,
        )
    told = json.loads(line)
    missing = Unknown(say("It was not imported."))
    return FrameworkAnswer(
        imported=told["imported"],
        error=None if told["error"] is None else told["error"][-_LETTERS:],
        signal=None,
        version=told.get("version", missing),
        devices=tuple(told["devices"]) if "devices" in told else missing,
        computed=told.get("computed", missing),
        compute_error=(told["compute_error"] or "")[-_LETTERS:] or None if "computed" in told else missing,
        product=told.get("product") if "computed" in told else missing,
        seconds=seconds,
        said=said,
    )


def _unanswered(why: Unknown) -> FrameworkAnswer:
    return FrameworkAnswer(*[why] * len(fields(FrameworkAnswer)))


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):  # it has just ended by itself
            os.killpg(process.pid, signal.SIGKILL)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
