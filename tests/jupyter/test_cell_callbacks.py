"""An interrupt that comes while we are at work beside a cell is the cell's."""

import signal
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.jupyter.notebook.cell.cell_callbacks import CellCallbacks


class Shell:
    """As much of IPython's shell as running a cell takes; `ran` says what became of the cell's code."""

    def __init__(self):
        self.ran = []
        self.shown = []
        self.hooks = {}
        self.events = SimpleNamespace(register=self.hooks.__setitem__, unregister=self.hooks.pop)
        self.last_execution_succeeded = True

    async def run_code(self, code, result=None, *, async_=False):
        try:
            exec(code, {})
        except BaseException as error:
            result.error_in_exec = error
            self.ran.append(type(error).__name__)
            return True
        self.ran.append("ran")
        return False

    def showtraceback(self, what, exception_only):
        self.shown.append(what[0].__name__)

    def run_cell(self, source="pass"):
        result = Result()
        self.hooks.get("pre_run_cell", print)(None)
        with pytest.raises(StopIteration):  # IPython, too, runs a cell without `await` without an event loop
            self.run_code(compile(source, "cell", "exec"), result).send(None)
        self.hooks.get("post_run_cell", print)(result)
        return result


class Result:
    error_in_exec = None

    @property
    def success(self):
        return self.error_in_exec is None


def interrupt(told):
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def shell():
    before = signal.getsignal(signal.SIGINT)
    yield Shell()
    assert signal.getsignal(signal.SIGINT) is before


def test_parts_are_called_in_order_with_what_ipython_tells(shell):
    told = []
    callbacks = CellCallbacks(
        shell, [lambda info: told.append("first")], [lambda result: told.append("last")]
    )
    callbacks.register()
    assert shell.run_cell().success
    callbacks.unregister()
    assert told == ["first", "last"]
    assert shell.hooks == {}


def test_an_interrupt_before_the_cell_ends_it_as_its_code_begins_and_all_parts_are_done(shell):
    told = []
    CellCallbacks(shell, [interrupt, told.append], [told.append]).register()
    result = shell.run_cell()
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert shell.ran == ["KeyboardInterrupt"]
    assert len(told) == 2
    assert "run_code" not in vars(shell)


def test_the_next_cell_runs_again(shell):
    came = [True]
    CellCallbacks(shell, [lambda info: came and (came.clear(), interrupt(info))], []).register()
    shell.run_cell()
    assert shell.run_cell().success


def test_an_interrupt_after_the_cell_ends_it_as_interrupted_and_says_so(shell):
    told = []
    CellCallbacks(shell, [], [interrupt, told.append]).register()
    result = shell.run_cell()
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert shell.shown == ["KeyboardInterrupt"]
    assert shell.ran == ["ran"]
    assert len(told) == 1
    assert not shell.last_execution_succeeded


def test_a_cell_that_failed_keeps_its_own_error(shell):
    CellCallbacks(shell, [], [interrupt]).register()
    assert isinstance(shell.run_cell("1/0").error_in_exec, ZeroDivisionError)
    assert shell.shown == []


def test_a_second_interrupt_ends_what_hangs_in_us(shell):
    told = []

    def hang(info):
        interrupt(info)
        interrupt(info)
        told.append("not interrupted")

    CellCallbacks(shell, [hang, lambda info: told.append("next part")], []).register()
    assert isinstance(shell.run_cell().error_in_exec, KeyboardInterrupt)
    assert told == ["next part"]


def test_a_handler_of_the_users_that_takes_the_interrupt_lets_the_cell_run(shell):
    taken = []
    before = signal.signal(signal.SIGINT, lambda number, frame: taken.append(number))
    try:
        CellCallbacks(shell, [interrupt], []).register()
        assert shell.run_cell().success
    finally:
        signal.signal(signal.SIGINT, before)
    assert taken == [signal.SIGINT]
    assert shell.ran == ["ran", "ran"]


def test_a_part_that_fails_stops_no_other_and_not_the_cell(shell, capsys):
    told = []
    CellCallbacks(shell, [lambda info: 1 / 0, told.append], []).register()
    assert shell.run_cell().success
    assert len(told) == 1
    said = capsys.readouterr()
    assert (said.out, "ZeroDivisionError" in said.err) == ("", True)
