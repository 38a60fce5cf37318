"""What is chosen in the sidebar is done in the kernel between two cells, and what it does is told."""

import time

import pytest

from jupyter_mlgpu.jupyter.notebook.browser.device_list import kind_of_new_work
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.device_request import EVERY, DeviceWord
from jupyter_mlgpu.testing import FakeBackend
from tests.support.shared_kernels import NO_DEVICE

pytestmark = pytest.mark.kernel


def tell(notebook, kind, **content):
    return notebook.ask("jupyter_mlgpu_request", {"type": kind, **content})


def events(notebook, kind):
    return [event for delta in notebook.deltas() for event in delta["events"] if event["type"] == kind]


def wait_for_choices(notebook, wanted):
    """The newest choices that satisfy `wanted`."""
    deadline = time.monotonic() + 60
    while not (found := [one["choices"] for one in events(notebook, "choices") if wanted(one["choices"])]):
        assert time.monotonic() < deadline, events(notebook, "choices")
    return found[-1]


def wait_until_said(notebook):
    return wait_for_choices(notebook, lambda choices: choices["said"] is not None)["said"]


def begin(notebook, code):
    """Start a cell and wait until it is told to run."""
    before = len(events(notebook, "running"))
    message = notebook.send(code)
    while len(events(notebook, "running")) == before:
        pass
    return message


@pytest.fixture
def notebook(reload_kernel):
    return reload_kernel()


def test_a_device_chosen_while_the_kernel_is_idle_holds_at_once(notebook):
    assert tell(notebook, "device", word="cpu", framework=None)["status"] == "ok"
    said = wait_until_said(notebook)
    assert said == {
        "sentence": "Cells will run on cpu once a framework is imported.",
        "refused": False,
        "restart": None,
    }
    snapshot = notebook.ask("jupyter_mlgpu_snapshot_request")
    assert snapshot["device"]["requested"] == {"*": "cpu"}
    assert snapshot["choices"] == {"device": None, "trace": None, "said": said}
    assert "Requested device: cpu." in notebook.run("%mlc_device").text


def test_what_was_said_stands_until_the_next_cell_begins(notebook):
    tell(notebook, "device", word="cpu", framework=None)
    wait_until_said(notebook)
    notebook.run("x = 1")
    assert events(notebook, "choices")[-1]["choices"]["said"] is None


def test_a_device_chosen_in_mid_cell_waits_for_the_cells_end(notebook, gate):
    message = begin(notebook, gate.cell)
    tell(notebook, "device", word="cpu", framework=None)
    wish = {"word": "cpu", "framework": None}
    snapshot = notebook.ask("jupyter_mlgpu_snapshot_request")
    assert snapshot["running"] is not None
    assert snapshot["choices"]["device"] == wish
    assert snapshot["device"]["requested"] == {}
    gate.open()
    result = notebook.wait(message)
    assert result.receipt["device"]["requested"] == {}
    assert wait_until_said(notebook)["refused"] is False
    assert notebook.run("%mlc_device").text.startswith("Requested device: cpu.")


def test_a_cell_that_awaits_is_still_running_though_the_event_loop_turns(notebook, gate):
    message = begin(notebook, f"import asyncio\n{gate.cell.replace('time.sleep', 'await asyncio.sleep')}")
    tell(notebook, "device", word="cpu", framework=None)
    tell(notebook, "trace", on=False)
    time.sleep(0.5)  # what would be done at once, were the cell taken for one that has ended
    snapshot = notebook.ask("jupyter_mlgpu_snapshot_request")
    assert snapshot["running"] is not None
    assert (snapshot["choices"]["device"]["word"], snapshot["choices"]["trace"]) == ("cpu", False)
    gate.open()
    assert notebook.wait(message).receipt["device"]["requested"] == {}
    wait_until_said(notebook)
    assert notebook.run("x = 1").receipts == []


def test_of_two_wishes_the_later_one_counts(notebook, gate):
    message = begin(notebook, gate.cell)
    tell(notebook, "device", word="gpu", framework=None)
    tell(notebook, "device", word="cpu", framework=None)
    gate.open()
    notebook.wait(message)
    assert wait_until_said(notebook)["sentence"] == "Cells will run on cpu once a framework is imported."
    assert not any((one["choices"]["said"] or {}).get("refused") for one in events(notebook, "choices"))


@pytest.mark.parametrize("word", ["auto", "any"])
def test_automatic_is_what_held_before_any_choice(notebook, word):
    before = notebook.ask("jupyter_mlgpu_snapshot_request")["device"]
    assert before["pickers"][0]["chosen"] == "auto"
    tell(notebook, "device", word="cpu", framework=None)
    wait_until_said(notebook)
    assert notebook.ask("jupyter_mlgpu_snapshot_request")["device"]["pickers"][0]["chosen"] == "cpu"
    tell(notebook, "device", word=word, framework=None)
    wait_for_choices(notebook, lambda choices: "Automatic" in ((choices["said"] or {}).get("sentence") or ""))
    assert notebook.ask("jupyter_mlgpu_snapshot_request")["device"] == before
    assert notebook.run("%mlc_device").text.startswith("Device: Automatic, so each framework chooses")


def test_a_refusal_is_one_sentence_for_the_browser_and_changes_nothing(notebook):
    tell(notebook, "device", word="gpu:0", framework=None)
    said = wait_until_said(notebook)
    assert said["refused"] is True
    assert said["sentence"].startswith("No framework is imported yet, so it is not known whether")
    tell(notebook, "device", word="cpu", framework="torch")
    said = wait_for_choices(
        notebook, lambda choices: "torch" in ((choices["said"] or {}).get("sentence") or "")
    )["said"]
    assert said["sentence"] == "'torch' is not imported in this kernel; nothing was changed."
    assert notebook.ask("jupyter_mlgpu_snapshot_request")["device"]["requested"] == {}


def test_nothing_of_it_is_printed_into_a_cell(notebook):
    tell(notebook, "device", word="gpu", framework=None)
    wait_until_said(notebook)
    assert notebook.run("x = 1").text == ""


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("device", {}),
        ("device", {"word": "tpu"}),
        ("device", {"word": ["cpu"]}),
        ("device", {"word": "cpu", "framework": {"a": 1}}),
        ("device", {"word": "x" * 1_000_000}),
        ("trace", {}),
        ("trace", {"on": "yes"}),
    ],
)
def test_what_is_no_choice_is_refused_in_one_sentence(plain, kind, content):
    answer = tell(plain, kind, **content)
    assert answer["status"] == "error"
    assert len(answer["evalue"]) < 300
    assert plain.ask("jupyter_mlgpu_snapshot_request")["choices"]["device"] is None


def test_tracing_is_turned_off_and_on_again(notebook):
    tell(notebook, "trace", on=False)
    wait_for_choices(notebook, lambda choices: choices["trace"] is None)
    assert events(notebook, "trace")[-1]["on"] is False
    assert notebook.run("x = 1").receipts == []
    tell(notebook, "trace", on=True)
    while not events(notebook, "trace")[-1]["on"]:
        pass
    assert len(notebook.run("x = 1").receipts) == 1


def test_tracing_turned_off_in_mid_cell_holds_from_the_next_cell_on(notebook, gate):
    message = begin(notebook, gate.cell)
    tell(notebook, "trace", on=False)
    assert notebook.ask("jupyter_mlgpu_snapshot_request")["choices"]["trace"] is False
    gate.open()
    assert len(notebook.wait(message).receipts) == 1
    assert notebook.run("x = 1").receipts == []


def test_after_unloading_nobody_listens(notebook):
    notebook.run("%unload_ext jupyter_mlgpu\n%load_ext jupyter_mlgpu")
    tell(notebook, "device", word="cpu", framework=None)
    wait_until_said(notebook)
    assert notebook.run("x = 1").receipt["outcome"] == "ok"


def test_a_cell_that_repeats_tells_which_run_it_is_at(notebook):
    notebook.run("%%mlc_trace --ops --repeat 2\nx = 1")
    assert [event["run"] for event in events(notebook, "running")] == [
        {"number": 1, "of": 4},
        {"number": 2, "of": 4},
        {"number": 3, "of": 4},
        {"number": 4, "of": 4},
    ]


def test_what_a_long_command_is_at_stands_in_the_snapshot_until_its_cell_ends(notebook, gate):
    runtime = "from jupyter_mlgpu.measure import runtime"
    message = begin(notebook, f"{runtime}\nruntime.current().on_progress('run 2 of 5')\n{gate.cell}")
    while not events(notebook, "progress"):
        pass
    (event,) = events(notebook, "progress")
    running = notebook.ask("jupyter_mlgpu_snapshot_request")["running"]
    assert (event["progress"], event["sequence"]) == ("run 2 of 5", running["cell"]["sequence"])
    assert (running["progress"], running["mode"], running["run"]) == ("run 2 of 5", "light", None)
    gate.open()
    notebook.wait(message)
    notebook.run("x = 1")
    assert events(notebook, "running")[-1]["progress"] is None


def test_with_a_framework_the_choice_is_its_device_and_the_running_cell_stays_where_it_is(two_cpus, gate):
    two_cpus.run("import tensorflow as tf\ntf.ones(3)")
    device = two_cpus.ask("jupyter_mlgpu_snapshot_request")["device"]
    (offered,) = device["pickers"]
    assert [one["word"] for one in offered["words"]] == ["auto", "cpu:0", "cpu:1"]
    assert (offered["framework"], offered["chosen"]) == (None, "auto")
    assert str(offered["missing"][0]).startswith("TensorFlow ")
    assert device["frameworks"][0]["name"] == "tensorflow"
    assert device["frameworks"][0]["versions"]["tensorflow"]
    message = begin(two_cpus, f"{gate.cell}\ny = tf.ones(5) + 1")
    tell(two_cpus, "device", word="cpu:1", framework="tensorflow")
    gate.open()
    assert set(two_cpus.wait(message).ran_on) == {"cpu:0"}
    said = wait_until_said(two_cpus)
    assert said["sentence"].startswith("Cells run on cpu:1 (TensorFlow) from now on.")
    device = events(two_cpus, "device")[-1]["device"]
    assert device["pickers"][0]["chosen"] == "cpu:1"
    assert set(two_cpus.run("z = tf.ones(5) + 1").ran_on) == {"cpu:1"}
    tell(two_cpus, "device", word="gpu:0", framework="tensorflow")
    said = wait_for_choices(two_cpus, lambda choices: (choices["said"] or {}).get("refused"))["said"]
    assert "There is no device gpu:0 here" in said["sentence"]
    two_cpus.run(NO_DEVICE, silent=True)


@pytest.mark.parametrize(
    ("frameworks", "chosen", "kind"),
    [
        ({}, "auto", "cpu"),
        ({}, "gpu", "gpu"),
        ({"jax": ("cpu:0",)}, "auto", "cpu"),
        ({"jax": ("cpu:0", "gpu:0")}, "auto", "gpu"),
        ({"jax": ("cpu:0", "gpu:0")}, "cpu", "cpu"),
        ({"torch": ("cpu:0", "gpu:0")}, "auto", None),
        ({"torch": ("cpu:0", "gpu:0")}, "gpu:0", "gpu"),
        ({"torch": ("cpu:0",), "jax": ("cpu:0", "gpu:0")}, "auto", None),
    ],
)
def test_new_work_goes_to_the_chosen_device_or_where_each_framework_puts_it(
    monkeypatch, frameworks, chosen, kind
):
    backends = tuple(FakeBackend(*framework) for framework in frameworks.items())
    monkeypatch.setattr(registry, "loaded", lambda: backends)
    selection = DeviceSelection(lambda: backends)
    selection._words = {} if chosen == "auto" else {EVERY: DeviceWord.parse(chosen)}
    assert kind_of_new_work(selection) == kind


def test_new_work_stays_on_the_cpu_if_that_is_the_frameworks_default_beside_a_gpu(monkeypatch):
    backend = FakeBackend("jax", ("cpu:0", "gpu:0"))
    backend.default = "cpu:0"
    monkeypatch.setattr(registry, "loaded", lambda: (backend,))
    assert kind_of_new_work(DeviceSelection(lambda: (backend,))) == "cpu"
