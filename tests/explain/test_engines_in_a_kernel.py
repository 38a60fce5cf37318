"""Real engines of ipyparallel: their records on one clock, in Perfetto, and engines that hang or die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import jupyter_mlgpu
from jupyter_mlgpu.show.engines.page import engines_table
from jupyter_mlgpu.show.page.view import MIME_TYPE as PAGE_TYPE
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach import lessons

pytestmark = pytest.mark.kernel

MILLISECOND = 1_000_000

#: Records planted in each engine, and the nanoseconds from one to the next of all engines. All processes of
#: a machine have the same monotonic clock, so the true order is known.
COUNT, APART = 1_000, 40 * MILLISECOND

PLANT = """
from msgspec.structs import replace

from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.record import Reading
from jupyter_mlgpu.testing import example_record

current().store.clear()
for place in range({count}):
    record = example_record(place + 1, run=f"{number:032d}", name=f"cell {{place}}")
    started = {base} + (place * {engines} + {number}) * {apart}
    wall = Reading("wall_time", 0.02, "s", "cell", "simulated", 1, detail="planted")
    readings = (wall, *record.readings[1:])
    current().store.add(replace(record, started_monotonic_ns=started, readings=readings))
"""


def run(client: Any, code: str, engines: Any = slice(None)) -> None:
    """Run a cell in engines, as `%%px` does."""
    client[engines].execute(code, silent=False, block=True)


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """Those started for these tests, the newest last; their journals lie in a folder of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        patch.setenv("JUPYTER_MLGPU_RECEIPTS", "all")
        clusters: list[Any] = []
        try:
            yield clusters
        finally:
            for one in clusters:
                one.stop()


def cluster_of(clusters: list[Any], engines: int) -> Any:
    """The newest cluster, with the extension loaded, or a new one where fewer of its four engines live."""
    if not clusters or len(clusters[-1].client.ids) < engines:
        clusters.append(lessons.engines(4))
        run(clusters[-1].client, "%load_ext jupyter_mlgpu")
    return clusters[-1]


@pytest.fixture
def started(clusters: list[Any]) -> Any:
    return cluster_of(clusters, 2)


@pytest.fixture
def client(started: Any) -> Any:
    """Engines of which a test before may have killed one or two."""
    return started.client


@pytest.fixture
def four(clusters: list[Any]) -> Any:
    return cluster_of(clusters, 4).client


@pytest.fixture
def planted(four: Any) -> Any:
    """The same with records planted in each."""
    base = time.perf_counter_ns()
    for number in four.ids:
        code = PLANT.format(count=COUNT, base=base, number=number, engines=4, apart=APART)
        four[number].execute(code, block=True)  # in silence, as no cell: there is no record of it
    return four


@pytest.mark.slow
def test_records_of_four_engines_are_collected_in_their_true_order(planted: Any) -> None:
    found = jupyter_mlgpu.collect(planted)
    assert not found.partial
    assert [(one.engine, one.record.cell.sequence) for one in found.timeline] == [
        (number, place + 1) for place in range(COUNT) for number in range(4)
    ]


@pytest.mark.slow
def test_the_clocks_of_one_machine_are_found_to_be_one_within_the_uncertainty(planted: Any) -> None:
    for one in jupyter_mlgpu.collect(planted).engines:
        assert abs(one.offset.ns) <= one.offset.uncertainty_ns < 1_000 * MILLISECOND


@pytest.mark.slow
@pytest.mark.needs("perfetto", "viztracer")
def test_perfetto_s_trace_processor_has_a_process_an_engine_on_one_clock(
    planted: Any, query: Any, tmp_path: Path
) -> None:
    begin = time.perf_counter()
    found = jupyter_mlgpu.collect(planted)
    found.save(tmp_path / "x.json")
    rows = query(
        (tmp_path / "x.json").read_bytes(),
        "select process.name as process, slice.name as name, ts, dur from slice "
        "join thread_track on slice.track_id = thread_track.id join thread using (utid) "
        "join process using (upid) order by ts",
    )
    print(f"\n    with Perfetto's trace processor {time.perf_counter() - begin:.2f} s")
    assert [row["process"][:9] for row in rows] == [f"engine {place % 4}," for place in range(4 * COUNT)]
    assert all(row["dur"] == 20 * MILLISECOND for row in rows)
    for place, row in enumerate(rows):
        assert abs(row["ts"] - place * APART) < APART / 2


def test_what_cells_in_engines_measured_is_here_with_the_engine_s_number(four: Any) -> None:
    four[:].execute("from jupyter_mlgpu.measure.runtime import current; current().store.clear()", block=True)
    code = "import jupyter_mlgpu\nwith jupyter_mlgpu.trace('compute'):\n    sum(range(10**6))"
    answer = four[:].execute(code, silent=False, block=True)
    shown = [[output["data"] for output in of_engine] for of_engine in answer.outputs]
    assert [[data.keys() for data in of_engine] for of_engine in shown] == [[{"text/html", "text/plain"}]] * 4
    assert all(data["text/plain"].startswith("[mlgpu] ") for (data,) in shown)
    found = jupyter_mlgpu.collect(four)
    assert len(found) == 8
    computed = [one for one in found.records if one.cell.name == "compute"]
    assert sorted(one.run.engine for one in computed) == ["0", "1", "2", "3"]
    assert all(one.reading("wall_time").value > 0 for one in computed)
    assert len({one.run.id for one in computed}) == 4
    assert "this machine" in repr(found)


def test_an_engine_that_hangs_costs_the_time_given_and_is_there_again_afterwards(four: Any) -> None:
    run(four, "seen = True")
    process = four[2].apply_sync(os.getpid)
    os.kill(process, signal.SIGSTOP)
    try:
        begin = time.perf_counter()
        found = jupyter_mlgpu.collect(four, timeout=1.0)
        assert time.perf_counter() - begin >= 1.0
        # What it had measured until then is here, from its journal.
        assert {one.engine for one in found.timeline} == {0, 1, 2, 3}
        assert engines_table(found).rows[2][-1] == "no answer"
        assert any("Engine 2 did not answer within 1 s" in sentence for sentence in found.sentences)
    finally:
        os.kill(process, signal.SIGCONT)
    assert not jupyter_mlgpu.collect(four, timeout=60).partial


def kill(client: Any, engine: int, process: int) -> None:
    """Kill an engine, and wait until ipyparallel knows it."""
    psutil.Process(process).kill()
    deadline = time.monotonic() + 60
    while engine in client.ids:
        assert time.monotonic() < deadline, "ipyparallel did not notice"
        time.sleep(0.05)


def test_of_an_engine_that_is_killed_what_was_collected_before_is_still_there(four: Any) -> None:
    run(four, "kept = True")
    before = jupyter_mlgpu.collect(four)
    kept = len(before.engines[3].records)
    assert kept
    kill(four, 3, four[3].apply_sync(os.getpid))
    found = jupyter_mlgpu.collect(four)
    assert sum(one.engine == 3 for one in found.timeline) == kept
    assert found.sentences[0].startswith("Engine 3 is gone: it died or was shut down. What it had reported")
    assert {one.engine for one in found.timeline} == {0, 1, 2, 3}


ENDLESS = """
import time
import jupyter_mlgpu
with jupyter_mlgpu.trace("first step"):
    sum(range(10**5))
open({flag!r}, "w").close()
while True:
    time.sleep(0.05)
"""


def test_an_engine_that_is_killed_in_mid_cell_leaves_a_partial_record(client: Any, tmp_path: Path) -> None:
    process = client[1].apply_sync(os.getpid)
    whole = jupyter_mlgpu.collect(client).engines[1].records
    run(client, "after = 'what was collected'", [1])
    flag = tmp_path / "under way"
    client[1].execute(ENDLESS.format(flag=str(flag)), silent=False, block=False)
    deadline = time.monotonic() + 60
    while not flag.exists():
        assert time.monotonic() < deadline, "the cell did not begin"
        time.sleep(0.05)
    kill(client, 1, process)
    found = jupyter_mlgpu.collect(client)
    records = found.engines[1].records[len(whole) :]
    assert [record.cell.name for record in records] == [
        "after = 'what was collected'",
        "while True:",
        "first step",
    ]
    wall = [record.reading("wall_time") for record in records]
    assert [one.value is not None for one in wall] == [True, False, True]
    assert "The engine died in this cell" in wall[1].why_missing
    (said,) = [one for one in found.sentences if one.startswith("Engine 1 ")]
    assert said.endswith("It ended in the middle of the cell `while True:`, so that record is partial.")
    # The block that had ended lies after the beginning of the cell that had not.
    placed = {one.record.cell.name: one for one in found.timeline if one.engine == 1}
    assert placed["while True:"].start_ns < placed["first step"].start_ns
    assert found.save(tmp_path / "x.json") > 0


def test_under_a_cell_with_px_each_engine_s_receipt_is_one_line(
    client: Any, started: Any, start_kernel: Any
) -> None:
    (file,) = Path(started._folder).glob("security/*-client.json")
    plain = start_kernel()
    plain.run(f"import ipyparallel; client = ipyparallel.Client({str(file)!r})")
    plain.run("view = client[:]; view.block = True; view.activate()")
    shown = plain.run("%%px\nprint('from engine')\nx = 1").outputs
    receipts = [data for kind, data in shown if kind == "display_data" and "text/html" in data]
    *of_engines, own = receipts
    assert MIME_TYPE in own
    assert [data.keys() for data in of_engines] == [{"text/html", "text/plain"}] * len(client.ids)
    assert all("\n" not in data["text/plain"] for data in of_engines)
    # And the collection is shown with our own view.
    outputs = plain.run("import jupyter_mlgpu; jupyter_mlgpu.collect(client)").outputs
    (data,) = [data for kind, data in outputs if kind == "execute_result"]
    assert data[PAGE_TYPE]["kind"] == "engines"
    assert data.keys() == {PAGE_TYPE, "text/html", "text/plain"}


STARTS_AND_IS_KILLED = """
import os, signal, sys
from jupyter_mlgpu import lessons
started = lessons.engines(1)
cluster = started._cluster
launched = [cluster.controller, *cluster.engine_set.launchers.values()]
print(*[one.process.pid for one in launched], started._guardian.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_engines_of_a_lesson_end_also_when_its_kernel_is_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTS_AND_IS_KILLED],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == -signal.SIGKILL
    left = []
    for process in done.stdout.split():
        try:
            left.append(psutil.Process(int(process)))
        except psutil.NoSuchProcess:  # it has ended already
            continue
    _, alive = psutil.wait_procs(left, timeout=60)
    assert alive == []
