"""Who sees a kernel die: the listener hears of it whatever it says, and the server tells it."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from jupyter_client import BlockingKernelClient

from jupyter_mlgpu.jupyter.exits.connection import VARIABLE, Connection
from jupyter_mlgpu.jupyter.exits.listener import ExitListener
from jupyter_mlgpu.record.flight import flight_files
from tests.support.kernels import MIME_TYPE
from tests.support.reading import as_read, receipt_as_read
from tests.support.shared_kernels import LOAD

pytestmark = pytest.mark.kernel

NAME = "jupyter_mlgpu-kernel-of-a-test.account"
EXIT = "application/vnd.jupyter-mlgpu.exit+json"


def wait_until(true, what="nothing came"):
    deadline = time.monotonic() + 30
    while not (answer := true()):
        assert time.monotonic() < deadline, what
        time.sleep(0.01)
    return answer


@pytest.fixture
def listening(tmp_path, monkeypatch):
    class Listening:
        begun, ended = [], []

    Listening.listener = ExitListener(
        Listening.ended.append, lambda path, pid: Listening.begun.append((path, pid)), tmp_path
    )
    Listening.path = Listening.listener.start()
    monkeypatch.setenv(VARIABLE, Listening.path)
    yield Listening
    Listening.listener.stop()


#: A process that calls as a kernel does, writes to its stderr, and ends.
CALLS = """
import os, sys, time
from jupyter_mlgpu.jupyter.exits.connection import Connection
from jupyter_mlgpu.measure.capture.storage import LogFile
file = LogFile("stderr")
line = Connection("jupyter_mlgpu-kernel-of-a-test.account")
line.open()
line.tell({"stderr": file.descriptor})
os.dup2(file.descriptor, 2)
"""


def call(code, *words):
    done = subprocess.run([sys.executable, "-c", CALLS + code, *words], capture_output=True, text=True)
    return done.returncode


def test_an_end_is_seen_with_the_last_lines_that_nobody_has_read(listening, tmp_path):
    status = call("os.write(2, b'said at last\\n'); os.abort()")
    seen = wait_until(lambda: listening.ended)[0]
    assert (seen.path, seen.flight_record) == (tmp_path / NAME, None)
    assert seen.exit_report.lines == ("said at last",)
    assert seen.complete_report(None, status).status == -6
    assert listening.begun == [(tmp_path / NAME, seen.exit_report.pid)]


def test_a_goodbye_is_no_end(listening):
    call("line.close()")
    call("os._exit(0)")
    wait_until(lambda: listening.ended)
    assert len(listening.begun) == 2
    assert len(listening.ended) == 1


def test_a_child_that_lives_on_does_not_hide_the_end(listening, tmp_path):
    call(
        """
child = os.fork()
if child == 0:
    os.close(1); os.close(2)
    while not os.path.exists(sys.argv[1]): time.sleep(0.01)
    os._exit(0)
os._exit(3)""",
        str(tmp_path / "go"),
    )
    wait_until(lambda: listening.ended)
    (tmp_path / "go").touch()


def test_a_process_that_closes_all_its_descriptors_has_not_ended(listening, tmp_path, monkeypatch):
    monkeypatch.setattr("jupyter_mlgpu.jupyter.exits.listener._MAX_WAIT_S", 0.2)
    gone = tmp_path / "go"
    code = f"import time; os.closerange(3, 100)\nwhile not os.path.exists({str(gone)!r}): time.sleep(0.01)"
    with subprocess.Popen([sys.executable, "-c", CALLS + code]) as process:
        wait_until(lambda: listening.begun)
        wait_until(lambda: not listening.listener._kernels, "it still listens")
        assert listening.ended == []
        gone.touch()
        process.wait()


@pytest.mark.parametrize(
    "message",
    [
        b"x",
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"account": 3, "pid": 5}\n',
        b'{"account": "../../etc/passwd", "pid": 5}\n',
        b'{"account": "jupyter_mlgpu-a/b.account", "pid": 5}\n',
        b'{"account": "jupyter_mlgpu-a.account", "pid": 1}\n',
        b'{"account": "jupyter_mlgpu-a.account", "pid": true}\n',
        b'{"account": "jupyter_mlgpu-a.account", "pid": 99, "streams": 5}\n',
        b"\xff" * 5000,
    ],
)
def test_what_is_no_call_is_left_alone_and_others_are_still_heard(listening, message):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(listening.path)
        line.sendall(message)
    call("os._exit(0)")
    assert wait_until(lambda: listening.ended)[0].exit_report.pid not in (1, 5)


def test_descriptors_that_nobody_asked_for_are_closed(listening):
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else None
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(listening.path)
        socket.send_fds(line, [b"{}\n"], [0, 1])
        connection = Connection(NAME)
        connection.open()
        connection.tell({"stderr": sys.__stderr__.fileno()})  # no regular file, mostly
        wait_until(lambda: listening.begun)
        connection.close()
    wait_until(lambda: not listening.listener._kernels)
    # Other sockets of this process may close or open meanwhile.
    wait_until(lambda: before is None or len(os.listdir("/proc/self/fd")) <= before, "one stayed open")


def test_the_socket_is_for_this_user_alone(listening):
    assert Path(listening.path).parent.stat().st_mode & 0o077 == 0
    listening.listener.stop()
    assert not Path(listening.path).parent.exists()


def test_a_kernel_whose_server_is_gone_does_without(monkeypatch, tmp_path):
    for path in (str(tmp_path / "missing"), "", str(tmp_path)):
        monkeypatch.setenv(VARIABLE, path)
        connection = Connection(NAME)
        connection.open()
        connection.tell({})
        connection.close()


# A fresh kernel.


def kill(notebook):
    process = notebook.manager.provisioner.process
    process.kill()
    process.wait()


def reconnected(notebook):
    notebook.client.stop_channels()
    notebook.client = notebook.manager.client()
    notebook.connect()
    notebook._replies.clear()
    return notebook


def account_of(notebook):
    return flight_files.folder() / str(flight_files.name_for(notebook.manager.connection_file))


def test_a_kernel_that_ends_properly_leaves_no_account(start_kernel):
    notebook = start_kernel()
    path = account_of(notebook)
    assert path.exists()
    notebook.run("%unload_ext jupyter_mlgpu")
    assert not path.exists()
    notebook.run(LOAD)
    assert path.exists()
    notebook.manager.shutdown_wait_time = 60  # a signal after half of it ends a kernel without its farewell
    notebook.manager.shutdown_kernel()
    assert not path.exists()


@pytest.mark.slow
def test_the_first_receipt_of_a_fresh_kernel_says_what_the_one_before_died_of(start_kernel):
    notebook = start_kernel()
    notebook.run("1")
    kill(notebook)
    line = "2026-11-24 08:00:00.123456: F tensorflow/core/x.cc:12] Check failed: n > 0 (-3 vs. 0)"
    path = account_of(notebook)
    found = flight_files.read(path)
    from jupyter_mlgpu.record.flight.exit_report import ExitReport

    flight_files.write_exit_report(
        path, ExitReport(pid=found.state.pid, status=-6, at=time.time(), lines=(line,))
    )
    notebook.manager.restart_kernel(now=True)
    notebook = reconnected(notebook)
    notebook.run(LOAD)
    notes = [as_read(one) for one in notebook.run("2").receipt["notes"]]
    assert any(
        "The kernel died while no cell was running: native code aborted (SIGABRT)." in str(one)
        for one in notes
    )
    assert any(f"Its last line was “{line}”." in str(one) for one in notes)
    assert "The kernel died" not in str(notebook.run("3").receipt["notes"]), "it is said once"


@pytest.mark.slow
def test_a_restart_by_force_that_nobody_explains_is_not_called_a_death(start_kernel):
    notebook = start_kernel()
    notebook.run("1")
    notebook.manager.restart_kernel(now=True)
    notebook = reconnected(notebook)
    notebook.run(LOAD)
    assert "died" not in str(notebook.run("2").receipt["notes"])


# The server.


class Server:
    """A Jupyter server with our extension, which restarts kernels that die."""

    def __init__(self, folder):
        runtime = folder / "runtime"
        runtime.mkdir()
        self._runtime = runtime
        environment = {
            **os.environ,
            "JUPYTER_RUNTIME_DIR": str(runtime),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_MLGPU_RECEIPTS": "all",  # cells of tests are short
        }
        words = [
            "--no-browser",
            "--port=0",
            "--allow-root",
            "--IdentityProvider.token=secret",
            "--ServerApp.jpserver_extensions={'jupyter_mlgpu':True}",
            f"--ServerApp.root_dir={folder}",
        ]
        self.log = (folder / "log").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", *words],
            env=environment,
            cwd=folder,
            stdout=self.log,
            stderr=self.log,
        )
        (info,) = wait_until(lambda: list(runtime.glob("jpserver-*.json")), "the server did not start")
        self._url = wait_until(lambda: _json(info).get("url"))
        wait_until(self._answers)
        self.kernel = self.ask("api/kernels", "POST", b"{}")["id"]
        self._client = None

    def ask(self, path, method="GET", data=None):
        headers = {"Authorization": "token secret"}
        request = urllib.request.Request(self._url + path, method=method, headers=headers, data=data)
        with urllib.request.urlopen(request, timeout=60) as answer:
            told = answer.read()
        return json.loads(told) if told else None

    def connect(self):
        """Wait until the kernel answers, one that was just restarted, too."""
        if self._client is not None:
            self._client.stop_channels()
        self._client = BlockingKernelClient()
        self._client.load_connection_file(str(self._runtime / f"kernel-{self.kernel}.json"))
        # Without its heartbeat, which takes a kernel that does not answer within a second for a dead one.
        self._client.start_channels(hb=False)
        self._client.wait_for_ready(timeout=60)

    def run(self, code):
        outputs = []
        self._client.execute_interactive(code, output_hook=outputs.append, timeout=60)
        return [one["content"].get("data", {}) for one in outputs]

    def send(self, code):
        self._client.execute(code)

    def kernel_exit(self):
        return self.ask(f"jupyter-mlgpu/deaths/{self.kernel}")["death"]

    def receipt(self, code):
        return receipt_as_read(next(data[MIME_TYPE] for data in self.run(code) if MIME_TYPE in data))

    def stop(self):
        if self._client is not None:
            self._client.stop_channels()
        self._process.terminate()
        self._process.wait(30)
        self.log.close()

    def _answers(self):
        try:
            return self.ask("api/status")
        except OSError:
            return None


def _json(path):
    try:
        return json.loads(path.read_text())
    except ValueError:
        return {}


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    yield server
    server.stop()


@pytest.mark.slow
def test_a_server_tells_the_page_and_the_next_kernel_what_a_kernel_died_of(server):
    server.connect()
    server.run(LOAD)
    server.send(
        "import os, ctypes\nos.write(2, b'2026-11-24 08:00:00.123456: F a/b.cc:12] Check failed: n > 0\\n')\n"
        "ctypes.CDLL(None).abort()"
    )
    kernel_exit = wait_until(server.kernel_exit)
    assert (kernel_exit["cause"], kernel_exit["confidence"]) == ("abort", "sure")
    assert kernel_exit["sentence"]["text"].startswith("The kernel died in [2] after ")
    assert kernel_exit["lines"][-1]["text"].endswith("Check failed: n > 0")
    wait_until(lambda: "restarting kernel" in Path(server.log.name).read_text(), "nobody restarted it")
    server.connect()
    server.run(LOAD)
    assert "native code aborted (SIGABRT)" in str(server.receipt("1")["notes"])
    assert not flight_files.exit_report_path(
        flight_files.folder() / f"jupyter_mlgpu-kernel-{server.kernel}.account"
    ).exists()


@pytest.mark.slow
def test_a_page_gets_the_output_for_under_the_cell_and_the_next_kernel_does_not_repeat_it(server):
    server.connect()
    server.run(LOAD)
    server.send("import os; os._exit(3)")
    wait_until(server.kernel_exit)
    output = server.ask(f"jupyter-mlgpu/deaths/{server.kernel}?language=zh-CN")["output"]
    assert output["text/plain"].startswith("内核在此处运行 ")
    assert output["text/plain"] in output["text/html"]
    assert output[EXIT]["sentence"]["text"].startswith("The kernel died here after ")
    assert output[EXIT]["sentence"]["text"].endswith(": its code exited with status 3.")
    wait_until(lambda: "restarting kernel" in Path(server.log.name).read_text(), "nobody restarted it")
    server.connect()
    server.run(LOAD)
    assert "died" not in str(server.receipt("1")["notes"])


@pytest.mark.slow
def test_a_restart_that_the_user_asks_the_server_for_is_no_death(server):
    server.connect()
    server.run(LOAD)
    server.send("import time; time.sleep(60)")
    server.ask(f"api/kernels/{server.kernel}/restart", "POST", b"{}")
    assert server.kernel_exit() is None
    server.connect()
    server.run(LOAD)
    assert "died" not in str(server.receipt("1")["notes"])
