"""A student's process in the sandbox of this machine: it works, reaches nothing, and ends when it should."""

import os
import shutil
import socket
import time
from contextlib import suppress

import psutil
import pytest

from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.teach.grading import probe, sandbox
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.grading.student import Student

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

SMALL = Limits(memory=700 * 1024**2, files=32 * 1024**2, processes=100)


def student(seconds=60, limits=SMALL, files=None):
    return Student(SANDBOXES["bubblewrap"], seconds=seconds, limits=limits, files=files)


def said(outputs):
    """All that a cell's outputs say."""
    return "\n".join(
        str(one.get("text") or one.get("evalue") or one.get("data", {}).get("text/plain")) for one in outputs
    )


def test_the_sandbox_of_this_machine_holds(tmp_path):
    secret = tmp_path / "solution"
    secret.write_text("secret")
    assert probe.find_leaks(SANDBOXES["bubblewrap"], [secret]) == []
    assert probe.find([secret]).name == "bubblewrap"


def test_no_sandbox_at_all_does_not_hold_and_the_probe_says_where(tmp_path):
    found = probe.find_leaks(SANDBOXES["same-user"], [tmp_path / "none"])
    some_systems_refuse = "a user namespace can be made, and folders in memory in it"
    assert [one for one in found if one != some_systems_refuse] == [
        "a file of yours can be read",
        "a solution of this package can be read",
        "a file beside yours can be written",
        "this machine's network can be reached",
        "another program can be reached",
        "memory that no limit sees can be taken",
    ]


def test_cells_run_as_in_a_notebook():
    with student() as one:
        assert said(one.run("print('one')\n1 + 1")) == "one\n\n2"
        assert said(one.run("!echo $HOME")).strip() == "/home/student"
        assert "ZeroDivisionError" in one.run("1 / 0")[0]["traceback"][-1]
        one.run("def twice(f, x): return f(f(x))")
        assert one.call("twice", (lambda x: x + 1, 3), {}) == (5, "")
        assert one.names(["twice", "missing"]) == {"twice": ("function", None)}


def test_files_of_the_lab_are_there_and_nothing_of_the_machines(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADING_SECRET", "secret")
    secret = tmp_path / "key"
    secret.write_text("secret")
    with student(files={"data/numbers.txt": b"1 2"}) as one:
        assert said(one.run("open('data/numbers.txt').read()")) == "'1 2'"
        assert "FileNotFoundError" in str(one.run(f"open({str(secret)!r}).read()"))
        assert "GRADING_SECRET" not in said(one.run("import os; dict(os.environ)"))
        assert "OSError" in str(one.run("open('/usr/planted', 'w')"))
        assert "OSError" in str(one.run("open('/planted', 'w')"))
        listed = said(one.run("[p for p in os.listdir('/proc') if p.isdigit()]"))
        assert len(listed.split(",")) < 6
        assert said(one.run("os.getuid() or 'root'")) == "65534" or os.getuid() != 0


READ_ALL = """
import os
def read(folder):
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names
            if open(os.path.join(place, name)).read()]
"""


def test_solutions_hidden_tests_and_reference_answers_are_not_there():
    with student() as one:
        one.run(READ_ALL)
        covered = sandbox.hidden_folders()
        assert len(covered) >= 2
        for sealed in covered:
            found, _ = one.call("read", (str(sealed.folder),), {})
            assert {os.path.basename(path) for path in found} <= set(sealed.readable)
            assert "Read-only" in said(one.run(f"open({str(sealed.folder / 'planted')!r}, 'w')"))


def test_the_lessons_module_is_there_and_check_says_that_it_cannot_be_used():
    with student() as one:
        pytest.importorskip("numpy")
        assert one.run("from jupyter_mlgpu.lessons import check") == []
        assert "no reference answer can be read" in said(one.run("check('add_three', lambda: None)"))


def test_no_network_is_reached():
    with socket.create_server(("127.0.0.1", 0)) as server, student() as one:
        port = server.getsockname()[1]
        assert "Connection refused" in said(
            one.run(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
        )
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("while True: pass", "It did not answer in time"),
        ("import os; os._exit(3)", "Its process ended"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "Its process ended"),
        ("import os; os.closerange(3, 50)", "Its process ended"),
        (
            "import os\nfor n in range(3, 50):\n    try: os.write(n, b'forged\\n')\n    except OSError: pass",
            "is no answer",
        ),
    ],
    ids=["for ever", "exit", "kill", "close", "forge"],
)
def test_a_process_that_cannot_answer_is_ended_and_its_other_cells_are_kept(code, why):
    with student(seconds=4) as one:
        one.run("kept = 5")
        assert why in said(one.run(code))
        assert one.names(["kept"]) == {"kept": ("value", 5)}
        assert len(one.losses) == 1


def test_a_submission_whose_process_ends_again_and_again_is_given_up():
    with student() as one:
        for _ in range(5):
            one.run("import os; os._exit(0)")
        with pytest.raises(GradingError, match="ended 5 times"):
            one.names(["x"])


def test_processes_are_bounded():
    with student(limits=Limits(memory=64 * 1024**3, processes=100)) as one:
        came = said(
            one.run(
                "import os, time\nfor _ in range(300):\n    if not os.fork(): time.sleep(60), os._exit(0)"
            )
        )
        assert "Resource temporarily unavailable" in came or "more than 100 processes" in came
        assert said(one.run("1 + 1")) == "2"


MANY_PROCESSES = "import os, time\nfor _ in range(300):\n    if not os.fork(): time.sleep(60), os._exit(0)"
#: It starts all that it can, and ends itself.
AND_NO_PARENT = """
import os, time
try:
    while os.fork(): pass
    time.sleep(60)
finally:
    os._exit(0)
"""


def idle_threads(count):
    """Code that starts threads that do nothing."""
    start = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    return f"import threading\nfor _ in range({count}): {start}"


#: Each leaves next to no room for more, of 100 processes and threads that it may have.
LEFT_RUNNING = {
    "processes": [MANY_PROCESSES],
    "processes and some threads": [idle_threads(5), MANY_PROCESSES],
    "threads": [idle_threads(90)],
    "processes without their parent": [AND_NO_PARENT],
}


@pytest.mark.parametrize("how", LEFT_RUNNING)
def test_what_a_cell_leaves_running_takes_no_threads_from_the_cells_after_it(how):
    with student(limits=Limits(memory=64 * 1024**3, processes=100)) as one:
        for code in LEFT_RUNNING[how]:
            one.run(code)
        assert one.run(idle_threads(40)) == []
        assert len(one.losses) == 1


def test_a_few_processes_that_a_cell_leaves_running_stay():
    with student(limits=Limits(memory=64 * 1024**3, processes=100)) as one:
        one.run("import subprocess\nchild = subprocess.Popen(['sleep', '60'])")
        assert said(one.run("str(child.poll())")) == "'None'"


def test_memory_files_and_output_are_bounded():
    with student(seconds=30) as one:
        assert "took more than" in said(one.run("import time\nhog = b'x' * 10**9\ntime.sleep(5)"))
        assert "No space left" in said(one.run("open('big', 'wb').write(bytes(2**20) * 64)"))
        assert len(said(one.run("for _ in range(200): print('x' * 10**6)"))) < 200_000
        assert len(one.run("for n in range(5000): display(n)")) <= 100


#: Each takes 2 GB where nothing counts it: in files without a name, in segments of System V's, in a folder
#: of a namespace of its own.
BEYOND_THE_LIMITS = {
    "memfd": "files = [os.memfd_create(str(n)) for n in range(120)]\n"
    "for file in files: os.write(file, bytes(2**24))",
    "system v": "ids = [libc.shmget(0, 2**28, 0o1600) for _ in range(8)]\nassert -1 not in ids, 'refused'",
    "user namespace": "import subprocess\nsubprocess.run("
    "['unshare', '-Urm', 'mount', '-t', 'tmpfs', '-o', 'size=20G', 'none', '/tmp'], check=True)",
    "namespace by clone": "new_user, its_end, null = 0x10000000, 17, None\n"
    "number = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]\n"
    "child = libc.syscall(number, new_user | its_end, null, null, null, null)\n"
    "if child == 0: os._exit(0)\n"
    "assert child != -1, 'refused'",
}


@pytest.mark.parametrize("how", BEYOND_THE_LIMITS)
def test_nothing_that_takes_memory_out_of_sight_is_allowed(how):
    with student() as one:
        one.run("import ctypes, os\nlibc = ctypes.CDLL(None)")
        came = one.run(BEYOND_THE_LIMITS[how])
        assert [output["output_type"] for output in came if output["output_type"] == "error"] == ["error"]
        assert not one.losses


#: Each holds 900 MB, and at most a part of it in a process.
HELD_ELSEWHERE = {
    "folders in memory": "for folder in ('/dev/shm', '/tmp', '/home/student'):\n"
    "    with open(folder + '/big', 'wb') as file: [file.write(bytes(2**20)) for _ in range(300)]",
    "shared with children that sleep": "for _ in range(9):\n"
    "    held = mmap.mmap(-1, 10**8)\n"
    "    if not os.fork(): time.sleep(60), os._exit(0)\n"
    "    for begin in range(0, len(held), 4096): held[begin] = 1\n"
    "    held.close()",
}


@pytest.mark.parametrize("how", HELD_ELSEWHERE)
def test_memory_counts_wherever_it_is_held(how):
    limits = Limits(memory=700 * 1024**2, files=400 * 1024**2, processes=100)
    with student(limits=limits) as one:
        one.run("import mmap, os, time")
        assert "took more than" in said(one.run(HELD_ELSEWHERE[how] + "\ntime.sleep(20)"))


def left_running():
    return [one for one in psutil.process_iter(["cmdline"]) if "613.7" in (one.info["cmdline"] or [])]


def wait_until(true):
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_left_running_ends_with_its_process():
    with student() as one:
        one.run("import subprocess\nsubprocess.Popen(['sleep', '613.7'], start_new_session=True)")
        # The system tells of a program's words a moment after it has begun.
        wait_until(left_running)
    wait_until(lambda: not left_running())


def running(processes):
    """Those that have not ended; a status that nobody has asked for is no running process."""
    found = []
    for one in processes:
        with suppress(psutil.NoSuchProcess):
            found += [one] if one.status() != psutil.STATUS_ZOMBIE else []
    return found


def test_all_that_a_process_started_is_gone_before_the_next_one_starts():
    others = psutil.Process().children(recursive=True)
    with student() as one:
        one.run("large = b'x' * 200_000_000  # so that it takes the kernel some time to end its copies")
        one.run(MANY_PROCESSES.replace("300", "40"))
        family = set(psutil.Process().children(recursive=True)) - set(others)
        assert len(family) > 40
        one.run("os._exit(0)")
        assert running(family) == []


def test_scripts_in_outputs_do_not_leave():
    with student() as one:
        shown = one.run(
            "from IPython.display import HTML, Javascript, SVG, Markdown\n"
            "display(HTML('<b>1</b>'), Javascript('1'), Markdown('<b>1</b>'))\n"
            "display({'image/png': 'x\"><script>', 'text/plain': 'picture'}, raw=True)"
        )
        assert {kind for one in shown for kind in one["data"]} == {"text/plain"}


def test_a_picture_does():
    with student(limits=Limits(memory=2 * 1024**3)) as one:
        pytest.importorskip("PIL")
        shown = one.run("from PIL import Image\nImage.new('RGB', (2, 2))")
        assert "image/png" in shown[-1]["data"]


def test_time_and_memory_are_taken_outside():
    with student(limits=Limits(memory=2 * 1024**3)) as one:
        one.run("import time\ntime.perf_counter = time.monotonic = time.time = lambda: 0.0")
        seconds, failed = one.time("time.sleep(0.3)")
        assert failed is None
        assert 0.3 <= seconds < 10
        one.run("import time")
        peak, failed = one.peak("held = b'x' * 300_000_000\ntime.sleep(0.1)\ndel held")
        assert failed is None
        assert 300e6 < peak < 1.5e9
        assert "ZeroDivisionError" in str(one.run("1/0"))
        assert "division by zero" in (one.time("1 / 0")[1] or "")
