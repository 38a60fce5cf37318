"""What a cell's end leaves for later is done after its reply, and before the kernel says that it is idle."""

import signal
import threading

import pytest

from jupyter_mlgpu.jupyter.notebook.cell.after_reply import AfterReply


class Stream:
    """Where ipykernel 6 keeps a reply until it is flushed."""

    def __init__(self, did):
        self._did = did

    def flush(self, flag):
        self._did.append("the reply is sent")


class Kernel:
    """Handles a request as ipykernel does; `did` has what happened."""

    def __init__(self):
        self.did = []
        self.shell_stream = Stream(self.did)

    def pre_handler_hook(self):
        self.did.append("begins")

    def post_handler_hook(self):
        self.did.append("ends")

    def handle(self, cell):
        self.pre_handler_hook()
        cell()
        self.did.append("replies")
        self.post_handler_hook()


@pytest.fixture
def kernel():
    return Kernel()


@pytest.fixture
def after_reply(kernel):
    after_reply = AfterReply(kernel)
    after_reply.start(handles_request=False)
    yield after_reply
    after_reply.stop()


def note(kernel, what="completes the record"):
    return lambda: kernel.did.append(what)


def test_a_task_of_a_cell_runs_after_its_reply_was_sent(kernel, after_reply):
    kernel.handle(lambda: after_reply.run(note(kernel)))
    assert kernel.did == ["begins", "replies", "the reply is sent", "completes the record", "ends"]


def test_a_kernel_with_a_thread_that_forwards_replies_needs_no_flush(kernel, after_reply):
    kernel.shell_channel_thread = threading.current_thread()
    kernel.handle(lambda: after_reply.run(note(kernel)))
    assert kernel.did == ["begins", "replies", "completes the record", "ends"]


def test_a_request_without_tasks_is_left_alone(kernel, after_reply):
    kernel.handle(lambda: None)
    assert kernel.did == ["begins", "replies", "ends"]


def test_outside_of_a_request_a_task_runs_at_once(kernel, after_reply):
    after_reply.run(note(kernel))
    assert kernel.did == ["completes the record"]


def test_where_nothing_is_replied_a_task_runs_at_once():
    did, terminal = [], AfterReply(None)
    terminal.start(handles_request=True)
    terminal.run(lambda: did.append("completes the record"))
    assert did == ["completes the record"]


def test_the_request_that_loads_the_extension_has_tasks_too(kernel):
    after_reply = AfterReply(kernel)

    def load():
        after_reply.start(handles_request=True)
        after_reply.run(note(kernel))

    kernel.handle(load)
    assert kernel.did == ["begins", "replies", "the reply is sent", "completes the record", "ends"]


def test_a_task_of_another_thread_does_not_wait_for_the_reply_to_the_cell(kernel, after_reply):
    def cell():
        thread = threading.Thread(target=lambda: after_reply.run(note(kernel)))
        thread.start()
        thread.join()

    kernel.handle(cell)
    assert kernel.did == ["begins", "completes the record", "replies", "ends"]


def test_who_needs_the_result_before_the_reply_gets_it(kernel, after_reply):
    def cell():
        after_reply.run(note(kernel))
        after_reply.run_now()

    kernel.handle(cell)
    assert kernel.did == ["begins", "completes the record", "replies", "ends"]


def test_stopping_runs_what_waits_and_restores_the_hooks(kernel, after_reply):
    def unload():
        after_reply.run(note(kernel))
        after_reply.stop()

    kernel.handle(unload)
    assert kernel.did == ["begins", "completes the record", "replies", "ends"]
    assert set(vars(kernel)) == {"did", "shell_stream"}


def test_a_hook_that_others_have_wrapped_since_stays_theirs(kernel, after_reply):
    ours = kernel.post_handler_hook
    theirs = kernel.post_handler_hook = lambda: ours()
    after_reply.stop()
    assert kernel.post_handler_hook is theirs
    kernel.handle(lambda: after_reply.run(note(kernel)))
    assert kernel.did == ["begins", "completes the record", "replies", "ends"]


def test_an_interrupt_among_the_tasks_is_kept_for_the_cell_that_waits_and_the_others_run(kernel, after_reply):
    def cell():
        after_reply.run(lambda: signal.raise_signal(signal.SIGINT))
        after_reply.run(note(kernel))

    assert after_reply.take_interrupt() is False
    kernel.handle(cell)
    assert kernel.did[-2:] == ["completes the record", "ends"]
    assert [after_reply.take_interrupt(), after_reply.take_interrupt()] == [True, False]
