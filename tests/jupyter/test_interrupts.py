"""An interrupt ends the cell, also where it comes while we are at work beside it."""

import queue
import random
import time

import pytest

pytestmark = pytest.mark.kernel

#: The first time something of ours is called, an interrupt comes meanwhile.
INTERRUPTED = """
import signal
def interrupted(owner, name):
    original = getattr(owner, name)
    def once(*arguments, **named):
        delattr(owner, name)
        signal.raise_signal(signal.SIGINT)
        return original(*arguments, **named)
    setattr(owner, name, once)
extension = get_ipython()._jupyter_mlgpu
"""


def test_an_interrupt_while_we_prepare_a_cell_ends_it_at_its_first_line(reload_kernel):
    notebook = reload_kernel()
    notebook.run(INTERRUPTED)
    notebook.run("interrupted(extension.runtime.recorder, 'start')")
    result = notebook.run("ran = True\nprint('the cell ran')")
    assert (result.status, result.error, result.text) == ("error", "KeyboardInterrupt: ", "")
    assert result.receipt["outcome"] == "interrupted"
    assert notebook.run("ran").error == "NameError: name 'ran' is not defined"
    assert notebook.run("'next'").receipt["outcome"] == "ok"


def test_an_interrupt_while_a_receipt_is_made_leaves_it_whole_and_no_later_cell_is_interrupted(reload_kernel):
    notebook = reload_kernel()
    notebook.run(INTERRUPTED)
    result = notebook.run("print('the cell ran')\ninterrupted(extension.runtime.store, 'add')")
    assert (result.status, result.receipt["outcome"]) == ("ok", "ok")
    assert "the cell ran" in result.text
    time.sleep(0.3)  # longer than a cell that waits needs to begin
    assert notebook.run("'next'").receipt["outcome"] == "ok"


def test_cells_that_wait_do_not_run_after_an_interrupt_beside_a_cell(reload_kernel, gate):
    notebook = reload_kernel()
    notebook.run(INTERRUPTED)
    # Half a second more, in which the kernel receives the others.
    first_cell = f"{gate.cell}\ntime.sleep(0.5)\ninterrupted(extension.runtime.store, 'add')"
    messages = [notebook.send(code) for code in (first_cell, "print(2)", "print(3)")]
    gate.open()
    first, second, third = (notebook.wait(message) for message in messages)
    assert (first.status, second.error, third.status) == ("ok", "KeyboardInterrupt: ", "aborted")
    assert second.text == ""


@pytest.mark.slow
def test_at_random_times_no_fewer_cells_are_interrupted_than_plainly(start_kernel):
    plain, ours = kernels = [Interrupted(start_kernel, extension=False), Interrupted(start_kernel)]
    for code, longest, count in (("sum(range(400_000))", 0.02, 200), ("time.sleep(1.5)", 0.35, 50)):
        chance = random.Random(count)
        found = dict.fromkeys(kernels, 0)
        for _ in range(count):
            delay = chance.uniform(0, longest)
            for kernel in kernels:  # in turn, for how fast the machine is changes
                found[kernel] += kernel.ends(code, delay)
        print(f"{code}: {found[plain]} of {count} interrupted plainly, {found[ours]} with the extension")
        # The moment at which a signal meets a short cell differs from run to run by more than a cell or two.
        assert found[ours] >= found[plain] - count * 0.05
    print(f"kernels that ended with an interrupt: {plain.lost} plainly, {ours.lost} with the extension")
    assert ours.lost <= plain.lost + 1
    assert ours.notebook.run("1 + 1").receipt["outcome"] == "ok"


class Interrupted:
    """A kernel whose cells are interrupted.

    One that comes while ipykernel itself is at work between two cells may close its application, and then it
    never answers again: seen in a kernel without the extension, once in 1,200 interrupts. Such a kernel is
    counted, and another one takes its place.
    """

    def __init__(self, start_kernel, **options):
        self._start = lambda: start_kernel(**options)
        self.lost = 0
        self._begin()

    def _begin(self):
        self.notebook = self._start()
        self.notebook.run("import time")

    def ends(self, code, delay):
        """Whether this cell ends interrupted, with a signal so long after it is known to run."""
        notebook = self.notebook
        message = notebook.send(code)
        try:
            notebook.hear_until(
                lambda one: (
                    one["parent_header"].get("msg_id") == message
                    and one["content"].get("execution_state") == "busy"
                ),
                timeout=20,
            )
        except queue.Empty:
            self.lost += 1
            notebook.manager.shutdown_kernel(now=True)
            self._begin()
            return False
        time.sleep(delay)
        notebook.manager.interrupt_kernel()
        try:
            return notebook.wait(message, timeout=2).status == "error"
        # ipykernel loses its reply where an interrupt comes while it is sent: it never comes, or what was
        # sent of it is the beginning of the next message, whose signature is then wrong.
        except (AssertionError, ValueError):
            return False
