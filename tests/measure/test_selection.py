"""Choosing a device: only what exists, put back afterwards, nothing in silence."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError, OtherGpuError, RestartNeededError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.testing import FakeBackend

word = DeviceWord.parse


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend(devices=("cpu:0", "cpu:1", "gpu:0"))


@pytest.fixture
def selection(backend) -> DeviceSelection:
    return DeviceSelection(lambda: [backend])


def test_a_device_that_does_not_exist_is_refused_with_those_that_do(selection):
    selection.select(word("cpu:1"))
    with pytest.raises(DeviceError, match=r"no device gpu:7 here: found cpu:0, cpu:1, gpu:0"):
        selection.select(word("gpu:7"))
    assert selection.requested() == {"*": "cpu:1"}


def test_cells_run_on_the_device_and_leave_it_after_themselves(selection, backend):
    selection.select(word("gpu"))
    selection.enter()
    assert backend.current == "gpu:0"
    assert selection.leave() == []
    assert backend.current is None


def test_scopes_nest(selection, backend):
    selection.select(word("gpu"))
    selection.enter()
    selection.enter()
    selection.leave()
    assert backend.current == "gpu:0"
    selection.leave()
    assert backend.current is None


def test_the_rest_of_the_running_cell_moves_too(selection, backend):
    selection.select(word("gpu"))
    selection.enter()
    selection.select(word("cpu:1"))
    assert backend.current == "cpu:1"
    selection.leave()
    assert backend.current is None


def test_inside_a_device_scope_of_the_users_own_the_request_waits_for_the_next_cell(selection, backend):
    selection.select(word("gpu"))
    selection.enter()
    backend.current = "cpu:1"
    selection.select(word("cpu"))
    assert backend.current == "cpu:1"
    selection.leave()
    selection.enter()
    assert backend.current == "cpu:0"


def test_a_device_left_open_by_the_cell_is_put_back_and_said(selection, backend):
    selection.select(word("gpu"))
    selection.enter()
    backend.current = "cpu:1"
    assert selection.leave() == ["A device scope was left open."]
    assert backend.current is None


def test_before_a_framework_is_loaded_the_request_waits_for_it(backend):
    loaded = []
    selection = DeviceSelection(lambda: loaded)
    selection.select(word("cpu"))
    assert selection.words() == {"*": "cpu"}
    selection.enter()
    loaded.append(backend)
    selection.framework_loaded(backend)
    assert backend.current == "cpu:0"
    selection.leave()
    assert backend.current is None


def test_without_a_request_nothing_is_entered(selection, backend):
    selection.enter()
    assert backend.current is None
    assert selection.leave() == []
    assert selection.requested() == {}


class CudaBackend(FakeBackend):
    """A framework with an NVIDIA GPU."""

    def devices(self):
        return tuple(
            replace(one, kind="cuda" if one.kind == "gpu" else one.kind) for one in super().devices()
        )


def test_the_name_of_another_kind_of_gpu_is_refused_and_nothing_changes():
    selection = DeviceSelection(lambda: [FakeBackend("one"), CudaBackend("two", ("cpu:0", "gpu:0"))])
    selection.select(word("cpu"))
    with pytest.raises(OtherGpuError, match="This machine's GPU is CUDA's: use `gpu`"):
        selection.select(word("mps"))
    assert selection.words() == {"*": "cpu"}
    selection.select(word("cuda"))
    assert selection.words() == {"*": "gpu"}
    assert [device.name for device in selection.devices()] == ["gpu:0"]


def test_a_restart_is_not_offered_for_a_macs_gpu():
    alone = FakeBackend(devices=("cpu:0",))
    alone.hidden = say("The GPU is hidden.")
    with pytest.raises(RestartNeededError):
        DeviceSelection(lambda: [alone]).select(word("cuda"))
    with pytest.raises(DeviceError, match="no device mps:0 here") as refused:
        DeviceSelection(lambda: [alone]).select(word("mps"))
    assert not isinstance(refused.value, RestartNeededError)


@pytest.fixture
def several() -> tuple[FakeBackend, FakeBackend]:
    return FakeBackend("one", ("cpu:0",)), FakeBackend("two", ("cpu:0", "gpu:0"))


def test_a_word_for_all_frameworks_holds_for_those_that_have_the_device_and_names_the_others(several):
    one, two = several
    selection = DeviceSelection(lambda: several)
    selection.select(word("gpu"))
    assert selection.requested() == {"two": "gpu:0"}
    assert selection.lacking() == ["one"]
    selection.enter()
    assert (one.current, two.current) == (None, "gpu:0")
    assert selection.leave() == []


def test_a_word_that_no_framework_has_a_device_for_is_refused_with_what_each_has(several):
    selection = DeviceSelection(lambda: several)
    with pytest.raises(DeviceError, match="no device gpu:7 here: one has cpu:0; two has cpu:0, gpu:0"):
        selection.select(word("gpu:7"))
    assert selection.requested() == {}


def test_a_framework_that_nobody_has_used_is_not_started_where_another_has_the_device():
    """TensorFlow imports JAX, whose start would take the GPU's memory."""
    used, unused = FakeBackend("used", ("cpu:0", "cpu:1")), FakeBackend("unused", ("cpu:0",))
    unused.started = lambda: False
    unused.find_devices = lambda: pytest.fail("it was started")
    selection = DeviceSelection(lambda: (unused, used))
    selection.select(word("cpu:1"))
    assert selection.requested() == {"*": "cpu:1"}
    assert selection.lacking() == []
    selection.enter()
    assert used.current == "cpu:1"
    assert selection.leave() == []


def test_a_framework_may_have_a_word_of_its_own(several):
    one, two = several
    selection = DeviceSelection(lambda: several)
    selection.select(word("cpu"))
    selection.select(word("gpu"), "two")
    assert selection.requested() == {"one": "cpu:0", "two": "gpu:0"}
    assert selection.words() == {"*": "cpu", "two": "gpu"}
    selection.enter()
    assert (one.current, two.current) == ("cpu:0", "gpu:0")
    selection.leave()
    assert (one.current, two.current) == (None, None)


def test_a_word_for_one_framework_leaves_the_others_alone(several):
    one, two = several
    selection = DeviceSelection(lambda: several)
    selection.select(word("gpu"), "two")
    assert selection.requested() == {"two": "gpu:0"}
    selection.enter()
    assert (one.current, two.current) == (None, "gpu:0")
    selection.leave()


def test_a_later_word_for_all_frameworks_takes_the_place_of_their_own(several):
    selection = DeviceSelection(lambda: several)
    selection.select(word("gpu"), "two")
    selection.select(word("cpu"))
    assert selection.requested() == {"*": "cpu:0"}


@pytest.mark.parametrize("said", ["auto", "any"])
def test_automatic_takes_a_choice_back(several, said):
    selection = DeviceSelection(lambda: several)
    selection.select(word("cpu"))
    selection.select(word(said))
    assert (selection.words(), selection.requested(), selection.devices()) == ({}, {}, [])
    selection.enter()
    assert [one.current for one in several] == [None, None]
    selection.leave()


def test_one_framework_may_choose_by_itself_where_the_others_are_told(several):
    selection = DeviceSelection(lambda: several)
    selection.select(word("cpu"))
    selection.select(word("auto"), "two")
    assert selection.requested() == {"one": "cpu:0"}
    assert selection.words() == {"*": "cpu", "two": "auto"}
    assert selection.lacking() == []


def test_a_running_cell_is_let_go_by_automatic(selection, backend):
    selection.select(word("cpu:1"))
    selection.enter()
    selection.select(word("auto"))
    assert backend.current is None
    selection.leave()


def test_a_cell_may_be_automatic_alone(selection, backend):
    selection.select(word("cpu:1"))
    selection.enter()
    selection.select_for_cell(word("auto"))
    assert (backend.current, selection.requested()) == (None, {})
    selection.leave()
    assert selection.requested() == {"*": "cpu:1"}


def test_a_cell_may_have_a_device_of_its_own_and_the_next_one_has_not(selection, backend):
    selection.select(word("gpu"))
    selection.enter()
    selection.select_for_cell(word("cpu:1"))
    assert backend.current == "cpu:1"
    assert selection.requested() == {"*": "cpu:1"}
    selection.leave()
    assert backend.current is None
    assert selection.requested() == {"*": "gpu:0"}


def test_a_cell_inside_a_cell_with_a_device_of_its_own_stays_there(selection, backend):
    selection.enter()
    selection.select_for_cell(word("cpu:1"))
    selection.enter()
    assert backend.current == "cpu:1"
    selection.leave()
    selection.leave()
    assert backend.current is None


def test_a_cells_own_device_that_is_missing_is_refused_and_the_cell_stays_where_it_was(selection, backend):
    selection.select(word("gpu"))
    selection.enter()
    with pytest.raises(DeviceError):
        selection.select_for_cell(word("gpu:7"))
    assert backend.current == "gpu:0"
    selection.leave()


def test_a_framework_whose_devices_do_not_start_is_answered_with_its_own_words():
    class Broken(FakeBackend):
        def find_devices(self):
            raise RuntimeError("no driver")

    selection = DeviceSelection(lambda: [Broken()])
    with pytest.raises(DeviceError, match=r"fake could not start its devices \(no driver\)"):
        selection.select(word("gpu"))
    assert selection.requested() == {}
