"""Native lines in a terminal's IPython: recorded, shown in order, and the terminal stays a terminal."""

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


def test_lines_of_both_descriptors_are_recorded_and_shown(terminal):
    shown = terminal.run(r"import os; _ = os.write(1, b'one\n'), os.write(2, b'two\n')")
    assert "one\r\n" in shown
    assert "two\r\n" in shown
    recorded = terminal.run("%mlc_trace logs --raw")
    assert "one" in recorded
    assert "two" in recorded


def test_native_lines_and_prints_keep_their_order(terminal):
    shown = terminal.run(
        r"import os; [(print('print', n), os.write(1, b'native %d\n' % n)) for n in range(20)] and None"
    )
    lines = [line.strip() for line in shown.splitlines() if re.match(r"\s*(print|native) \d+\s*$", line)]
    assert lines == [f"{kind} {n}" for n in range(20) for kind in ("print", "native")]


def test_prints_are_no_native_lines_and_still_go_to_a_terminal(terminal):
    shown = terminal.run("import sys; print('tty', sys.stdout.isatty(), sys.stderr.isatty())")
    assert "tty True True" in shown
    assert "tty True" not in terminal.run("%mlc_trace logs --raw").replace("'tty'", "")


def test_a_program_started_with_an_exclamation_mark_gets_the_real_terminal(terminal):
    assert "a terminal" in terminal.run("!test -t 1 && test -t 2 && echo a terminal")


def test_after_off_the_descriptors_lead_to_the_terminal_again(terminal):
    terminal.run("%mlc_trace off")
    assert "both True True" in terminal.run("import os; print('both', os.isatty(1), os.isatty(2))")


def test_an_error_is_shown_as_ever(terminal):
    assert "ZeroDivisionError" in terminal.run("1/0")
