"""The engine names what limits a few planted programs that are plain on any machine.

The whole exam is `make test-limits`: it times programs, so it wants a machine that does little else.
"""

from __future__ import annotations

import pytest

from tests.limits.__main__ import tell
from tests.limits.judge import Judged
from tests.limits.program import PROGRAMS, Program
from tests.limits.runners import ask_all

pytestmark = pytest.mark.kernel

PLAIN = (
    "sleep-in-a-loop",
    "subprocess-that-sleeps",
    "queue-of-a-slow-producer",
    "asyncio-sleep-at-the-top",
    "nested-loops",
    "dict-of-counts",
)


def test_what_sleeps_waits_and_what_loops_is_python_and_nothing_wrong_is_said_as_sure(tmp_path):
    judged: list[Judged] = []

    def asked(program: Program, outcome: Judged | str) -> None:
        tell(program, outcome)
        assert isinstance(outcome, Judged), outcome
        judged.append(outcome)

    ask_all([one for one in PROGRAMS if one.id in PLAIN], tmp_path, asked)
    assert len(judged) == len(PLAIN)
    answers = [question for one in judged for question in one.questions]
    surely_wrong = [
        one.name for one in answers if one.answer.confidence == "sure" and one.answer.kind not in one.right
    ]
    assert surely_wrong == []
    # Where other programs have the cores, that is the answer to those that compute.
    waits = {one.program.id: one.planted.kind for one in judged if "waiting" in one.program.kinds}
    assert waits == dict.fromkeys(waits, "waiting")
    computes = {one.planted.kind for one in judged if "python" in one.program.kinds}
    assert computes <= {"python", "contention", "unknown"}
