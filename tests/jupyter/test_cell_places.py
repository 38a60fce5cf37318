"""Where a cell ran, from the values that its code names, and what is said of a model left on the CPU."""

from collections import Counter

from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.cell.cell_places import CellPlaces
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell
from jupyter_mlgpu.measure.activity.activity import Activity, Call, Part
from jupyter_mlgpu.measure.frameworks.base import Device, Observed
from jupyter_mlgpu.measure.frameworks.placed_values import PlacedValue
from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK, GpuWork
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import NO_WORK_SEEN, DeviceUse
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.show.receipts import head
from jupyter_mlgpu.testing import FakeBackend, example_record

CPU = Device("torch", "cpu:0", "cpu", "cpu")


def cell(observed, **changes):
    return replace(EndedCell("model.fit(x)", (), None, 0.0, observed=observed), **changes)


def places_of(record, ended, backends, namespace):
    return CellPlaces(ended, lambda: backends, namespace).add(record)


def placing(**on):
    """PyTorch's stand-in on a machine with a GPU, with the devices of its values."""

    class Placing(FakeBackend):
        def placed_values(self, values):
            return [PlacedValue(name, Counter({on[name]: 2}), "weights") for name in values if name in on]

        def left_on_cpu_note(self, placed):
            return Sentence("The model is on the CPU.")

    return Placing("torch", ("cpu:0", "gpu:0"))


def of_unknown_place(wall=2.0, **changes):
    record = example_record()
    readings = [replace(one, value=wall) if one.quantity == "wall_time" else one for one in record.readings]
    return replace(record, device=DeviceUse({}, None, None), readings=tuple(readings), **changes)


WORKED = {"torch": Observed(None, None, worked=True)}


def test_a_cell_ran_where_the_values_that_it_names_are_and_a_long_one_names_the_model_to_move():
    for wall, notes in ((2.0, ("The model is on the CPU.",)), (0.5, ())):
        record = places_of(of_unknown_place(wall), cell(WORKED), [placing(model="cpu:0")], {"model": 1})
        assert [one.device for one in record.device.ran_on] == ["cpu:0"]
        assert record.notes == notes


def test_who_chose_the_cpu_is_not_told_to_move_the_model():
    ended = cell(WORKED, devices=(CPU,))
    record = places_of(of_unknown_place(), ended, [placing(model="cpu:0")], {"model": 1})
    assert record.device.ran_on
    assert record.notes == ()


def test_without_values_the_default_device_is_named_unless_the_code_names_a_device():
    observed = {"torch": Observed(None, None, worked=True, default="cpu:0")}
    for code, used in (("torch.randn(9) + 1", ["cpu:0"]), ("torch.empty(9, device='mps')", [])):
        record = places_of(of_unknown_place(), cell(observed, code=code), [placing()], {})
        assert [one.device for one in record.device.ran_on or ()] == used
    assert "names a device" in record.device.why_missing


def test_a_sampled_operation_shows_that_the_framework_worked():
    part = Part("native", 1.0, 10, call=Call("x @ w", "torch"))
    for parts, used in (((part,), ["cpu:0"]), ((), [])):
        ended = cell({"torch": Observed(None, None)}, activity=Activity(seconds=1.0, samples=10, parts=parts))
        record = places_of(of_unknown_place(), ended, [placing(model="cpu:0")], {"model": 1})
        assert [one.device for one in record.device.ran_on or ()] == used


def test_a_cell_without_a_sign_of_a_framework_s_work_lacks_no_place():
    idle = {"torch": Observed(None, None)}
    record = places_of(of_unknown_place(), cell(idle), [placing()], {})
    assert record.device.why_missing == NO_WORK_SEEN
    assert head.where(record) == ""
    busy = Reading("device_time", 0.3, "s", "process", "IORegistry", samples=1, device="gpu:0")
    record = of_unknown_place()
    record = replace(record, readings=(*record.readings, busy))
    assert places_of(record, cell(idle), [placing()], {}) is record


def test_where_the_gpu_has_recorded_work_its_records_say_it():
    record = of_unknown_place(gpu_work=(GpuWork("gpu:0", 3, 0.25),))
    assert places_of(record, cell(WORKED), [placing(model="cpu:0")], {"model": 1}) is record


def test_while_the_gpu_s_records_are_to_come_nothing_is_added_and_no_value_is_kept():
    waiting = missing("device_time", STILL_AT_WORK, device="gpu:0")
    record = of_unknown_place()
    unfinished = replace(record, readings=(*record.readings, waiting))
    namespace = {"model": 1}
    places = CellPlaces(cell(WORKED), lambda: [placing(model="cpu:0")], namespace)
    assert places.add(unfinished) is unfinished
    namespace.clear()  # the next cell may delete it
    assert [one.device for one in places.add(record).device.ran_on] == ["cpu:0"]
