"""A cell that fails is judged by its own code, and not by the time that IPython takes to show why."""

import pytest

pytestmark = pytest.mark.kernel

#: Tracebacks that take as long as those of a first failure, or of a deep stack, in Python.
SLOW = """\
import time
ip = get_ipython()
def slow(*arguments, made=ip.InteractiveTB.structured_traceback, **named):
    over = time.perf_counter() + 0.5
    while time.perf_counter() < over:
        pass
    return made(*arguments, **named)
ip.InteractiveTB.structured_traceback = slow
"""
AS_BEFORE = "del ip.InteractiveTB.structured_traceback"


@pytest.fixture
def slow_tracebacks(plain):
    plain.run(SLOW)
    yield plain
    plain.run(AS_BEFORE)


def test_a_cell_that_fails_at_once_was_too_short_to_be_sampled(slow_tracebacks):
    result = slow_tracebacks.run("1 / 0")
    assert result.receipt.get("limit") is None, result.receipt
    # On a busy machine the cell may last for a look.
    why = str(result.receipt["why_no_limit"])
    assert "too short" in why or "sampled only once" in why


def test_a_cell_that_waits_and_then_fails_has_waited(slow_tracebacks):
    result = slow_tracebacks.run("time.sleep(0.9)\n1 / 0")
    limit = result.receipt["limit"]
    assert limit["kind"] == "waiting"
    assert limit["share"] > 0.9


def test_a_cell_that_shows_an_exception_and_goes_on_is_sampled_to_its_end(slow_tracebacks):
    code = "try:\n    1 / 0\nexcept ZeroDivisionError:\n    ip.showtraceback()\ntime.sleep(2)"
    assert slow_tracebacks.run(code).receipt["limit"]["kind"] == "waiting"
