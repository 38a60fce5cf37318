"""The controls for other notebooks, in the kernel: what they hold, when they change, what they refuse."""

import json
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.jupyter.notebook import extension
from jupyter_mlgpu.jupyter.notebook.browser import widgets
from jupyter_mlgpu.jupyter.notebook.browser.audience import Audience
from jupyter_mlgpu.jupyter.notebook.browser.channel import KernelChannel
from jupyter_mlgpu.jupyter.notebook.browser.idletasks import IdleTasks
from jupyter_mlgpu.jupyter.notebook.browser.sidebar_settings import SidebarSettings
from jupyter_mlgpu.jupyter.notebook.browser.state import device_state
from jupyter_mlgpu.jupyter.notebook.browser.widgets import DevicePicker, TraceView
from jupyter_mlgpu.jupyter.notebook.magics.devices import DeviceCommands
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record import translation
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import MissingPackageError, UsageError
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.testing import FakeBackend, example_record
from tests.support.reading import as_read


class Comm:
    """What a control sends to its pages; told to fail, it does."""

    comm_id = "1"
    kernel = "a kernel"

    def __init__(self):
        self.sent = []
        self.broken = False

    def send(self, data=None, **_):
        if self.broken:
            raise OSError("the page is gone")
        self.sent.append(data)

    def on_msg(self, hear):
        pass

    def close(self):
        pass


class LiveCounters:
    """Counters that a sidebar was shown earlier; they count how often they were asked for."""

    def __init__(self):
        self.renewed = 0

    def renew(self):
        self.renewed += 1
        return {"watching": True, "seconds": 15.0, "interval": 0.5, "why_missing": None}

    def state(self):
        return {"series": SERIES, "interval": 0.5, "watching": True, "t": 0.0, "history": []}


def series(device, quantity, unit):
    return {
        "device": device,
        "quantity": quantity,
        "unit": unit,
        "source": "NVML gauge, all processes",
        "limit": None,
        "why_missing": None,
    }


SERIES = [
    series("machine", "memory", "bytes"),
    series("process", "utilisation", "cores"),
    series("process", "memory", "bytes"),
]
GPUS = [
    series(f"GPU {number} (NVIDIA H200)", quantity, unit)
    for number in range(8)
    for quantity, unit in (("utilisation", "share"), ("memory", "bytes"), ("power", "W"))
]


class Notebook:
    """A kernel with the extension loaded, less what only a real one has."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        self.running = False
        self.due = []
        self.timers = []
        io_loop = SimpleNamespace(call_later=lambda seconds, do: self.timers.append(do))
        thread = SimpleNamespace(schedule=lambda do: do(), io_loop=io_loop)
        kernel = SimpleNamespace(iopub_thread=thread)
        runtime = Runtime()
        channel = KernelChannel(kernel, "0" * 32, dict, {}, Audience(SimpleNamespace(kernel=kernel), {}))
        tasks = IdleTasks(lambda: self.running, self.due.append)
        devices = DeviceCommands(
            runtime, lambda: channel.push({"type": "device", "device": device_state(runtime)})
        )
        runtime.store.subscribe(lambda record: channel.push(record.to_json))
        self.extension = SimpleNamespace(
            runtime=runtime,
            channel=channel,
            idle_tasks=tasks,
            settings=SidebarSettings(tasks, devices, lambda on: None, channel.push),
            updates=SimpleNamespace(running=lambda: self.cell),
            live_counters=LiveCounters(),
        )
        self.cell = None
        self.store = runtime.store
        self.channel = channel
        self.shell = SimpleNamespace(kernel=kernel)
        self.backends = []
        setattr(self.shell, extension._ATTRIBUTE, self.extension)
        monkeypatch.setattr(widgets, "get_ipython", lambda: self.shell)
        monkeypatch.setattr(widgets, "_script", lambda: "export default {}")
        monkeypatch.setattr(widgets, "real_time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(widgets._Control, "_controls", {})
        monkeypatch.setattr(registry, "loaded", lambda: tuple(self.backends))
        monkeypatch.setattr(registry, "backend", lambda name: {one.name: one for one in self.backends}[name])
        runtime.selection._backends = registry.loaded

    def turn(self):
        """The event loop of the main thread turns, or a cell ends."""
        while self.due:
            self.due.pop(0)()
        self.extension.idle_tasks.run()

    def begin_cell(self, number=1):
        """A cell begins; pages are told when it has run a while."""
        self.running = True
        self.cell = {
            "cell": example_record(number).cell,
            "started_at": "2026-11-30T12:00:00Z",
            "elapsed_s": 0.0,
            "mode": "light",
            "run": None,
            "progress": None,
        }
        self.channel.push({"type": "running", **self.cell})

    def wait(self):
        """The timers of the iopub thread are due."""
        timers, self.timers = self.timers, []
        for do in timers:
            thread = threading.Thread(target=do)
            thread.start()
            thread.join()

    def run_a_while(self, number=1):
        """A cell begins and runs long enough to be told of."""
        self.begin_cell(number)
        self.wait()

    def end_cell(self, number=1):
        """A cell ends, and its record is stored."""
        self.running = False
        self.cell = None
        self.store.add(example_record(number))

    def sample(self, values, **more):
        """The sampler's thread takes a sample of the counters half a second later."""
        self.now += 0.5
        event = {"type": "counters", "time": "", "t": self.now, "values": values, "strip": None, **more}
        thread = threading.Thread(target=self.channel.push, args=(event,))
        thread.start()
        thread.join()

    def click(self, picker, content):
        """A page sends something to the control."""
        picker._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


@pytest.fixture
def notebook(monkeypatch):
    return Notebook(monkeypatch)


@pytest.fixture
def picker(notebook):
    picker = DevicePicker()
    picker.comm = Comm()
    return picker


@pytest.fixture
def view(notebook):
    view = TraceView()
    view.comm = Comm()
    return view


def names(view):
    return [record["cell"]["name"] for record in view.newest]


def lives(view):
    """What the view has told its pages of the running cell."""
    return [message["content"]["live"] for message in view.comm.sent if message["method"] == "custom"]


def told(control):
    return [message for message in control.comm.sent if message["method"] == "update"]


# -- where there is nothing to show them ----------------------------------------------------------


def test_the_package_imports_no_widgets_until_a_control_is_asked_for():
    code = (
        "import sys, jupyter_mlgpu\n"
        "print(sorted({'anywidget', 'ipywidgets'} & set(sys.modules)))\n"
        "jupyter_mlgpu.DevicePicker\n"
        "print(sorted({'anywidget', 'ipywidgets'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['anywidget', 'ipywidgets']"]


@pytest.mark.parametrize("control", [DevicePicker, TraceView])
@pytest.mark.parametrize("shell", [None, SimpleNamespace()], ids=["script", "terminal"])
def test_a_script_and_a_terminal_are_told_what_does_the_same_there(monkeypatch, control, shell):
    monkeypatch.setattr(widgets, "get_ipython", lambda: shell)
    with pytest.raises(UsageError, match=rf"^{control.__name__} works only in .*%mlc_device.*records\(\)"):
        control()


def test_a_kernel_without_the_extension_is_told_to_load_it(monkeypatch):
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setattr(widgets, "get_ipython", lambda: shell)
    with pytest.raises(UsageError, match="run `%load_ext jupyter_mlgpu` in a cell"):
        DevicePicker()


def test_a_checkout_that_was_not_built_is_told_to_build(monkeypatch, tmp_path):
    monkeypatch.setattr(widgets, "SCRIPT", tmp_path / "widgets.js")
    with pytest.raises(MissingPackageError, match="make install"):
        widgets._script()


def test_their_help_says_what_they_do_and_how_to_make_them():
    for control in (jupyter_mlgpu.DevicePicker, jupyter_mlgpu.TraceView):
        assert f"jupyter_mlgpu.{control.__name__}()" in control.__doc__
        assert "%load_ext jupyter_mlgpu" in control.__doc__


# -- one of each kind -----------------------------------------------------------------------------


def test_a_control_made_again_is_the_same_one(notebook, picker, view):
    assert DevicePicker() is picker
    assert TraceView("zh") is view
    assert view.language == "zh"
    assert TraceView().language == "zh"
    assert len(notebook.channel.listeners) == 2


def test_a_control_that_was_closed_hears_no_more_and_is_made_anew(notebook, view):
    view.close()
    assert notebook.channel.listeners == []
    assert TraceView() is not view


def test_when_the_extension_is_unloaded_its_controls_say_so_and_hear_no_more(notebook, picker, view):
    notebook.channel.push({"type": "goodbye"})
    notebook.turn()
    assert picker.ended
    assert view.ended
    assert notebook.channel.listeners == []


def test_a_kernel_that_loads_the_extension_again_gets_a_new_control(notebook, picker, monkeypatch):
    again = Notebook(monkeypatch)
    monkeypatch.setattr(widgets._Control, "_controls", {"DevicePicker": picker})
    assert DevicePicker() is not picker
    assert len(again.channel.listeners) == 1


def test_a_page_that_speaks_another_language_gets_its_catalogue(notebook, picker):
    assert picker.catalogue == {}
    for hostile in ({"speaks": "../en"}, {"speaks": ["zh"]}, {"speaks": {}}):
        notebook.click(picker, hostile)
        notebook.turn()
        assert picker.catalogue == {}
    notebook.click(picker, {"speaks": "zh_CN"})
    assert picker.catalogue == {}, "traits change in the main thread alone"
    notebook.turn()
    assert picker.catalogue == {"messages": translation.messages("zh")}


# -- the picker -----------------------------------------------------------------------------------


def chosen(picker):
    return {one["framework"]: one["chosen"] for one in picker.device["pickers"]}


def test_a_click_chooses_the_device_and_what_was_said_comes_back(notebook, picker):
    notebook.backends = [FakeBackend("torch", ("cpu:0", "gpu:0"))]
    notebook.click(picker, {"word": "gpu", "framework": None})
    notebook.turn()
    assert notebook.extension.runtime.selection.requested() == {"*": "gpu:0"}
    assert chosen(picker) == {None: "gpu:0"}
    assert as_read(picker.choices)["said"]["sentence"].startswith("Cells run on gpu:0 (PyTorch) from now on.")
    assert picker.heard == 1


def test_a_click_may_be_for_one_framework_of_several(notebook, picker):
    notebook.backends = [FakeBackend("torch", ("cpu:0", "gpu:0")), FakeBackend("jax", ("cpu:0", "gpu:0"))]
    notebook.click(picker, {"word": "gpu", "framework": "jax"})
    notebook.turn()
    assert chosen(picker) == {"torch": "auto", "jax": "gpu:0"}


def test_a_click_while_a_cell_runs_holds_when_it_has_ended(notebook, picker):
    notebook.backends = [FakeBackend("torch", ("cpu:0", "gpu:0"))]
    notebook.running = True
    notebook.click(picker, {"word": "gpu", "framework": None})
    notebook.turn()
    assert notebook.extension.runtime.selection.requested() == {}
    assert picker.choices["device"] == {"word": "gpu", "framework": None}
    notebook.running = False
    notebook.turn()
    assert notebook.extension.runtime.selection.requested() == {"*": "gpu:0"}
    assert picker.choices["device"] is None


def test_a_device_that_is_not_there_is_refused_in_one_sentence(notebook, picker):
    notebook.backends = [FakeBackend("torch", ("cpu:0",))]
    notebook.click(picker, {"word": "gpu", "framework": None})
    notebook.turn()
    assert picker.choices["said"]["refused"]
    assert "nothing was changed" in as_read(picker.choices)["said"]["sentence"]
    assert chosen(picker) == {None: "auto"}


def test_a_device_that_only_a_restart_brings_comes_with_how_to_restart(notebook, picker):
    backend = FakeBackend("tensorflow", ("cpu:0",))
    backend.hidden = "TensorFlow was told to hide its GPU."
    notebook.backends = [backend]
    notebook.click(picker, {"word": "gpu", "framework": None})
    notebook.turn()
    restart = as_read(picker.choices)["said"]["restart"]
    assert restart["sentence"] == "TensorFlow was told to hide its GPU."
    assert "restart the kernel" in restart["by_hand"]


def test_what_a_magic_chooses_is_shown_at_once(notebook, picker):
    notebook.backends = [FakeBackend("torch", ("cpu:0", "gpu:0"))]
    notebook.running = True
    notebook.extension.runtime.selection.select(DeviceWord.parse("gpu"))
    notebook.channel.push({"type": "device", "device": {}})
    assert picker.device["requested"] == {"*": "gpu:0"}


@pytest.mark.parametrize(
    "content",
    [
        None,
        7,
        "gpu",
        [],
        {},
        {"word": 7},
        {"word": "gpu", "framework": 7},
        {"word": "g" * 10_000},
        {"word": "x"},
    ],
)
def test_a_page_that_sends_rubbish_changes_nothing_and_is_answered(notebook, picker, content, capsys):
    notebook.click(picker, content)
    notebook.turn()
    assert notebook.extension.runtime.selection.words() == {}
    assert picker.heard == 1
    assert capsys.readouterr().err == ""


def test_who_observes_a_control_is_called_in_the_main_thread(notebook, picker, view):
    threads = []
    picker.observe(lambda change: threads.append(threading.current_thread()))
    view.observe(lambda change: threads.append(threading.current_thread()), "newest")

    def in_a_thread():
        notebook.click(picker, {"word": "cpu", "framework": None})
        notebook.store.add(example_record())

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    assert threads == []
    notebook.turn()
    assert names(view) == ["model.fit(x, y)"]
    assert set(threads) == {threading.main_thread()}


# -- the view -------------------------------------------------------------------------------------


def test_a_view_begins_with_the_records_that_are_there(notebook):
    for number in range(3):
        notebook.store.add(example_record(number, name=f"cell {number}"))
    assert names(TraceView()) == ["cell 0", "cell 1", "cell 2"]


def test_a_new_record_is_sent_at_once_also_while_a_cell_runs(notebook, view):
    notebook.running = True
    notebook.store.add(example_record(name="a block"))
    assert names(view) == ["a block"]
    assert told(view)[-1]["state"]["newest"][0]["cell"]["name"] == "a block"


def test_only_the_newest_records_are_held_and_the_others_counted(notebook, view):
    for number in range(widgets.SHOWN + 5):
        notebook.now += 1
        notebook.store.add(example_record(number, name=f"cell {number}"))
    assert len(view.newest) == widgets.SHOWN
    assert names(view)[-1] == f"cell {widgets.SHOWN + 4}"
    assert view.older == 5


def test_large_records_are_fewer(notebook, view):
    line = LogLine("x" * 2_000, None, "unknown", None, None, {}, 1, "stderr", None, False)
    for number in range(10):
        lines = [line for _ in range(60)]
        notebook.store.add(example_record(number).with_logs(lines))
    notebook.now += 60
    notebook.turn()
    sizes = [len(str(record)) for record in view.newest]
    assert min(sizes) > 20_000
    assert sum(sizes) <= widgets.LIMIT * 1.2  # Python's own notation is a little longer
    assert len(view.newest) + view.older == 10


def test_a_thousand_records_in_a_moment_are_few_states_and_the_last_one_is_complete(notebook, view):
    notebook.running = True
    for number in range(1_000):
        notebook.now += 0.001
        notebook.store.add(example_record(number, name=f"block {number}"))
    assert len(told(view)) <= 2 + (widgets.SAVED + 1) / widgets.INTERVAL
    assert names(view)[-1] != "block 999"
    notebook.running = False
    notebook.now += 1
    notebook.turn()
    assert names(view)[-1] == "block 999"
    assert view.older == 1_000 - widgets.SHOWN


def test_records_that_are_forgotten_leave_the_view(notebook, view):
    notebook.store.add(example_record())
    notebook.store.clear()
    notebook.channel.push({"type": "cleared"})
    assert view.newest == []


def test_a_page_that_cannot_be_reached_costs_one_sentence_and_no_record(notebook, view, capsys):
    view.comm.broken = True
    notebook.store.add(example_record(1))
    notebook.store.add(example_record(2))
    assert len(notebook.store.records()) == 2
    assert "could not update a TraceView (OSError: the page is gone)" in capsys.readouterr().err
    view.comm.broken = False
    notebook.store.add(example_record(3))
    assert len(view.newest) == 3


def test_an_observer_that_fails_is_heard_and_fails_no_cell(notebook, view, capsys):
    def fail(change):
        raise ValueError("my own mistake")

    view.observe(fail, "newest")
    notebook.store.add(example_record())
    assert "ValueError: my own mistake" in capsys.readouterr().err
    assert len(view.newest) == 1


# -- the running cell in the view -----------------------------------------------------------------


def test_a_cell_that_runs_a_while_is_told_with_its_name_and_seconds(notebook, view):
    notebook.run_a_while()
    (live,) = lives(view)
    assert live["running"]["cell"]["name"] == "model.fit(x, y)"
    assert live["running"]["elapsed_s"] == 0.0
    assert live["counters"] is None
    assert notebook.extension.live_counters.renewed == 1


def test_counters_come_as_messages_of_any_thread_and_change_no_trait(notebook, view):
    threads = []
    view.observe(lambda change: threads.append(threading.current_thread()))
    notebook.run_a_while()
    notebook.now += 1
    notebook.sample([0.9, 2.0, 890_000_000])
    assert threads == []
    assert told(view) == []
    assert lives(view)[-1]["counters"] == {
        "series": [
            {"device": "process", "quantity": "utilisation", "unit": "cores"},
            {"device": "process", "quantity": "memory", "unit": "bytes"},
        ],
        "values": [2.0, 890_000_000],
    }
    assert notebook.extension.live_counters.renewed == 2


def test_series_are_remembered_and_a_gpu_is_told_by_its_power_only_without_a_utilization(notebook, view):
    notebook.run_a_while()
    notebook.now += 1
    notebook.sample([0.5, 1, 300.0, None, 2, 200.0], series=GPUS[:6])
    notebook.now += 1
    notebook.sample([0.6, 1, 300.0, None, 2, 210.0])
    counters = lives(view)[-1]["counters"]
    assert [(one["device"][:5], one["quantity"]) for one in counters["series"]] == [
        ("GPU 0", "utilisation"),
        ("GPU 1", "power"),
    ]
    assert counters["values"] == [0.6, 210.0]


def test_a_message_about_eight_gpus_is_small(notebook, view):
    notebook.run_a_while()
    notebook.now += 1
    notebook.sample([0.123] * (len(SERIES) + len(GPUS)), series=[*SERIES, *GPUS])
    assert len(lives(view)[-1]["counters"]["values"]) == 2 + 8
    assert len(json.dumps(lives(view)[-1])) < 2_000


def test_a_running_cell_is_at_most_one_message_a_second(notebook, view):
    notebook.run_a_while()
    for _ in range(40):
        notebook.sample([0.9, 2.0, 1])
    assert len(lives(view)) == 1 + 20


def test_short_cells_are_not_told_and_nobody_asks_for_counters(notebook, view):
    for number in range(1_000):
        notebook.begin_cell(number)
        notebook.end_cell(number)
    assert len(notebook.timers) == 1
    notebook.wait()
    assert lives(view) == []
    assert notebook.extension.live_counters.renewed == 0


def test_when_the_cell_has_ended_the_line_goes_and_nothing_more_is_sent_or_asked_for(notebook, view):
    notebook.run_a_while()
    notebook.end_cell()
    assert lives(view)[-1] is None
    sent, renewed = len(lives(view)), notebook.extension.live_counters.renewed
    for _ in range(10):
        notebook.sample([0.9, 2.0, 1])
    notebook.store.add(example_record(2))
    assert len(lives(view)) == sent
    assert notebook.extension.live_counters.renewed == renewed


def test_a_block_that_ends_inside_a_cell_leaves_the_line_there(notebook, view):
    notebook.run_a_while()
    notebook.store.add(example_record(2, name="a block"))
    assert lives(view)[-1] is not None


def test_a_page_that_cannot_be_reached_fails_no_cell_and_is_told_again(notebook, view, capsys):
    view.comm.broken = True
    notebook.run_a_while()
    notebook.now += 1
    notebook.sample([0.9, 2.0, 1])
    view.comm.broken = False
    notebook.now += 1
    notebook.sample([0.9, 2.0, 1])
    assert len(lives(view)) == 1
    assert capsys.readouterr().err == ""


def test_a_view_that_was_closed_or_has_ended_tells_nothing_and_asks_for_nothing(notebook, view):
    comm = view.comm
    notebook.channel.push({"type": "goodbye"})
    notebook.turn()
    notebook.run_a_while()
    assert lives(view) == []
    view.close()
    notebook.run_a_while()
    assert "custom" not in [message["method"] for message in comm.sent if message is not None]
    assert notebook.extension.live_counters.renewed == 0


def test_a_view_that_is_closed_while_its_first_message_waits_asks_for_nothing(notebook, view):
    notebook.begin_cell()
    view.close()
    notebook.wait()
    assert notebook.extension.live_counters.renewed == 0


def test_without_a_view_nobody_asks_for_counters(notebook, picker):
    notebook.run_a_while()
    notebook.sample([0.9, 2.0, 1])
    assert notebook.extension.live_counters.renewed == 0
    assert [message for message in picker.comm.sent if message["method"] == "custom"] == []
