"""What native code and child processes write stands where it was written, among all that a cell shows."""

import re

import pytest

from tests.support.kernels import MIME_TYPE

pytestmark = pytest.mark.kernel

#: pytest's own variable keeps ipykernel from capturing the descriptors, as it does for users.
USERS = {"PYTEST_CURRENT_TEST": None}
PREPARE = """
import contextlib, io, os, subprocess, time
from IPython.display import clear_output, display
"""
#: Plainly ipykernel races here: it is right in some runs only.
TIMES = 12


def shown(result):
    """What a cell showed, one word each, without the receipt."""
    words = []
    for kind, data in result.outputs:
        if kind == "stream":
            words += data.split()
        elif kind in ("display_data", "execute_result") and MIME_TYPE not in data:
            words.append(data["text/plain"].strip("'"))
        elif kind in ("error", "clear_output"):
            words.append(kind)
    return words


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ('os.system("echo x"); display("D")', ["x", "D"]),
        ('subprocess.run(["echo", "x"]); display("D")', ["x", "D"]),
        ('os.write(1, b"x\\n"); display("D")', ["x", "D"]),
        ('os.system("echo x")', ["x", "0"]),
        ('os.write(2, b"x\\n"); 1/0', ["x", "error"]),
        ('os.write(1, b"x\\n"); clear_output(); print("y")', ["x", "clear_output", "y"]),
        (
            "for n in range(4):\n    os.system(f'echo x{n}'); display(f'D{n}')",
            ["x0", "D0", "x1", "D1", "x2", "D2", "x3", "D3"],
        ),
        (
            'h = display("D", display_id=True); os.write(1, b"x\\n"); h.update("E"); display("F")',
            ["D", "x", "F"],
        ),
        (
            'with contextlib.redirect_stdout(io.StringIO()):\n    os.write(1, b"x\\n"); display("D")',
            ["x", "D"],
        ),
        (  # long enough for our thread to read it, and too short for ipykernel to show it by itself
            "with contextlib.redirect_stdout(io.StringIO()):\n"
            '    os.write(1, b"x\\n"); time.sleep(0.08); display("D")',
            ["x", "D"],
        ),
        ('print("p"); os.system("echo x"); print("q"); os.write(2, b"e\\n"); display("D")', None),
    ],
)
def test_native_output_stands_where_it_was_written(reload_kernel, code, wanted):
    notebook = reload_kernel(**USERS)
    notebook.run(PREPARE)
    runs = [shown(notebook.run(code)) for _ in range(TIMES)]
    if wanted is None:  # two streams: each has its own order, and both come before what is shown
        assert all([word for word in run if word != "e"] == ["p", "x", "q", "D"] for run in runs), runs
        assert all(run[-1] == "D" for run in runs), runs
    else:
        assert runs == [wanted] * TIMES


def test_thousands_of_native_lines_keep_their_places_among_prints(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run(PREPARE)
    code = "for n in range(3_000):\n    print(f'a{n}'); os.write(1, b'b%d\\n' % n); print(f'c{n}')"
    shown_lines = [word for word in shown(notebook.run(code)) if word[0] in "abc" and word[1:].isdigit()]
    assert shown_lines == [f"{letter}{n}" for n in range(3_000) for letter in "abc"]


def test_native_output_within_a_line_that_several_prints_make_keeps_its_place(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run(PREPARE)
    twice = "print('a', end=''); os.write(1, b'x'); print('b', end=''); os.write(1, b'y')"
    assert notebook.run(f"for _ in range(500):\n    {twice}").text == "axby" * 500
    assert notebook.run("for _ in range(500):\n    print('a', end=''); os.write(1, b'x')").text == "ax" * 500


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("print(i, end=' '); os.write(1, b'n\\n'); time.sleep(0.0005)", "0 n\n1 n\n2 n\n3 n\n4 n\n"),
        ("print(i, end=' '); os.write(1, b'n\\n'); time.sleep(0)", "0 n\n1 n\n2 n\n3 n\n4 n\n"),
        ("say('a'); os.write(1, b'n'); time.sleep(0.0005); say('\\n'); time.sleep(0.002)", "an\n" * 5),
        ("print('x', A())", "x <nat>A\n" * 5),
    ],
)
def test_a_native_line_stays_before_the_print_that_a_loop_makes_next(reload_kernel, code, wanted):
    notebook = reload_kernel(**USERS)
    notebook.run(
        f"{PREPARE}\nimport sys\ndef say(text):\n    sys.stdout.write(text)\n"
        "class A:\n    def __str__(self):\n"
        "        os.write(1, b'<nat>'); time.sleep(0.0005); return 'A'"
    )
    shown_texts = [notebook.run(f"for i in range(5):\n    {code}").text for _ in range(TIMES)]
    assert shown_texts.count(wanted) >= TIMES - 1, shown_texts  # the machine may take the processor away


def test_a_childs_lines_do_not_stand_in_the_middle_of_a_print(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run(PREPARE)
    notebook.run(
        "import subprocess\nchild = subprocess.Popen('while echo child; do sleep 0.001; done', shell=True)"
    )
    try:
        result = notebook.run("for n in range(500):\n    print('epoch', n, 'loss', 0.5); time.sleep(0.002)")
    finally:
        notebook.run("child.kill()")
    lines = [line for line in result.text.splitlines() if not line.startswith("[mlgpu]")]
    cut = [line for line in lines if line != "child" and not re.fullmatch(r"epoch \d+ loss 0.5", line)]
    # Where the machine takes the processor away in the middle of a print, a line may come in.
    assert len(cut) <= 25, cut
    assert lines.count("child") > 50


def test_native_output_comes_before_a_question_to_the_user(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run(PREPARE)
    message = notebook.send('os.system("echo x"); name = input("who?")', allow_stdin=True)
    question = notebook.client.get_stdin_msg(timeout=60)
    assert question["content"]["prompt"] == "who?"
    notebook.hear_until(lambda message: message["content"].get("text") == "x\n")
    notebook.client.input("me")
    notebook.wait(message)


def test_streams_are_ipykernels_own_again_when_capturing_ends(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run("import sys")
    kinds = "[type(one).__mro__[1].__name__ for one in (sys.stdout, sys.stderr)], 'send' in vars(k.session)"
    prepare = "k = get_ipython().kernel"
    assert notebook.evaluate(kinds, prepare) == (["OutStream", "OutStream"], True)
    notebook.run("%mlc_trace off")
    assert notebook.evaluate(kinds, prepare) == (["TextIOBase", "TextIOBase"], False)


def test_a_stream_says_of_itself_what_it_says_without_the_extension(start_kernel):
    told = []
    for extension in (False, True):
        notebook = start_kernel(extension=extension, **USERS)
        notebook.run("import sys; kinds = type(sys.stdout), type(sys.stderr)")
        told.append(notebook.evaluate("[(kind.__module__, kind.__qualname__, repr(kind)) for kind in kinds]"))
    assert told[0] == told[1]


@pytest.mark.needs("click")
def test_click_prints_in_colour_as_without_the_extension(start_kernel):
    notebook = start_kernel(**USERS)
    assert shown(notebook.run("import click; click.secho('red', fg='red')")) == ["\x1b[31mred\x1b[0m"]
