"""In a terminal's IPython native code and programs keep the terminal, and it is said what that costs."""

import os
import re
import sys

import pexpect
import pytest

pytestmark = pytest.mark.kernel


class Terminal:
    """IPython in a pseudo-terminal, typed at line by line."""

    def __init__(self, folder, *options):
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "IPython", "--no-banner", "--colors=NoColor", "--no-confirm-exit", *options],
            env={**os.environ, "IPYTHONDIR": str(folder), "TERM": "dumb"},
            encoding="utf-8",
            timeout=60,
            dimensions=(50, 200),
        )
        self.count = 1
        self.child.expect_exact("In [1]:")

    def run(self, code):
        """Type one line; returns what is shown up to the next prompt."""
        self.count += 1
        self.child.sendline(code)
        self.child.expect_exact(f"In [{self.count}]:")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.child.before)

    def close(self):
        self.child.close(force=True)


@pytest.fixture(params=[("--simple-prompt",), ()], ids=["simple prompt", "prompt_toolkit"])
def terminal(tmp_path, request):
    started = Terminal(tmp_path, *request.param)
    started.run("%load_ext jupyter_mlgpu")
    yield started
    started.close()


def test_lines_of_both_descriptors_are_shown_and_it_is_said_that_they_are_not_kept(terminal):
    shown = terminal.run(r"import os; _ = os.write(1, b'one\n'), os.write(2, b'two\n')")
    assert "one\r\n" in shown
    assert "two\r\n" in shown
    for command in ("%mlc_trace logs", "%mlc_trace logs --raw"):
        assert "In a terminal, native code and programs write to the terminal itself" in terminal.run(command)


def test_native_lines_and_prints_keep_their_order(terminal):
    shown = terminal.run(
        r"import os; [(print('print', n), os.write(1, b'native %d\n' % n)) for n in range(20)] and None"
    )
    lines = [line.strip() for line in shown.splitlines() if re.match(r"\s*(print|native) \d+\s*$", line)]
    assert lines == [f"{kind} {n}" for n in range(20) for kind in ("print", "native")]


def test_a_logger_is_still_heard(terminal):
    terminal.run("import logging; logging.getLogger('absl').warning('from a logger')")
    assert "from a logger" in terminal.run("%mlc_trace logs")


@pytest.mark.parametrize(
    "ask",
    [
        "import os; print('tty', os.isatty(1), os.isatty(2))",
        "import sys; print('tty', sys.stdout.isatty(), sys.stderr.isatty())",
        "import subprocess; subprocess.run('test -t 1 && test -t 2 && echo tty True True', shell=True);",
        "!test -t 1 && test -t 2 && echo tty True True",
        "import os; print('tty', os.get_terminal_size(1).columns == 200, True)",
    ],
)
def test_whoever_asks_writes_to_a_terminal(terminal, ask):
    assert "tty True True\r\n" in terminal.run(ask)


def test_an_error_is_shown_as_ever(terminal):
    assert "ZeroDivisionError" in terminal.run("1/0")
