"""Real kernels for tests: driven cell by cell as a front end would, and started ahead."""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.manager import KernelManager

from jupyter_mlgpu.record.flight import flight_files
from tests.support.ports import free_ports
from tests.support.reading import as_read, receipt_as_read

MIME_TYPE = "application/vnd.jupyter-mlgpu.record+json"

CHANNELS = ("shell", "iopub", "stdin", "hb", "control")

#: Seconds of silence after which nothing more of the extension's is expected: it sends every 0.05 s.
SILENCE = 0.15


@dataclass
class Result:
    """What one cell gave back, in the order in which it arrived.

    Neighbouring pieces of one stream are one output, as a front end shows them: how a kernel cuts its text is
    a matter of when it flushes.
    """

    status: str
    execution_count: int | None = None
    outputs: list[tuple[str, Any]] = field(default_factory=list)
    #: Which stream the last output is of; empty where it is none.
    stream: str = ""

    @property
    def receipts(self) -> list[dict[str, Any]]:
        return [
            receipt_as_read(data[MIME_TYPE])
            for kind, data in self.outputs
            if kind == "display_data" and MIME_TYPE in data
        ]

    @property
    def receipt(self) -> dict[str, Any]:
        assert len(self.receipts) == 1, self
        return self.receipts[0]

    @property
    def ran_on(self) -> dict[str, int]:
        return {entry["device"]: entry["operations"] for entry in self.receipt["device"]["ran_on"]}

    @property
    def text(self) -> str:
        return "".join(data for kind, data in self.outputs if kind == "stream")

    @property
    def error(self) -> str | None:
        return next((data for kind, data in self.outputs if kind == "error"), None)

    def value(self, quantity: str) -> float:
        return next(r["value"] for r in self.receipt["readings"] if r["quantity"] == quantity)


class Notebook:
    """A kernel with a client; `run` executes a cell and waits for it.

    A variable of the environment that is None is taken out. Short cells get receipts, too.
    """

    def __init__(self, folder: Path, environment: dict[str, str | None], **manager: Any) -> None:
        """The process is started, with these options of its manager; `connect` waits until it answers."""
        self.folder = folder
        temporary = folder / "temporary"
        temporary.mkdir(exist_ok=True)
        own = {
            "IPYTHONDIR": str(folder / "ipython"),
            "TMPDIR": str(temporary),
            "JUPYTER_MLGPU_RECEIPTS": "all",
        }
        variables = {**os.environ, **own, **environment}
        self.manager = KernelManager(
            cache_ports=False,  # else it chooses others
            **manager,
            **{f"{channel}_port": port for channel, port in zip(CHANNELS, free_ports(5), strict=True)},
        )
        self.manager.start_kernel(
            cwd=str(folder), env={name: value for name, value in variables.items() if value is not None}
        )
        self.client = self.manager.client()
        #: Replies to cells that nobody has waited for yet.
        self._replies: dict[str, dict[str, Any]] = {}
        #: Messages that belong to no cell: what the extension broadcasts.
        self.broadcasts: list[dict[str, Any]] = []

    def connect(self) -> None:
        """Open the channels and wait until the kernel answers."""
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def send(self, code: str, **options: Any) -> str:
        return self.client.execute(code, **options)

    def wait(self, message: str, timeout: float = 120) -> Result:
        result = Result("")
        deadline = time.monotonic() + timeout
        idle = False
        shell, iopub = self.client.shell_channel, self.client.iopub_channel
        poller = zmq.Poller()
        for channel in (shell, iopub):
            poller.register(channel.socket, zmq.POLLIN)
        while not (idle and message in self._replies):
            ready = dict(poller.poll(1000 * max(0.0, deadline - time.monotonic())))
            assert ready, f"the kernel did not finish: {result}"
            if shell.socket in ready:
                reply = shell.get_msg(timeout=0)
                self._replies[reply["parent_header"].get("msg_id")] = reply["content"]
            if iopub.socket in ready and not idle:  # what follows belongs to the next cell
                found = iopub.get_msg(timeout=0)
                if found["parent_header"].get("msg_id") != message:
                    self.broadcasts.append(found)
                    continue
                if idle := _collect(found, result):
                    poller.unregister(iopub.socket)
        reply = self._replies.pop(message)
        result.status, result.execution_count = reply["status"], reply.get("execution_count")
        return result

    def run(self, code: str, timeout: float = 120, **options: Any) -> Result:
        return self.wait(self.send(code, **options), timeout)

    def evaluate(self, expression: str, prepare: str = "") -> Any:
        """The value of an expression made of Python's literals, asked without a cell that would be traced."""
        message = self.client.execute(
            prepare, silent=True, store_history=False, user_expressions={"asked": expression}
        )
        while (reply := self.client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != message:
            pass
        answer = reply["content"]["user_expressions"]["asked"]
        assert answer["status"] == "ok", answer
        return ast.literal_eval(answer["data"]["text/plain"])

    def ask(self, request: str, content: dict[str, Any] | None = None, timeout: float = 60) -> dict[str, Any]:
        """Send a request on the control channel and return the reply's content."""
        message = self.client.session.msg(request, content or {})
        self.client.control_channel.send(message)
        while True:
            reply = self.client.get_control_msg(timeout=timeout)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return as_read(reply["content"])

    def open_page(self) -> dict[str, Any]:
        """Ask for the whole state as a page does when it opens; from then on the kernel sends events."""
        return self.ask("jupyter_mlgpu_snapshot_request")

    def hear_until(self, wanted: Callable[[dict[str, Any]], bool], timeout: float = 60) -> dict[str, Any]:
        """Collect what belongs to no cell until a message is as wanted, and return that one."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.0, deadline - time.monotonic()))
            self.broadcasts.append(message)
            if wanted(message):
                return message

    def hear_goodbye(self) -> None:
        """Wait until the extension has said its last word."""
        while not any("'goodbye'" in str(message["content"]) for message in self.broadcasts):
            self.broadcasts.append(self.client.get_iopub_msg(timeout=60))

    def change_folder(self, folder: Path) -> None:
        """Let the kernel work in this folder."""
        self.folder = folder
        self.evaluate("None", prepare=f"import os as _os; _os.chdir({str(folder)!r})")

    def deltas(self) -> list[dict[str, Any]]:
        """The extension's broadcasts so far.

        On a busy machine the thread that sends them may stand still for as long as the silence takes. So the
        kernel is asked something whose answer goes through that thread, and then it is silent or not.
        """
        iopub = self.client.iopub_channel
        for _ in range(2):
            self._hear_an_answer()
            while iopub.socket.poll(1000 * SILENCE):
                self.broadcasts.append(iopub.get_msg(timeout=0))
        return [
            as_read(message["content"]["data"])
            for message in self.broadcasts
            if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == "jupyter_mlgpu"
        ]

    def _hear_an_answer(self) -> None:
        """Hear all that the kernel says up to the end of a request that it answers also within a cell."""
        self.ask("kernel_info_request")
        self.hear_until(
            lambda message: (
                message["parent_header"].get("msg_type") == "kernel_info_request"
                and message["content"].get("execution_state") == "idle"
            )
        )

    def close(self) -> None:
        self.client.stop_channels()
        flight_record = flight_files.folder() / str(flight_files.name_for(self.manager.connection_file))
        self.manager.shutdown_kernel(now=True)
        flight_files.remove(flight_record)  # which a kernel that is killed leaves behind


def _collect(message: dict[str, Any], result: Result) -> bool:
    kind, content = message["msg_type"], message["content"]
    if kind == "stream":
        joins = result.outputs and result.outputs[-1][0] == "stream" and result.stream == content["name"]
        before = result.outputs.pop()[1] if joins else ""
        result.outputs.append(("stream", before + content["text"]))
        result.stream = content["name"]
    elif kind in ("display_data", "execute_result"):
        result.outputs.append((kind, content["data"]))
    elif kind == "clear_output":
        result.outputs.append((kind, content))
    elif kind == "error":
        result.outputs.append(("error", f"{content['ename']}: {content['evalue']}"))
    return kind == "status" and content["execution_state"] == "idle"


class Gate:
    """A file that a cell waits for, so that a test decides when the cell ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cell = f"import pathlib, time\nwhile not pathlib.Path({str(path)!r}).exists(): time.sleep(0.01)"

    def open(self) -> None:
        """Let the cell end."""
        self.path.touch()


class Spares:
    """Kernels started ahead: who asks for the same as the one before has one more started, for the next.

    Tests of a module mostly ask for the same environment. Nothing is forked: each kernel is a process of its
    own, as a user's is.
    """

    def __init__(self, new_folder: Callable[[], Path]) -> None:
        self._new_folder = new_folder
        self._asked: dict[str, str | None] | None = None
        self._spare: Notebook | None = None

    def take(self, folder: Path, environment: dict[str, str | None]) -> Notebook:
        """A kernel that nobody has used, at work in `folder`."""
        same = environment == self._asked
        if not same:
            self.close()
        notebook, self._spare = self._spare or self._start(environment), None
        if same:
            self._spare = self._start(environment)
        self._asked = environment
        notebook.connect()
        notebook.change_folder(folder)
        return notebook

    def close(self) -> None:
        """End the one that nobody took."""
        if self._spare is not None:
            self._spare.close()
            self._spare = None

    def _start(self, environment: dict[str, str | None]) -> Notebook:
        return Notebook(self._new_folder(), environment)
