"""Behind a real JupyterHub and its proxy, with a base URL: a class at work, and what may go wrong there."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.jupyter.lab.hub import KERNEL, WITHOUT_EXTENSION, Desk, Hub, HubLab
from tests.support.local_hub import BASE

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Print

LOAD = "%load_ext jupyter_mlgpu"
STUDENTS = ("ada", "ben", "cleo", "dan")
#: For what waits until several TensorFlows are imported at once, on a machine that may be small.
PATIENTLY = 240_000

#: Each at a seat of their own. A name would not do: records say `<user>` for it.
MULTIPLY = """import tensorflow as tf
with tf.device("CPU:0"):
    product = tf.linalg.matmul(tf.ones((512, 512)), tf.ones((512, 512)))
{seat} + float(product[0, 0])"""


@pytest.fixture(scope="module")
def hub(front_ends: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    hub = Hub(tmp_path_factory.mktemp("hub"), front_ends)
    yield hub
    hub.stop()


@pytest.fixture
def enrol(hub: Hub, chromium: Browser) -> Iterator[Callable[[str], HubLab]]:
    """Gives a student a browser window of their own, and signs in; all windows close after the test."""
    windows: list[BrowserContext] = []

    def enrol(name: str) -> HubLab:
        windows.append(chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB"))
        windows[-1].set_default_timeout(60_000)
        lab = HubLab(windows[-1].new_page(), Desk(hub, name))
        lab.log_in()
        return lab

    yield enrol
    for window in windows:
        window.close()


@pytest.fixture
def hub_lab(enrol: Callable[[str], HubLab]) -> HubLab:
    """JupyterLab of the first student, whose server has started."""
    lab = enrol(STUDENTS[0])
    lab.wait_for_server()
    return lab


@pytest.mark.timeout(600)
def test_four_students_at_once_each_see_their_own_tensorflow_cell_measured_and_their_sidebar_live(
    hub: Hub, enrol: Callable[[str], HubLab], gate: Gate, tell: Print
) -> None:
    labs = [enrol(name) for name in STUDENTS]
    for seat, lab in enumerate(labs):
        lab.wait_for_server()
        waits = gate.cell.replace("while not", f"while {seat} < 9 and not")
        lab.write("class.ipynb", LOAD, MULTIPLY.format(seat=seat), waits, kernel=KERNEL)
        lab.load("class.ipynb")
    for lab in labs:
        lab.wait_for_app()
        lab.show_sidebar()
        lab.run(0)
        lab.run(1)
        lab.run(2)
    for seat, lab in enumerate(labs):
        expect(lab.running).to_contain_text(f"while {seat} < 9", timeout=PATIENTLY)
    # All four run now. Each sees the clock of the own cell move, and nothing of the others.
    for seat, lab in enumerate(labs):
        clock = lab.running.get_by_role("timer")
        expect(clock).not_to_have_text(clock.inner_text(), timeout=PATIENTLY)
        expect(lab.records.locator(".jp-mlgpu-Name")).to_have_text([f"{seat} + float(product[0, 0])"])
        expect(lab.records).to_contain_text("ran on cpu:0")
        expect(lab.receipts).to_have_count(1)
        expect(lab.cell(1)).to_contain_text(f"{seat + 512.0}")
    servers, kernels = hub.memory()
    assert (len(servers), len(kernels)) == (len(STUDENTS), len(STUDENTS))
    tell(
        f"JupyterHub {hub.version()}, resident memory, median of four students: server "
        f"{statistics.median(servers):.0f} MiB, kernel with TensorFlow {statistics.median(kernels):.0f} MiB"
    )
    gate.open()
    for lab in labs:
        expect(lab.records).to_have_count(2, timeout=PATIENTLY)
        expect(lab.running).to_be_hidden(timeout=PATIENTLY)
        lab.shut_down_kernel()


def test_the_sidebar_is_live_behind_a_hub_s_proxy_and_after_a_reload_in_mid_cell(
    hub_lab: HubLab, gate: Gate
) -> None:
    hub_lab.write("reload.ipynb", LOAD, "before = 1", gate.cell, kernel=KERNEL)
    hub_lab.load("reload.ipynb")
    hub_lab.wait_for_app()
    hub_lab.show_sidebar()
    hub_lab.run_to_end(0)
    hub_lab.run_to_end(1)
    expect(hub_lab.records.locator(".jp-mlgpu-Name")).to_have_text(["before = 1"])
    hub_lab.run(2)
    expect(hub_lab.running).to_contain_text("while not pathlib.Path")
    clock = hub_lab.running.get_by_role("timer")
    expect(clock).not_to_have_text(clock.inner_text())
    hub_lab.save()
    hub_lab.reload()
    hub_lab.wait_for_app()
    hub_lab.show_sidebar()
    expect(hub_lab.running).to_contain_text("while not pathlib.Path")
    expect(hub_lab.records.locator(".jp-mlgpu-Name")).to_have_text(["before = 1"])
    gate.open()
    expect(hub_lab.records).to_have_count(2)
    expect(hub_lab.running).to_be_hidden()
    # What the page was sent came through the proxy, under the hub's base URL.
    path = hub_lab.page.evaluate("() => jupyterapp.serviceManager.serverSettings.baseUrl")
    assert path.endswith(f"{BASE}user/{STUDENTS[0]}/")
    hub_lab.shut_down_kernel()


def test_a_cell_that_ends_while_the_network_is_cut_is_in_the_sidebar_once_it_is_back(
    hub: Hub, hub_lab: HubLab, gate: Gate
) -> None:
    ended = gate.path.with_name("ended")
    # In the loop's own last branch: a cell is named after its last statement.
    ends = f"else: pathlib.Path({str(ended)!r}).touch()"
    hub_lab.write("cut.ipynb", LOAD, "before = 1", f"{gate.cell}\n{ends}", kernel=KERNEL)
    hub_lab.load("cut.ipynb")
    hub_lab.wait_for_app()
    hub_lab.show_sidebar()
    hub_lab.run_to_end(0)
    hub_lab.run_to_end(1)
    hub_lab.run(2)
    expect(hub_lab.running).to_contain_text("while not pathlib.Path")
    hub_lab.note_connections()
    hub.cut()
    hub_lab.wait_for_connection("connecting")
    gate.open()
    expect(hub_lab.records).to_have_count(2, timeout=PATIENTLY)
    expect(hub_lab.running).to_be_hidden()
    assert ended.exists()
    hub_lab.wait_for_connection("connected")
    # What runs from now on is seen as it was before.
    hub_lab.run_to_end(1)
    expect(hub_lab.records).to_have_count(3)
    hub_lab.shut_down_kernel()


def test_where_a_server_lacks_the_front_end_the_doctor_says_so_in_one_sentence(
    enrol: Callable[[str], HubLab],
) -> None:
    lab = enrol(WITHOUT_EXTENSION)
    lab.wait_for_server()
    # The kernel of the server's own environment, as on a hub with one image.
    lab.write("without.ipynb", LOAD, "%mlc_doctor", "1 + 1")
    lab.load("without.ipynb")
    lab.wait_for_app()
    assert not lab.page.evaluate("() => jupyterapp.commands.hasCommand('jupyter-mlgpu:open')")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.cell(1)).to_contain_text(
        "JupyterLab lacks the jupyter_mlgpu front end: no sidebar, only plain receipts."
    )
    # Cells are measured all the same; the receipt is the plain one.
    lab.run_to_end(2)
    expect(lab.cell(2).locator(".jp-OutputArea")).to_contain_text("CPU time")
