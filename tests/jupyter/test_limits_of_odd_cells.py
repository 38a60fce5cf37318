"""Cells that are hard to look at, in a real kernel: an answer that is so, or none, and nothing breaks."""

import pytest

pytestmark = pytest.mark.kernel

#: A second in which the interpreter's lock is free, which is seen in any of a machine's moods.
SLEEPS = "import time\nfor _ in range(20):\n    time.sleep(0.05)\n"


def limit(result):
    told = result.receipt["limit"]
    assert told is not None, result.receipt["why_no_limit"]
    return told


def test_the_lines_of_a_timed_cell_count_from_its_top(plain):
    result = plain.run("%%time\n" + SLEEPS)
    assert "Wall time" in result.text
    assert "(line 4)" in str(limit(result)["said"]), "where the cell sleeps"


def test_code_without_source_has_an_answer_and_no_line_that_nobody_could_open(plain):
    result = plain.run(f"exec(compile({SLEEPS!r}, '<made by a template>', 'exec'))")
    assert result.status == "ok"
    told = limit(result)
    assert told["kind"] == "waiting"
    assert "(line 1)" in str(told["said"]), "the cell's own line, and none of the text that has no source"


def test_an_interrupted_cell_ends_as_the_user_s_and_says_what_it_waited_for(plain):
    interrupts = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    result = plain.run(SLEEPS + interrupts)
    assert result.error.startswith("KeyboardInterrupt")
    assert result.receipt["outcome"] == "interrupted"
    assert limit(result)["kind"] == "waiting"


def test_a_machine_without_an_nvidia_driver_is_asked_nothing_and_breaks_nothing(start_kernel):
    notebook = start_kernel()
    notebook.run("import sys; sys.modules['pynvml'] = None")
    result = notebook.run(SLEEPS)
    assert limit(result)["kind"] == "waiting"
    assert not [one for one in result.receipt["limit"]["evidence"] if one["source"] == "NVML"]
