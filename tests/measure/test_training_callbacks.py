"""A callback makes a record of each epoch, or of every few steps, of any library's training, without harm."""

import pickle
import signal
import sys

import pytest

import jupyter_mlgpu
from jupyter_mlgpu import measure
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.training_records import VALIDATED
from jupyter_mlgpu.record.errors import UsageError
from tests.support import real_trainings, trainings

BATCHES = trainings.BATCHES
needs = pytest.mark.needs
STAND_INS = [trainings.FakeKeras, trainings.FakeLightning, trainings.FakeTrainer]
REAL = [
    (real_trainings.RealKeras, needs("tensorflow", "torch")),
    (real_trainings.RealLightning, needs("lightning")),
    (real_trainings.RealTrainer, needs("transformers", "accelerate")),
]
#: Tests of what our own part does, which the real libraries run in `make test-all` alone.
real_ones_slow = pytest.mark.parametrize(
    "training",
    [*STAND_INS, *(pytest.param(real, marks=[needed, pytest.mark.slow]) for real, needed in REAL)],
    indirect=True,
)


class StopError(Exception):
    """The user's own."""


@pytest.fixture(params=[*STAND_INS, *(pytest.param(real, marks=needed) for real, needed in REAL)])
def training(request, runtime, monkeypatch, tmp_path):
    if request.param is real_trainings.RealKeras:
        request.getfixturevalue("two_devices")  # for the tests that share this process
    return request.param(monkeypatch, tmp_path)


def names():
    return [record.cell.name for record in jupyter_mlgpu.records()]


def stop_at(number):
    def code(now):
        if now == number:
            raise StopError

    return code


def test_an_epoch_is_a_record(training):
    training.fit(training.callback(), epochs=2)
    assert names() == ["epoch 1", "epoch 2"]
    assert all(record.reading("wall_time").value > 0 for record in jupyter_mlgpu.records())


def test_so_many_steps_are_a_record_across_epochs_and_the_rest_is_one(training):
    training.fit(training.callback(every=3), epochs=2)
    assert names() == ["steps 1 to 3", "steps 4 to 6", "steps 7 to 8"]


@real_ones_slow
def test_a_single_step_may_be_one(training):
    training.fit(training.callback(every=1))
    assert names() == ["step 1", "step 2", "step 3", "step 4"]


def test_where_gradients_are_accumulated_the_optimizers_steps_count_and_for_keras_batches(training):
    training.fit(training.callback(every=1), accumulate=2)
    assert len(names()) == (2 if training.accumulates else 4)


@real_ones_slow
def test_what_limited_each_is_judged(training):
    training.fit(training.callback(), epochs=2)
    for record in jupyter_mlgpu.records():
        assert jupyter_mlgpu.limit(record) is not None or record.why_no_limit


def test_a_validation_is_in_the_epoch_and_said_once(training):
    training.fit(training.callback(), validate=True)
    (epoch,) = jupyter_mlgpu.records()
    assert epoch.notes.count(VALIDATED) == 1


@real_ones_slow
def test_without_a_validation_nothing_is_said_of_one(training):
    training.fit(training.callback())
    training.fit(training.callback(every=2))
    assert not any(VALIDATED in record.notes for record in jupyter_mlgpu.records())


@pytest.mark.parametrize("every", [None, 3])
def test_what_raises_has_no_record_and_the_next_training_is_measured(training, runtime, every):
    callback = training.callback(every)
    with pytest.raises(StopError):
        training.fit(callback, epochs=2, batch=stop_at(BATCHES + 2))
    whole = ["epoch 1"] if every is None else ["steps 1 to 3"]
    assert names() == whole
    assert not (training.tells_of_exceptions and runtime.recorder.open)
    training.fit(callback)
    rest = [] if every is None else ["step 4"]
    assert names() == [*whole, *whole, *rest]
    assert runtime.recorder.open == []


@real_ones_slow
def test_a_callback_of_the_users_that_raises_does_so_itself(training, runtime):
    callback = training.callback()
    with pytest.raises(StopError):
        training.fit(callback, epoch_end=stop_at(0))
    assert names() == []
    training.fit(callback)
    assert names() == ["epoch 1"]
    assert runtime.recorder.open == []


@real_ones_slow
def test_the_end_of_a_block_around_it_gives_up_what_a_training_left_open(training, runtime):
    with pytest.raises(StopError), jupyter_mlgpu.trace("training"):
        training.fit(training.callback(), batch=stop_at(2))
    assert names() == ["training"]
    assert runtime.recorder.open == []


@real_ones_slow
def test_a_block_around_it_has_its_own_record(training):
    with jupyter_mlgpu.trace("training") as whole:
        training.fit(training.callback(), epochs=2)
    assert names() == ["epoch 1", "epoch 2", "training"]
    epochs = jupyter_mlgpu.records()[:2]
    assert sum(one.reading("wall_time").value for one in epochs) < whole.reading("wall_time").value


@real_ones_slow
@pytest.mark.parametrize(("every", "left"), [(None, ["epoch 2"]), (3, ["steps 3 to 5", "steps 6 to 8"])])
def test_what_the_end_of_a_cell_cuts_off_has_no_record_and_what_follows_has(training, runtime, every, left):
    cell = runtime.recorder.start("a cell that has gone on in another thread")
    training.fit(training.callback(every), epochs=2, batch=lambda number: number == 2 and cell.stop())
    assert names() == left


@real_ones_slow
def test_an_interrupt_while_a_record_ends_is_the_users_and_leaves_nothing_open(
    training, runtime, monkeypatch
):
    def interrupted(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(Measurement, "stop", interrupted)
    # Lightning makes an exit of it, and ignores further ones.
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        training.fit(training.callback())
    signal.signal(signal.SIGINT, handler)
    assert names() == []
    assert runtime.recorder.open == []


@real_ones_slow
def test_lines_of_the_program_that_makes_the_callback_are_the_users(training, runtime, monkeypatch):
    asked, start = [], runtime.recorder.start

    def starting(name, *, of_user):
        asked.append(of_user)
        return start(name, of_user=of_user)

    monkeypatch.setattr(runtime.recorder, "start", starting)
    training.fit(training.callback())
    (of_user,) = asked
    assert of_user(sys.modules[type(training).__module__].__file__) == 0
    assert of_user("another.py") is None


@real_ones_slow
def test_what_breaks_in_us_breaks_no_training_and_is_said_once(training, runtime, monkeypatch, capsys):
    def broken(*arguments, **named):
        raise RuntimeError("no probe")

    done = []
    with monkeypatch.context() as patch:
        patch.setattr(runtime.recorder, "start", broken)
        callback = training.callback()
        training.fit(callback, epochs=2, batch=done.append)
    assert len(done) == 2 * BATCHES
    said = capsys.readouterr().err
    assert said.count("could not make a record of this training (RuntimeError: no probe)") == 1
    training.fit(callback)
    assert names() == ["epoch 1"]


@real_ones_slow
def test_a_limit_that_cannot_be_judged_costs_no_record(training, runtime, monkeypatch):
    monkeypatch.setattr(measure, "explain", lambda record, activity, runtime: 1 / 0)
    training.fit(training.callback())
    (epoch,) = jupyter_mlgpu.records()
    assert "ZeroDivisionError" in epoch.why_no_limit


@pytest.mark.parametrize(
    "training", [pytest.param(real, marks=needed) for real, needed in REAL[1:]], indirect=True
)
@pytest.mark.parametrize(
    ("every", "later"), [(None, "epoch 2"), pytest.param(BATCHES, "steps 5 to 8", marks=pytest.mark.slow)]
)
def test_a_training_that_goes_on_from_a_checkpoint_goes_on_counting(training, tmp_path, every, later):
    saved = tmp_path / "saved"
    training.fit(training.callback(), save=saved)
    found = saved / f"checkpoint-{BATCHES}" if saved.is_dir() else saved
    training.fit(training.callback(every), epochs=2, resume=str(found))
    assert names() == ["epoch 1", later]


@needs("lightning")
def test_lightning_under_its_other_name_is_the_same(runtime, monkeypatch, tmp_path):
    import pytorch_lightning

    monkeypatch.delitem(sys.modules, "lightning.pytorch", raising=False)
    callback = jupyter_mlgpu.LightningCallback()
    assert isinstance(callback, pytorch_lightning.Callback)


@needs("lightning")
def test_lightnings_callback_can_be_sent_to_another_process(runtime, monkeypatch, tmp_path):
    training = real_trainings.RealLightning(monkeypatch, tmp_path)
    training.fit(pickle.loads(pickle.dumps(training.callback(every=4))))
    assert names() == ["steps 1 to 4"]


@pytest.mark.parametrize("every", [0, -1, 2.5, True, "100"])
def test_a_number_of_steps_that_is_none_is_refused(every):
    with pytest.raises(UsageError, match="`every` is a number of steps, 1 or more"):
        jupyter_mlgpu.KerasCallback(every)


@pytest.mark.parametrize(
    ("name", "modules", "remedy"),
    [
        ("KerasCallback", ["keras"], 'pip install "jupyter_mlgpu[tensorflow]"'),
        ("LightningCallback", ["lightning.pytorch", "pytorch_lightning"], "pip install lightning"),
        ("TrainerCallback", ["transformers"], 'pip install "transformers[torch]"'),
        ("AccelerateTracker", ["accelerate"], "pip install accelerate"),
    ],
)
def test_without_its_library_one_sentence_says_what_to_install(monkeypatch, name, modules, remedy):
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match="which is not installed in this Python") as refused:
        getattr(jupyter_mlgpu, name)()
    assert remedy in str(refused.value)
