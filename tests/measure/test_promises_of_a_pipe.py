"""Descriptors 1 and 2 behave as they do without the extension, whatever programs do with them."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.waiting import until

pytestmark = pytest.mark.kernel

#: pytest's own variable keeps ipykernel from capturing the descriptors, as it does for users.
USERS = {"PYTEST_CURRENT_TEST": None}
#: In front of a child's program: it writes a line to its stderr each time that a file "go" is there.
ON_DEMAND = """
import os, time
from pathlib import Path
def say_when(name, text):
    while not os.path.exists(name): time.sleep(0.01)
    os.write(2, text)
"""


def reader_of(kernel):
    """The process that empties the pipes of a kernel."""

    def find():
        for one in psutil.process_iter(["cmdline"]):
            words = one.info["cmdline"] or []
            if any(word.endswith("reader_process.py") for word in words) and str(kernel) in words:
                return one
        return None

    return until(find, "there is no reader")


def pid_of(notebook):
    return notebook.evaluate("os.getpid()", prepare="import os")


def has_ended(process):
    try:
        return process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return True


def opened_by(pid):
    """What the descriptors of a process lead to; one that lists them has one more, which is gone then."""
    found = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(os.readlink(path))
    return found


def words(result):
    """What a cell printed, without the receipt's line."""
    return " ".join(line for line in result.text.splitlines() if not line.startswith("[mlgpu]")).split()


def hear_all(notebook, result, *wanted):
    """Wait until these words were shown, in the cell or after it, as ipykernel's own capture may do it.

    It may put a child's line into the middle of a print.
    """
    shown = result.text
    while not all(word in shown for word in wanted):
        message = notebook.hear_until(lambda one: one["msg_type"] == "stream")
        shown += message["content"]["text"]


def test_a_program_that_opens_the_stream_by_name_is_shown_whole(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import subprocess")
    loop = "for i in 1 2 3 4 5; do echo line$i > /dev/stderr; done"
    for _ in range(3):
        result = notebook.run(f"_ = subprocess.run({loop!r}, shell=True)")
        assert words(result) == [f"line{n}" for n in range(1, 6)]
    result = notebook.run("with open('/dev/stdout', 'w') as f: _ = f.write('to stdout\\n')")
    assert words(result) == ["to", "stdout"]


def test_what_others_write_is_not_lost_beside_a_program_that_opens_the_stream(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import subprocess")
    shell = "echo before >&2; echo through | tee /dev/stderr; ls /there-is-no-such-folder"
    shown = words(notebook.run(f"_ = subprocess.run({shell!r}, shell=True)"))
    assert shown.count("through") == 2
    assert "before" in shown
    assert "there-is-no-such-folder" in " ".join(shown)


#: Each is asked with and without the extension.
QUESTIONS = """
import fcntl, os, psutil, subprocess
def told(ask):
    try:
        return repr(ask())
    except BaseException as error:
        return type(error).__name__ + ": " + str(error)
asked = {
    "isatty": told(lambda: (os.isatty(1), os.isatty(2))),
    "size": told(lambda: os.get_terminal_size(1)),
    "test -p": told(lambda: subprocess.run(["test", "-p", "/dev/stdout"]).returncode),
    "lseek": told(lambda: os.lseek(1, 0, 0)),
    "ftruncate": told(lambda: os.ftruncate(1, 0)),
    "read": told(lambda: os.read(1, 10)),
    "pread": told(lambda: os.pread(2, 10, 0)),
    "kind": told(lambda: oct(os.fstat(2).st_mode)),
    "size of the pipe": told(lambda: fcntl.fcntl(1, fcntl.F_GETPIPE_SZ)),
    "flags": told(lambda: oct(fcntl.fcntl(1, fcntl.F_GETFL))),
    "children": told(lambda: psutil.Process().children(recursive=True)),
    "wait": told(os.wait),
}
"""


def test_descriptors_answer_as_without_the_extension(start_kernel):
    answers = []
    for extension in (False, True):
        notebook = start_kernel(extension=extension, **USERS)
        notebook.run(QUESTIONS)
        answers.append(notebook.evaluate("asked"))
    assert answers[0] == answers[1]
    assert "Illegal seek" in answers[1]["lseek"]


def test_a_handler_of_the_users_hears_of_no_child_of_ours(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(
        "import signal, subprocess\nheard = []\n_ = signal.signal(signal.SIGCHLD, lambda *_: heard.append(1))"
    )
    notebook.run("%mlc_trace off")
    notebook.run("%mlc_trace on")
    assert notebook.evaluate("heard") == []
    notebook.run("_ = subprocess.run(['true'])")
    assert notebook.evaluate("len(heard)") == 1


def test_a_child_that_outlives_its_kernel_ends_when_it_writes(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(
        "import os, subprocess, sys; child = subprocess.Popen(['sh', '-c', 'sleep 0.2; yes'], stdout=2)"
    )
    kernel, child = pid_of(notebook), psutil.Process(notebook.evaluate("child.pid"))
    reader = reader_of(kernel)
    os.kill(kernel, signal.SIGKILL)
    until(
        lambda: (
            has_ended(child)
            and not any("yes" in (p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"]))
        )
    )
    until(lambda: has_ended(reader))


def test_a_kernel_that_ends_takes_its_reader_along_although_children_live(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import subprocess; child = subprocess.Popen(['sleep', '1000'])")
    kernel, child = pid_of(notebook), psutil.Process(notebook.evaluate("child.pid"))
    reader = reader_of(kernel)
    os.kill(kernel, signal.SIGKILL)
    try:
        until(lambda: has_ended(reader))
        assert not has_ended(child)
    finally:
        child.kill()


@pytest.mark.parametrize("command", ["%mlc_trace off", "%unload_ext jupyter_mlgpu"])
def test_a_child_is_heard_after_tracing_has_ended(start_kernel, command):
    notebook = start_kernel(**USERS)
    program = (
        ON_DEMAND + "say_when('first', b'early\\n'); say_when('second', b'late\\n'); say_when('third', b'')"
    )
    notebook.run(f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {program!r}])")
    reader = reader_of(pid_of(notebook))
    (notebook.folder / "first").touch()
    notebook.hear_until(lambda message: message["content"].get("text") == "early\n")
    notebook.run(command)
    assert not has_ended(reader)
    (notebook.folder / "second").touch()
    notebook.hear_until(lambda message: message["content"].get("text") == "late\n")
    (notebook.folder / "third").touch()
    until(lambda: has_ended(reader), "the reader stays although nobody can write")


#: A Ctrl-C as the process that reads is told to store no more.
CTRL_C_AT_THE_END = """
import os, signal
from jupyter_mlgpu.measure.capture.reader import Reader
forward = Reader.forward
def interrupted(self, seconds):
    Reader.forward = forward
    signal.raise_signal(signal.SIGINT)
    forward(self, seconds)
Reader.forward = interrupted
"""


@pytest.mark.parametrize(
    ("ends", "begins"),
    [("%mlc_trace off", "%mlc_trace on"), ("%unload_ext jupyter_mlgpu", "%reload_ext jupyter_mlgpu")],
)
def test_a_ctrl_c_while_tracing_ends_comes_after_that_and_tracing_begins_anew(start_kernel, ends, begins):
    notebook = start_kernel(**USERS)
    notebook.run(CTRL_C_AT_THE_END)
    first = reader_of(pid_of(notebook))
    assert "KeyboardInterrupt" in str(notebook.run(ends).error)
    until(lambda: has_ended(first), "the reader stays although nobody can write")
    notebook.run(begins)
    for _ in range(2):
        assert words(notebook.run("_ = os.write(1, b'x\\n'); print('y'); _ = os.system('echo z')")) == [
            "x",
            "y",
            "z",
        ]


def test_tracing_ends_without_waiting_for_the_lines_of_a_child_that_never_ends(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(
        "from jupyter_mlgpu.measure.capture.capture import Capture\n"
        "waits = []\n"
        "Capture.catch_up = lambda self, seconds=float('inf'): waits.append(seconds)"
    )
    notebook.run("%mlc_trace off")
    notebook.run("%mlc_trace on")
    assert max(notebook.evaluate("waits")) < 5


def test_a_writer_waits_for_a_kernel_that_shows_what_it_writes(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import subprocess, time")
    notebook.run(
        "child = subprocess.Popen('yes', stdout=2)\n"
        "files = get_ipython()._jupyter_mlgpu._capture.files()\n"
        "import os\n"
        "most = 0\n"
        "until = time.monotonic() + 3\n"
        "while time.monotonic() < until:\n"
        "    stat = os.fstat(files['stderr']); most = max(most, 512 * stat.st_blocks)\n"
        "    time.sleep(0.01)\n"
        "child.kill(); _ = child.wait()"
    )
    # 64 MiB are kept of what was shown.
    assert notebook.evaluate("most") < 128 * 1024**2


def test_a_hundred_megabytes_printed_from_c_under_the_gil_hang_nothing(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(
        "import ctypes; libc = ctypes.PyDLL(None); block = b'x' * 99 + b'\\n'\n"
        "libc.write.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]\n"
        "data = block * 1_000_000"
    )
    result = notebook.run(
        "done = 0\n"
        "while done < len(data): done += libc.write(2, data[done:] if done else data, len(data) - done)"
    )
    assert result.status == "ok"
    assert result.text.count("\n") >= 1_000_000


def test_a_reader_that_is_killed_is_replaced_and_the_record_says_so(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import os, time")
    kernel = pid_of(notebook)
    first = reader_of(kernel)
    message = notebook.send(
        "_ = os.write(2, b'before\\n')\n"
        "while not os.path.exists('go'): time.sleep(0.01)\n"
        "_ = os.write(2, b'after\\n')"
    )
    notebook.hear_until(lambda one: one["content"].get("text") == "before\n")
    first.kill()
    until(lambda: has_ended(first))
    until(lambda: reader_of(kernel) != first)
    (notebook.folder / "go").touch()
    result = notebook.wait(message)
    assert words(result) == ["after"]
    assert [line["text"] for line in result.receipt["logs"]] == ["before", "after"]
    assert any("process that reads native lines was ended" in note for note in result.receipt["notes"])
    assert words(notebook.run("_ = os.system('echo as ever')")) == ["as", "ever"]


def test_a_reader_that_stands_still_holds_up_no_display_for_long(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import os, time")
    reader = reader_of(pid_of(notebook))
    reader.suspend()
    try:
        result = notebook.run("_ = os.write(2, b'x\\n')\nfor n in range(100): display(n)")
    finally:
        reader.resume()
    assert result.status == "ok"
    assert any("could not be read in time" in note for note in result.receipt["notes"])
    assert words(notebook.run("_ = os.write(2, b'y\\n')"))[-1] == "y"


def test_without_callbacks_lines_are_shown_under_the_cell_that_wrote_them(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import os; _ = os.write(2, b'first\\n')")
    notebook.run("for one in get_ipython().events.callbacks.values(): one.clear()")
    result = notebook.run("_ = os.system('echo second')")
    assert words(result) == ["second"]
    kept = notebook.ask("jupyter_mlgpu_snapshot_request")["records"]
    assert not any("second" in line["text"] for record in kept for line in record["logs"])


def test_the_reader_has_no_descriptor_of_the_users_and_its_own_session(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(
        "%mlc_trace off\nimport os; ends = os.pipe(); [os.set_inheritable(end, True) for end in ends]"
    )
    notebook.run("%mlc_trace on")
    kernel = pid_of(notebook)
    pipe = os.readlink(f"/proc/{kernel}/fd/{notebook.evaluate('ends')[0]}")
    reader = until(lambda: (one := reader_of(kernel)) and not has_ended(one) and one)
    until(lambda: pipe not in opened_by(reader.pid))
    assert os.getsid(reader.pid) == reader.pid


def test_where_no_process_can_be_made_output_goes_its_usual_way_and_the_record_says_so(start_kernel):
    if os.geteuid() != 0:
        pytest.skip("only root can become a user who may start no process")
    notebook = start_kernel(**USERS)
    notebook.run("1 + 1")
    notebook.run("%mlc_trace off")
    notebook.run(
        "import os, resource\n"
        "resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))\n"
        "os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)"
    )
    notebook.run("%mlc_trace on")
    result = notebook.run("_ = os.write(2, b'shown\\n')")
    hear_all(notebook, result, "shown")
    assert result.receipt["logs"] == []
    assert any("no process could be started to read them" in note for note in result.receipt["notes"])
    assert "no process could be started to read them" in notebook.run("%mlc_trace logs").text


@pytest.fixture
def small_group():
    """A control group that allows no more processes than are in it, as a function of a process."""
    root = Path("/sys/fs/cgroup/pids")
    folder = (root if root.is_dir() else Path("/sys/fs/cgroup")) / f"jupyter_mlgpu-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / "pids.max").write_text("max")
    except OSError as error:
        pytest.skip(f"no control group for processes can be made here ({error})")

    def confine(pid):
        (folder / "cgroup.procs").write_text(str(pid))
        (folder / "pids.max").write_text((folder / "pids.current").read_text())

    yield confine
    until(lambda: not (folder / "cgroup.procs").read_text().strip())
    folder.rmdir()


def test_a_full_control_group_costs_no_output(start_kernel, small_group):
    notebook = start_kernel(**USERS)
    notebook.run("import os")
    notebook.run("%mlc_trace off")
    kernel = pid_of(notebook)
    small_group(kernel)
    notebook.run("%mlc_trace on")
    result = notebook.run("_ = os.write(2, b'shown\\n')")
    hear_all(notebook, result, "shown")
    assert any("no process could be started to read them" in note for note in result.receipt["notes"])
    os.kill(kernel, signal.SIGKILL)


def test_a_forked_childs_lines_keep_their_order_and_are_recorded(start_kernel):
    notebook = start_kernel(**USERS)
    result = notebook.run(
        "import os\n"
        "for n in range(20):\n"
        "    os.write(1, b'a%d\\n' % n)\n"
        "    child = os.fork()\n"
        "    if child == 0: os.write(1, b'b%d\\n' % n); os._exit(0)\n"
        "    os.waitpid(child, 0); os.write(1, b'c%d\\n' % n)"
    )
    assert words(result) == [f"{letter}{n}" for n in range(20) for letter in "abc"]
    assert sum(line["count"] for line in result.receipt["logs"]) == 60


def test_a_program_that_is_no_python_is_not_run_and_output_goes_its_usual_way(start_kernel):
    notebook = start_kernel(extension=False, **USERS)
    notebook.run("import sys, os; sys.executable = '/bin/false'; sys._base_executable = ''")
    notebook.run("os.readlink = lambda path: '/usr/bin/blender'")
    notebook.run("%load_ext jupyter_mlgpu")
    result = notebook.run("print(os.system('echo child')); os.write(1, b'native\\n')")
    hear_all(notebook, result, "0", "child", "native")
    assert any("no Python interpreter was found" in note for note in result.receipt["notes"])


def test_an_interpreter_that_ends_at_once_takes_no_output_with_it(start_kernel, tmp_path):
    broken = tmp_path / "python-that-ends"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    notebook = start_kernel(extension=False, **USERS)
    notebook.run(f"import sys, os; sys.executable = {str(broken)!r}")
    notebook.run("%load_ext jupyter_mlgpu")
    for _ in range(3):
        result = notebook.run("print(os.system('echo child')); os.write(1, b'native\\n')")
        hear_all(notebook, result, "0", "child", "native")
    assert any("it ended at once" in note for note in result.receipt["notes"])


def test_a_reader_killed_again_and_again_costs_no_child_its_life_and_no_line(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import subprocess, time, os")
    kernel = pid_of(notebook)
    program = "for i in $(seq 2000); do echo line$i >&2; sleep 0.001; done"
    message = notebook.send(f"print(subprocess.run({program!r}, shell=True).returncode)")
    notebook.hear_until(lambda one: "line1" in str(one["content"].get("text")))
    killed = set()
    while len(killed) < 7:
        found = [
            one
            for one in psutil.process_iter(["cmdline"])
            if any(word.endswith("reader_process.py") for word in one.info["cmdline"] or [])
            and str(kernel) in one.info["cmdline"]
        ]
        for one in found:
            if one.pid not in killed:
                killed.add(one.pid)
                one.kill()
        if len(killed) >= 5 and not found:
            break
        time.sleep(0.05)
    result = notebook.wait(message)
    assert "0" in words(result)


def test_a_reader_that_is_stopped_is_replaced_and_its_writer_goes_on(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import os")
    reader = reader_of(pid_of(notebook))
    reader.suspend()
    result = notebook.run("for n in range(100): _ = os.write(1, b'x' * 1999 + b'\\n')")
    assert result.status == "ok"
    assert result.text.count("x") >= 199_900
    until(lambda: has_ended(reader))

    def notes():
        kept = notebook.ask("jupyter_mlgpu_snapshot_request")["records"]
        return [note for record in kept for note in record["notes"]]

    until(lambda: any("answered nothing for two seconds, so it was ended" in note for note in notes()))


def test_a_lock_on_cs_stream_is_not_waited_for(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import ctypes, os, threading; libc = ctypes.CDLL(None)")
    notebook.run(
        "stdout = ctypes.c_void_p.in_dll(libc, 'stdout')\n"
        "held, go = threading.Event(), threading.Event()\n"
        "def hold():\n    libc.flockfile(stdout); held.set(); go.wait(); libc.funlockfile(stdout)\n"
        "threading.Thread(target=hold).start(); _ = held.wait()"
    )
    assert words(notebook.run("print('shown')")) == ["shown"]
    notebook.run("go.set()")


def test_a_process_that_adopts_orphans_keeps_its_own_children(start_kernel):
    notebook = start_kernel(extension=False, **USERS)
    notebook.run("import ctypes, os; _ = ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)")
    notebook.run("%load_ext jupyter_mlgpu")
    result = notebook.run("os.wait()")
    assert result.error is not None
    assert "ChildProcessError" in result.error


def test_a_forked_child_has_the_pipes_and_no_end_to_read_them(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(
        "import os, time\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    while not os.path.exists('go'): time.sleep(0.01)\n"
        "    os._exit(0)"
    )
    kernel = pid_of(notebook)
    pipes = {os.readlink(f"/proc/{kernel}/fd/{number}") for number in (1, 2)}
    child = notebook.evaluate("child")
    held = [os.readlink(path) for path in Path(f"/proc/{child}/fd").iterdir()]
    (notebook.folder / "go").touch()
    assert all(held.count(pipe) == 1 for pipe in pipes)


ASIDE = "import os\nfile = os.open('out', os.O_CREAT | os.O_WRONLY)\n_ = os.dup2(file, 1)"
BOTH = "_ = os.system('echo child'); _ = os.write(1, b'native\\n')"


@pytest.mark.parametrize("begin", ["%load_ext jupyter_mlgpu", "%mlc_trace on"])
def test_a_file_in_a_descriptors_place_gets_what_is_written_also_where_tracing_begins_later(
    start_kernel, begin
):
    notebook = start_kernel(extension=False, **USERS)
    if begin == "%mlc_trace on":
        notebook.run("%load_ext jupyter_mlgpu\n%mlc_trace off")
    notebook.run(ASIDE)
    notebook.run(begin)
    notebook.run("pass")
    result = notebook.run(BOTH)
    assert result.text == ""
    until(lambda: (notebook.folder / "out").read_text() == "child\nnative\n")


def test_a_file_in_a_descriptors_place_gets_what_is_written_after_off_and_on(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(ASIDE)
    notebook.run("%mlc_trace off")
    notebook.run("%mlc_trace on")
    notebook.run("pass")
    assert notebook.run(BOTH).text == ""
    until(lambda: (notebook.folder / "out").read_text() == "child\nnative\n")


def test_nothing_of_ours_has_the_number_of_a_standard_descriptor(start_kernel):
    notebook = start_kernel(extension=False, **USERS)
    notebook.run("import os\nfor number in (0, 1, 2): os.close(number)")
    notebook.run("%load_ext jupyter_mlgpu")
    assert notebook.run("_ = os.system('echo hi'); _ = os.write(2, b'there\\n')").status == "ok"
    held = notebook.evaluate("[os.readlink(f'/proc/self/fd/{number}') for number in (1, 2)]")
    assert all(name.startswith("pipe:") for name in held)
    assert notebook.run("%mlc_trace off").status == "ok"
    notes = notebook.run("%mlc_trace status").text
    assert "could not" not in notes


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_stream_that_the_user_closes_is_closed_at_once(start_kernel, name):
    notebook = start_kernel(**USERS)
    notebook.run("import os, sys")
    closed = notebook.run(f"os.write(2, b'before\\n'); sys.{name}.close()")
    assert closed.status == "ok"
    assert any("native lines are no longer captured" in one for one in closed.receipt["notes"])
    other = {"stdout": "stderr", "stderr": "stdout"}[name]
    assert "still" in words(notebook.run(f"print('still', file=sys.{other})"))
    assert notebook.run("1 + 1").status == "ok"
