"""Libraries that train, as stand-ins that call callbacks in the same order as the real ones.

A stand-in computes nothing. Its order of calls was read in Keras 3.15, Lightning 2.6 and transformers 5.24,
and the same tests are run over the real ones (real_trainings.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import jupyter_mlgpu

#: Batches in an epoch.
BATCHES = 4
#: The user's code: called for each batch with its number, from 1 on, and at each epoch's end.
Code = Callable[[int], None]


def nothing(number: int) -> None:
    """Code that does nothing."""


class Training:
    """What a library does, so that one test can be written for all."""

    #: Whether a step of its is one of the optimizer's, of which there are fewer than batches.
    accumulates = True
    #: Whether its callbacks are told of an exception.
    tells_of_exceptions = False

    def callback(self, every: int | None = None) -> Any:
        """Ours, made as a user makes it."""
        raise NotImplementedError

    def fit(
        self,
        callback: Any,
        *,
        epochs: int = 1,
        accumulate: int = 1,
        validate: bool = False,
        batch: Code = nothing,
        epoch_end: Code = nothing,
    ) -> None:
        """Train; `epoch_end` is called by a callback of the user's that stands before ours."""
        raise NotImplementedError


class Base:
    """The base class of a stand-in's callbacks and trackers: what is not overridden does nothing."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("on_"):
            raise AttributeError(name)
        return lambda *arguments, **named: None


class UsersCallback(Base):
    """A callback of the user's in a stand-in."""

    def __init__(self, code: Code) -> None:
        self.on_epoch_end = self.on_train_epoch_end = lambda *arguments, **named: code(0)


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **names: Any) -> None:
    """A module of this name, which is imported from now on."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, name, module)


class FakeKeras(Training):
    """What Keras does in `fit`."""

    accumulates = False

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        stand_in(monkeypatch, "keras", callbacks=SimpleNamespace(Callback=Base))

    def callback(self, every=None):
        return jupyter_mlgpu.KerasCallback(every)

    def fit(self, callback, *, epochs=1, accumulate=1, validate=False, batch=nothing, epoch_end=nothing):
        callbacks = [UsersCallback(epoch_end), callback]

        def tell(event, *values):
            for one in callbacks:
                getattr(one, event)(*values)

        tell("on_train_begin")
        for epoch in range(epochs):
            tell("on_epoch_begin", epoch)
            for number in range(BATCHES):
                batch(epoch * BATCHES + number + 1)
                tell("on_train_batch_end", number)
            if validate:
                tell("on_test_begin")
            tell("on_epoch_end", epoch)
        tell("on_train_end")


class FakeLightning(Training):
    """What PyTorch Lightning does in `fit`."""

    tells_of_exceptions = True

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        stand_in(monkeypatch, "lightning.pytorch", Callback=Base)

    def callback(self, every=None):
        return jupyter_mlgpu.LightningCallback(every)

    def fit(self, callback, **options):
        callbacks = [UsersCallback(options.pop("epoch_end", nothing)), callback]
        trainer = SimpleNamespace(global_step=0, current_epoch=0, sanity_checking=False)

        def tell(event, *values):
            for one in callbacks:
                getattr(one, event)(trainer, None, *values)

        try:
            self._fit(trainer, tell, **options)
        except BaseException as error:
            tell("on_exception", error)
            raise

    def _fit(self, trainer, tell, *, epochs=1, accumulate=1, validate=False, batch=nothing):
        if validate:
            trainer.sanity_checking = True
            tell("on_validation_start")
            trainer.sanity_checking = False
        tell("on_train_start")
        for epoch in range(epochs):
            tell("on_train_epoch_start")
            for number in range(1, BATCHES + 1):
                batch(epoch * BATCHES + number)
                trainer.global_step += number % accumulate == 0
                tell("on_train_batch_end", None, None, number - 1)
            if validate:
                tell("on_validation_start")
            tell("on_train_epoch_end")
            trainer.current_epoch += 1
        tell("on_train_end")


class FakeTrainer(Training):
    """What the Trainer of transformers does in `train`; it evaluates after every other step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        stand_in(monkeypatch, "transformers", TrainerCallback=Base)

    def callback(self, every=None):
        return jupyter_mlgpu.TrainerCallback(every)

    def fit(self, callback, *, epochs=1, accumulate=1, validate=False, batch=nothing, epoch_end=nothing):
        callbacks = [UsersCallback(epoch_end), callback]
        state = SimpleNamespace(epoch=0, global_step=0)

        def tell(event):
            for one in callbacks:
                getattr(one, event)(None, state, None, model=None)

        tell("on_train_begin")
        for epoch in range(epochs):
            tell("on_epoch_begin")
            for number in range(1, BATCHES + 1):
                batch(epoch * BATCHES + number)
                if number % accumulate == 0:
                    state.global_step += 1
                    state.epoch = epoch + number / BATCHES
                    tell("on_step_end")
                    if validate and state.global_step % 2 == 0:
                        tell("on_evaluate")
            tell("on_epoch_end")
        tell("on_train_end")


class FakeAccelerator:
    """What Accelerate does with a tracker of the user's, in the main process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stand_in(monkeypatch, "accelerate")
        stand_in(monkeypatch, "accelerate.tracking", GeneralTracker=Base)

    def start(self, tracker: Any) -> Any:
        """What logs: `log(values, step=...)` and `end_training()`."""
        tracker.start()
        return SimpleNamespace(log=tracker.log, end_training=tracker.finish)
