"""What a student sees in the sidebar's Now: the device chosen, live numbers, where the running cell is."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Request, expect

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Lab, Server

FAKE_DRIVER = Path(__file__).parents[2] / "support" / "fake_nvml"
LOAD = "%load_ext jupyter_mlgpu"
LOAD_WITH_GPU = f"import sys\nsys.path.insert(0, {str(FAKE_DRIVER)!r})\n{LOAD}"
#: A framework with the devices of our choice: none is installed where the browser tests run.
FAKE_TORCH = """
import sys, types
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.testing import FakeBackend

sys.modules["torch"] = types.ModuleType("torch")
fake = registry._backends["torch"] = FakeBackend("torch", {devices!r})
fake.hidden = {hidden!r}
"""


def show_now(lab: Lab) -> None:
    lab.sidebar.get_by_role("tab", name="Now").click()


def gauge(lab: Lab, device: str, quantity: str) -> Locator:
    return lab.sidebar.get_by_role("region", name=device, exact=True).locator(f"[data-quantity={quantity}]")


def picker(lab: Lab) -> Locator:
    return lab.sidebar.get_by_role("combobox", name="Device for the next cells")


def said(lab: Lab) -> Locator:
    return lab.sidebar.get_by_role("region", name="Device", exact=True).get_by_role("status").first


def asked_to_watch(lab: Lab) -> int:
    return sum('"type":"watch"' in frame.replace(" ", "") for frame in lab.sent)


def open_now(lab: Lab, name: str, *codes: str) -> None:
    """A notebook whose first cell has run, with Now in sight."""
    lab.write(name, *codes)
    lab.open(name)
    lab.run_to_end(0)
    show_now(lab)


def test_gauges_have_the_names_that_people_use_with_units_and_sources(lab: Lab) -> None:
    open_now(lab, "gauges.ipynb", LOAD_WITH_GPU)
    gpu = "GPU 0 (Fake GPU)"
    expect(gauge(lab, gpu, "power")).to_contain_text("300 W")
    expect(source(gauge(lab, gpu, "power"), "NVML, whole board · no limit known")).to_be_visible()
    expect(gauge(lab, gpu, "memory")).to_contain_text(re.compile("^GPU memory2 GiB"))
    expect(source(gauge(lab, gpu, "memory"), "NVML, all processes")).to_be_visible()
    expect(gauge(lab, gpu, "temperature")).to_contain_text("°C")
    expect(gauge(lab, gpu, "utilisation")).to_contain_text(re.compile(r"^GPU\d+ %"))
    expect(source(gauge(lab, gpu, "utilisation"), "NVML gauge, all processes")).to_be_visible()
    expect(gauge(lab, "This machine", "utilisation")).to_contain_text(re.compile(r"^CPU\d+ %"))
    expect(source(gauge(lab, "This machine", "utilisation"), "psutil.cpu_times")).to_be_visible()
    expect(gauge(lab, "This machine", "memory")).to_contain_text(re.compile(r"^Memory[\d.]+ GiB"))
    process = lab.sidebar.get_by_role("region", name=re.compile("s process$"))
    process = process.locator("[data-quantity=utilisation]")
    expect(process).to_contain_text(re.compile(r"^CPU[\d.]+ cores"))
    expect(source(process, "time.process_time")).to_be_visible()
    expect(process.locator("svg")).to_be_visible()


def source(of: Locator, words: str) -> Locator:
    """A gauge's line, if its title names this source."""
    return of.get_by_title(words, exact=True)


def test_every_chart_has_words_and_a_table(lab: Lab) -> None:
    open_now(lab, "table.ipynb", LOAD_WITH_GPU)
    device = lab.sidebar.get_by_role("region", name="GPU 0 (Fake GPU)", exact=True).first
    power = device.get_by_role("slider", name="Power, GPU 0 (Fake GPU): lowest 300 W, highest 300 W")
    expect(power).to_be_visible()
    expect(power).to_have_accessible_description("NVML, whole board · no limit known")
    device.locator("summary").focus()
    lab.page.keyboard.press("Enter")
    table = device.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(
        ["Time", "GPU", "GPU memory", "Power", "Temperature"]
    )
    expect(table.get_by_role("row").nth(1)).to_have_text(
        "SourceNVML gauge, all processesNVML, all processesNVML, whole boardNVML"
    )
    expect(table.get_by_role("row").nth(2)).to_contain_text("300 W")


def open_with_two_values(lab: Lab, name: str) -> tuple[Locator, Locator]:
    """Open Now, with two different values in the curve of the GPU's memory; return it and the power's."""
    used = "pynvml.used = 9 * 1024**3"
    open_now(lab, name, LOAD_WITH_GPU, f"import pynvml\n{used}")
    memory, power = (gauge(lab, "GPU 0 (Fake GPU)", name) for name in ("memory", "power"))
    expect(memory).to_contain_text(re.compile("^GPU memory2 GiB"))
    lab.run_to_end(1)
    expect(memory).to_contain_text(re.compile("^GPU memory9 GiB"))
    return memory, power


def test_axes_are_fixed_and_the_pointer_has_a_crosshair_in_all_charts(lab: Lab) -> None:
    memory, power = open_with_two_values(lab, "crosshair.ipynb")
    expect(memory.get_by_role("slider")).to_have_text(re.compile("^80 GiBpeak 9 GiB60 s agonow$"))
    expect(power.get_by_role("slider")).to_have_text(re.compile("^500 Wpeak 300 W60 s agonow$"))
    cpu = gauge(lab, "This machine", "utilisation").get_by_role("slider")
    expect(cpu).to_have_text(re.compile(r"^100 %peak \d+ %60 s agonow$"))
    power.scroll_into_view_if_needed()
    box = power.get_by_role("slider").bounding_box()
    assert box is not None
    lab.page.mouse.move(box["x"] + 0.02 * box["width"], box["y"] + box["height"] / 2)
    for one in (power, memory):
        expect(one.get_by_role("slider")).to_contain_text("59 s agonow")
        expect(one).to_contain_text("no reading")
    lab.page.mouse.move(0, 0)
    expect(memory).to_contain_text(re.compile("^GPU memory9 GiB"))
    expect(memory.get_by_role("slider")).to_contain_text("60 s agonow")


def test_the_keyboard_moves_the_crosshair_which_is_told_and_escape_removes_it(lab: Lab) -> None:
    memory, power = open_with_two_values(lab, "keys.ipynb")
    slider = memory.get_by_role("slider")
    slider.focus()
    expect(slider).to_have_attribute("aria-valuetext", "now")
    earlier = re.compile(r"^(\d+ s) ago · 2 GiB$")
    for _ in range(60):
        lab.page.keyboard.press("ArrowLeft")
        if earlier.match(slider.get_attribute("aria-valuetext") or ""):
            break
    expect(slider).to_have_attribute("aria-valuetext", earlier)
    expect(power.get_by_role("slider")).to_contain_text(re.compile(r"[1-9]\d* s ago"))
    lab.page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "60 s ago · no reading")
    lab.page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "now · 9 GiB")
    expect(power.get_by_role("slider")).to_have_text(re.compile("60 s agonow$"))
    lab.page.keyboard.press("Escape")
    expect(slider).to_have_attribute("aria-valuetext", "now")


@pytest.mark.slow
def test_numbers_that_change_move_nothing(lab: Lab, gate: Gate) -> None:
    open_now(lab, "shifts.ipynb", LOAD_WITH_GPU, gate.cell)
    gauges = lab.sidebar.locator(".jp-mlgpu-Gauges")
    expect(gauge(lab, "This machine", "utilisation").get_by_role("slider")).to_be_visible()
    lab.page.evaluate(
        """() => {
            window.moved = [];
            window.heights = new Set();
            const gauges = document.querySelector('.jp-mlgpu-Gauges');
            new ResizeObserver(() => window.heights.add(gauges.offsetHeight)).observe(gauges);
            new PerformanceObserver(list => {
                for (const { node } of list.getEntries().flatMap(({ sources }) => sources)) {
                    if (gauges.contains(node)) {
                        window.moved.push(node.parentElement.className);
                    }
                }
            }).observe({ type: 'layout-shift' });
        }"""
    )
    lab.run(1)
    expect(lab.running).to_contain_text(re.compile(r"[3-9]\.\d s"))
    gate.open()
    expect(lab.running).to_be_hidden()
    expect(gauges.get_by_title(re.compile(r"\[2\]"))).to_be_visible()
    assert len(lab.page.evaluate("() => [...window.heights]")) == 1
    assert lab.page.evaluate("() => window.moved") == []


@pytest.mark.slow
def test_without_a_gpu_its_reason_stands_once(lab: Lab) -> None:
    open_now(lab, "no_gpu.ipynb", f"import os\nos.environ['FAKE_NVML'] = 'none'\n{LOAD_WITH_GPU}")
    device = lab.sidebar.get_by_role("region", name="GPU", exact=True)
    expect(device).to_have_text(re.compile("^GPUnot measured: No NVIDIA driver responds here .*$"))


def test_live_numbers_are_replaced_by_newer_ones(lab: Lab) -> None:
    open_now(lab, "newer.ipynb", LOAD_WITH_GPU)
    # The kernel's: until it has answered, the machine's stand here.
    expect(gauge(lab, "GPU 0 (Fake GPU)", "power").locator("svg")).to_be_visible()
    # With a snapshot there are curves before there is a live number.
    live = lab.sidebar.locator(".jp-mlgpu-Gauges[data-sampled]")
    first = live.get_attribute("data-sampled")
    newer = "first => document.querySelector('.jp-mlgpu-Gauges')?.dataset.sampled > first"
    lab.page.wait_for_function(newer, arg=first)


def test_a_view_is_chosen_though_the_page_moves_while_the_mouse_is_down(lab: Lab) -> None:
    lab.write("pressed.ipynb", LOAD)
    lab.open("pressed.ipynb")
    tab = lab.sidebar.get_by_role("tab", name="Now")
    tab.hover()
    lab.page.mouse.down()
    lab.run_to_end(0)
    expect(lab.sidebar.get_by_text("No cell is running")).to_be_visible()
    lab.page.mouse.up()
    expect(tab).to_have_attribute("aria-selected", "true")


@pytest.mark.slow
def test_a_reload_in_mid_cell_brings_back_the_view_with_its_history(lab: Lab, gate: Gate) -> None:
    seen = "seen = lambda: [v for _, v in get_ipython()._jupyter_mlgpu.live_counters.state()['history']]"
    used = "any((v or 0) == 9 * 1024**3 for values in seen() for v in values)"
    lab.write(
        "history.ipynb",
        LOAD_WITH_GPU,
        f"import pynvml, time\n{seen}\npynvml.used = 9 * 1024**3\nwhile not {used}: time.sleep(0.05)\n"
        "pynvml.used = 2 * 1024**3",
        gate.cell,
    )
    lab.open("history.ipynb")
    lab.run_to_end(0)
    show_now(lab)
    highest = re.compile("GPU memory, GPU 0 .*: lowest 2 GiB, highest 9 GiB")
    expect(gauge(lab, "GPU 0 (Fake GPU)", "memory")).to_be_visible()
    lab.run_to_end(1)
    expect(lab.sidebar.get_by_role("slider", name=highest)).to_be_visible()
    lab.run(2)
    lab.running.wait_for()
    lab.save()
    lab.wait_until_layout_is_kept()
    lab.reload()
    expect(lab.running).to_contain_text("while not pathlib.Path", timeout=60_000)
    expect(lab.sidebar.get_by_role("slider", name=highest)).to_be_visible()
    gate.open()
    expect(lab.running).to_be_hidden()


def test_nobody_is_asked_to_measure_until_somebody_looks(lab: Lab) -> None:
    lab.write("calm.ipynb", LOAD, "a = 1")
    lab.open("calm.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records).to_have_count(1)
    assert asked_to_watch(lab) == 0
    show_now(lab)
    expect(gauge(lab, "This machine", "memory")).to_be_visible()
    assert asked_to_watch(lab) == 1


@pytest.mark.slow
def test_what_comes_while_nobody_sees_it_is_in_the_curve_when_it_is_shown_again(lab: Lab) -> None:
    seen = "seen = lambda: [v for _, v in get_ipython()._jupyter_mlgpu.live_counters.state()['history']]"
    used = "any((v or 0) == 9 * 1024**3 for values in seen() for v in values)"
    open_now(
        lab,
        "hidden.ipynb",
        LOAD_WITH_GPU,
        f"import pynvml, time\n{seen}\npynvml.used = 9 * 1024**3\nwhile not {used}: time.sleep(0.05)\n"
        "pynvml.used = 2 * 1024**3",
    )
    expect(gauge(lab, "GPU 0 (Fake GPU)", "memory")).to_be_visible()
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    set_visibility(lab, "hidden")
    lab.run_to_end(1)
    set_visibility(lab, "visible")
    lab.show_sidebar()
    highest = re.compile("GPU memory, GPU 0 .*: lowest 2 GiB, highest 9 GiB")
    expect(lab.sidebar.get_by_role("slider", name=highest)).to_be_visible()
    expect(gauge(lab, "GPU 0 (Fake GPU)", "memory")).to_contain_text("peak 9 GiB")


@pytest.mark.slow
def test_cells_are_bands_behind_each_curve(lab: Lab) -> None:
    open_now(lab, "bands.ipynb", LOAD_WITH_GPU, "import time\ntime.sleep(1.5)")
    power = gauge(lab, "GPU 0 (Fake GPU)", "power")
    expect(power).to_contain_text("peak 300 W")
    chart = power.locator(".jp-mlgpu-Gauge-plot")
    plain = chart.evaluate("chart => getComputedStyle(chart).backgroundImage")
    lab.run_to_end(1)
    band = lab.sidebar.get_by_role("list", name="Cells").get_by_title(
        re.compile(r"\[\d+\] time.sleep\(1.5\)")
    )
    expect(band).to_be_visible()
    assert "gradient" not in plain
    assert "linear-gradient" in chart.evaluate("chart => getComputedStyle(chart).backgroundImage")


@pytest.mark.slow
def test_nothing_moves_when_a_cell_begins_or_ends(lab: Lab, gate: Gate) -> None:
    lab.write("still.ipynb", LOAD, "a = 1", f"%%mlc_trace --ops --repeat 1\n{gate.cell}")
    lab.open("still.ipynb")
    lab.run_to_end(0)
    tabs = lab.sidebar.get_by_role("tablist")
    place = lab.sidebar.locator(".jp-mlgpu-RunningPlace")
    expect(place).to_contain_text("No cell is running")
    before = tabs.bounding_box()
    lab.run_to_end(1)
    expect(place).to_contain_text("a = 1")
    assert tabs.bounding_box() == before
    lab.run(2)
    expect(lab.running).to_contain_text("run 1 of")
    assert tabs.bounding_box() == before
    gate.open()
    expect(lab.running).to_be_hidden()
    assert tabs.bounding_box() == before


def test_a_button_shows_the_same_as_a_page_beside_the_notebook(lab: Lab) -> None:
    open_now(lab, "page.ipynb", LOAD_WITH_GPU)
    lab.sidebar.get_by_role("button", name="Open as a page").click()
    page = lab.page.get_by_role("tabpanel", name="Now: page.ipynb")
    power = page.locator("[data-quantity=power]")
    expect(power).to_contain_text("300 W")
    large, small = (
        one.locator("svg").bounding_box() for one in (power, gauge(lab, "GPU 0 (Fake GPU)", "power"))
    )
    assert large is not None
    assert small is not None
    assert large["height"] > 2 * small["height"]
    expect(page.get_by_role("button", name="Open as a page")).to_have_count(0)
    lab.sidebar.get_by_role("button", name="Open as a page").click()
    expect(page).to_have_count(1)
    lab.page.evaluate(
        """() => [...jupyterapp.shell.widgets('main')]
            .find(one => one.context?.path === 'page.ipynb').dispose()"""
    )
    expect(page).to_have_count(0)


def set_visibility(lab: Lab, state: str) -> None:
    """What a browser does when its tab goes behind another one or comes back."""
    lab.page.evaluate(
        """state => {
            Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
            document.dispatchEvent(new Event('visibilitychange'));
        }""",
        state,
    )


@pytest.mark.slow
def test_a_device_chosen_while_the_kernel_is_idle_holds_at_once(lab: Lab) -> None:
    open_now(lab, "idle.ipynb", LOAD, "%mlc_device")
    expect(picker(lab)).to_have_value("auto")
    picker(lab).select_option("cpu")
    expect(said(lab)).to_have_text("Cells will run on cpu once a framework is imported.")
    expect(picker(lab)).to_have_value("cpu")
    lab.run_to_end(1)
    expect(lab.cell(1)).to_contain_text("Requested device: cpu.")


@pytest.mark.slow
def test_automatic_can_be_chosen_again_and_means_what_held_before_any_choice(lab: Lab) -> None:
    open_now(lab, "automatic.ipynb", LOAD, "%mlc_device cpu", "%mlc_device any", "%mlc_device")
    button = lab.page.locator(".jp-mlgpu-TracingButton button").filter(visible=True)
    expect(button).to_have_accessible_name("Tracing · CPU")
    expect(button).to_have_attribute("title", re.compile("^New work goes to: Automatic"))
    lab.run_to_end(1)
    expect(picker(lab)).to_have_value("cpu")
    picker(lab).select_option(label="Automatic · each framework chooses its own device")
    expect(said(lab)).to_contain_text("Automatic: each framework chooses its own device from now on.")
    expect(picker(lab)).to_have_value("auto")
    expect(button).to_have_attribute("title", re.compile("^New work goes to: Automatic"))
    lab.run_to_end(1)
    expect(picker(lab)).to_have_value("cpu")
    lab.run_to_end(2)
    expect(picker(lab)).to_have_value("auto")
    lab.run_to_end(3)
    expect(lab.cell(3)).to_contain_text("Device: Automatic, so each framework chooses its own device.")


@pytest.mark.slow
def test_a_device_chosen_in_mid_cell_says_when_it_will_apply_in_every_tab(
    lab: Lab, new_tab: Callable[[], Lab], gate: Gate
) -> None:
    open_now(lab, "busy_device.ipynb", LOAD, gate.cell)
    other = new_tab()
    other.open("busy_device.ipynb")
    show_now(other)
    lab.run(1)
    lab.running.wait_for()
    picker(lab).select_option("cpu")
    for tab in (lab, other):
        expect(said(tab)).to_have_text("cpu, when the running cell ends")
        expect(picker(tab)).to_have_value("cpu")
    gate.open()
    for tab in (lab, other):
        expect(said(tab)).to_have_text("Cells will run on cpu once a framework is imported.")


def open_with_torch(lab: Lab, name: str, devices: tuple[str, ...], hidden: str | None = None) -> None:
    open_now(lab, name, f"{FAKE_TORCH.format(devices=devices, hidden=hidden)}\n{LOAD}", "%mlc_device")


def test_the_picker_lists_the_devices_there_are_and_the_choice_holds_for_the_next_cell(lab: Lab) -> None:
    open_with_torch(lab, "torch.ipynb", ("cpu:0", "gpu:0", "gpu:1"))
    expect(picker(lab).get_by_role("option")).to_have_text(
        [
            "Automatic · each framework chooses its own device",
            "cpu:0 · fake cpu",
            "gpu:0 · fake gpu",
            "gpu:1 · fake gpu",
        ]
    )
    picker(lab).select_option("gpu:1")
    expect(said(lab)).to_contain_text("Cells run on gpu:1 (PyTorch) from now on.")
    lab.run_to_end(1)
    expect(said(lab)).to_be_empty()
    expect(picker(lab)).to_have_value("gpu:1")
    expect(lab.cell(1)).to_contain_text("Requested device: gpu:1.")
    expect(lab.sidebar).to_contain_text("FrameworksPyTorch 1.0")


@pytest.mark.slow
def test_the_dialog_and_the_magic_have_the_pickers_list_and_say_why_there_is_no_gpu(lab: Lab) -> None:
    with_torch = f"{FAKE_TORCH.format(devices=('cpu:0',), hidden=None)}\n{LOAD}"
    open_now(lab, "same_list.ipynb", with_torch, "%mlc_device list")
    why = "The fake has the devices it was given."
    names = ["Automatic · each framework chooses its own device", "cpu:0 · fake cpu"]
    expect(picker(lab).get_by_role("option")).to_have_text(names)
    expect(lab.sidebar.get_by_role("region", name="Device", exact=True)).to_contain_text(why)
    lab.page.evaluate("() => void jupyterapp.commands.execute('jupyter-mlgpu:choose-device')")
    dialog = lab.page.get_by_role("dialog")
    expect(dialog.get_by_role("option")).to_have_text(names)
    expect(dialog).to_contain_text(why)
    dialog.get_by_role("button", name="Cancel").click()
    lab.run_to_end(1)
    expect(lab.cell(1)).to_contain_text(re.compile("auto +each framework chooses its own device"))
    expect(lab.cell(1)).to_contain_text(re.compile(f"cpu:0 .*fake cpu.*gpu: +none: {why}", re.DOTALL))


@pytest.mark.slow
def test_where_a_restart_would_bring_the_device_its_button_is_offered(lab: Lab) -> None:
    open_with_torch(lab, "offer.ipynb", ("cpu:0",), hidden="The GPU is hidden.")
    picker(lab).select_option("gpu")
    expect(said(lab)).to_contain_text("There is no device gpu here until the kernel is restarted")
    expect(lab.sidebar).to_contain_text("The GPU is hidden.")
    button = re.compile("Restart the kernel and run up to the active cell")
    lab.sidebar.get_by_role("button", name=button).click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Restart the kernel of offer.ipynb?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()


@pytest.mark.slow
def test_tracing_is_turned_off_and_on_beside_it(lab: Lab) -> None:
    open_now(lab, "trace.ipynb", LOAD, "a = 1", "b = 2")
    switch = lab.sidebar.get_by_role("checkbox", name="Trace cells")
    expect(switch).to_be_checked()
    switch.click()
    expect(switch).not_to_be_checked()
    lab.run_to_end(1)
    expect(lab.receipts).to_have_count(0)
    switch.click()
    expect(switch).to_be_checked()
    lab.run_to_end(2)
    expect(lab.receipts).to_have_count(1)


@pytest.mark.slow
def test_a_cell_that_repeats_says_at_which_run_it_is(lab: Lab, gate: Gate) -> None:
    lab.write("repeat.ipynb", LOAD, f"%%mlc_trace --ops --repeat 3\n{gate.cell}")
    lab.open("repeat.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    expect(lab.running).to_contain_text("run 1 of 5")
    gate.open()
    expect(lab.running).to_be_hidden()


@pytest.mark.slow
def test_a_command_that_takes_long_says_what_it_is_at(lab: Lab, gate: Gate) -> None:
    runtime = "from jupyter_mlgpu.measure import runtime"
    race = f"{runtime}\nruntime.current().on_progress('Race: cpu:0, run 2 of 5')"
    lab.write("progress.ipynb", LOAD, f"{race}\n{gate.cell}")
    lab.open("progress.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    expect(lab.running).to_contain_text("Race: cpu:0, run 2 of 5")
    gate.open()
    expect(lab.running).to_be_hidden()


def test_frameworks_and_versions_are_told(lab: Lab) -> None:
    open_now(lab, "versions.ipynb", LOAD)
    expect(lab.sidebar).to_contain_text("none imported yet")
    expect(lab.sidebar).to_contain_text(re.compile(r"Python3\.\d+\.\d+"))


def test_before_anything_is_loaded_the_machine_is_shown_as_the_servers_and_the_kernel_is_not_asked(
    lab: Lab,
) -> None:
    lab.write("bare_now.ipynb", "a = 1")
    lab.open("bare_now.ipynb")
    show_now(lab)
    expect(lab.sidebar).to_contain_text("machine, all programs together.")
    expect(source(gauge(lab, "This machine", "utilisation"), "psutil.cpu_times")).to_have_text(
        re.compile(r"^CPU\d+ %$")
    )
    expect(gauge(lab, "This machine", "memory")).to_contain_text("GiB")
    expect(lab.sidebar.get_by_role("region", name=re.compile("GPU")).first).to_be_visible()
    expect(lab.sidebar.get_by_role("region", name=re.compile("s process$"))).to_have_count(0)
    lab.run_to_end(0)
    assert asked_to_watch(lab) == 0
    lab.sidebar.get_by_role("button", name="Start tracing").click()
    expect(lab.sidebar.get_by_role("region", name=re.compile("s process$"))).to_be_visible()
    expect(lab.sidebar).not_to_contain_text("all programs together")


@pytest.mark.slow
def test_the_server_is_not_asked_about_its_machine_until_somebody_looks(lab: Lab) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.extend([request.url] if "/jupyter-mlgpu/machine" in request.url else [])

    lab.page.on("request", note)
    lab.write("sight.ipynb", "a = 1")
    lab.open("sight.ipynb")
    expect(lab.sidebar.get_by_role("button", name="Start tracing")).to_be_visible()
    assert asked == []
    show_now(lab)
    expect(gauge(lab, "This machine", "memory")).to_be_visible()
    assert asked != []
    lab.page.remove_listener("request", note)


def test_who_is_not_let_in_learns_nothing_of_the_machine(server: Server) -> None:
    address = f"{server.url}jupyter-mlgpu/machine"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address)
    with urllib.request.urlopen(f"{address}?token=test") as answer:
        assert json.load(answer)["series"][0]["device"] == "machine"


def test_the_doctor_says_when_asked_what_is_wrong_and_what_to_do(lab: Lab) -> None:
    planted = "import os, pathlib\nos.makedirs('mine', exist_ok=True)\nos.chdir('mine')"
    planted += "\npathlib.Path('pandas.py').touch()"
    open_now(lab, "doctor.ipynb", f"{planted}\n{LOAD}")
    doctor = lab.sidebar.get_by_role("region", name="Doctor", exact=True)
    expect(doctor.get_by_role("status")).to_have_text(re.compile("The doctor only looks; it changes nothing"))
    doctor.get_by_role("button", name="Ask the doctor").click()
    expect(doctor.get_by_role("status")).to_have_text(
        re.compile(r"of \d+ checks found a problem"), timeout=60_000
    )
    finding = doctor.get_by_role("listitem").filter(has_text="shadowed-package")
    expect(finding).to_contain_text("(sure; shadowed-package)")
    expect(finding).to_contain_text("How we know: Found here: pandas.py.")
    expect(finding.locator("pre")).to_have_text("mv pandas.py my_pandas.py")
    expect(finding.get_by_role("button", name="Copy")).to_be_visible()
    expect(doctor.get_by_role("button", name="Ask again")).to_be_enabled()
    lab.reload()
    show_now(lab)
    expect(doctor.get_by_role("listitem").filter(has_text="shadowed-package")).to_be_visible()


def test_the_strip_of_a_cell_grows_while_it_runs_and_stays_when_it_has_ended(lab: Lab) -> None:
    lab.write("strip.ipynb", LOAD, "while True:\n    sum(range(10_000))")
    lab.open("strip.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    lab.running.wait_for()
    live = lab.running.get_by_role("img", name=re.compile("^Over the cell's time: CPU: .*Python "))
    expect(live).to_be_visible()
    before = live.get_attribute("aria-label")
    expect(live).not_to_have_attribute("aria-label", before or "")
    box = live.bounding_box()
    assert box is not None
    assert box["height"] == 28
    lab.page.evaluate("() => void jupyterapp.commands.execute('notebook:interrupt-kernel')")
    receipt = lab.receipts.first
    kept = receipt.get_by_role("img", name=re.compile("^Over the cell's time: CPU: .*Python "))
    expect(kept).to_be_visible()
    last = lab.sidebar.get_by_role("region", name="The last cell that ran").get_by_role("img")
    expect(last).to_have_attribute("aria-label", kept.get_attribute("aria-label") or "")
