"""What every backend keeps to: one suite, run over TensorFlow on two CPUs and over the public fake."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from jupyter_mlgpu.backends import registry
from jupyter_mlgpu.testing import FakeBackend


@dataclass
class Subject:
    """A backend with two CPU devices, and a way to run one operation."""

    backend: Any
    operate: Callable[[], None]


def fake() -> Subject:
    backend = FakeBackend(devices=("cpu:0", "cpu:1"))
    return Subject(backend, backend.run)


def tensorflow() -> Subject:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow's own, while it is imported
        import tensorflow as tf
    cpu = tf.config.list_physical_devices("CPU")[0]
    if not tf.config.get_logical_device_configuration(cpu):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    return Subject(registry.backend("tensorflow"), lambda: tf.add(tf.constant(1.0), 1.0))


@pytest.fixture(scope="module", params=[fake, tensorflow], ids=lambda make: make.__name__)
def subject(request) -> Subject:
    return request.param()


def device(subject, name):
    return next(one for one in subject.backend.devices() if one.name == name)


def where(subject) -> set[str]:
    """Where an operation that is run now ends up."""
    observation = subject.backend.observe()
    subject.operate()
    return {entry.device for entry in observation.finish().ran_on}


def test_it_is_loaded_and_tells_its_version(subject):
    assert subject.backend.loaded()
    assert subject.backend.versions()[subject.backend.name]


def test_devices_have_short_names_kinds_and_the_frameworks_own_names(subject):
    assert [one.name for one in subject.backend.devices()] == ["cpu:0", "cpu:1"]
    assert {one.kind for one in subject.backend.devices()} == {"cpu"}
    assert {one.framework for one in subject.backend.devices()} == {subject.backend.name}
    assert all(one.native_name for one in subject.backend.devices())


def test_work_goes_to_the_device_entered(subject):
    scope = subject.backend.enter(device(subject, "cpu:1"))
    assert where(subject) == {"cpu:1"}
    assert scope.leave() is None


def test_leaving_puts_back_what_was_there(subject):
    before = where(subject)
    scope = subject.backend.enter(device(subject, "cpu:1"))
    scope.leave()
    assert where(subject) == before


def test_scopes_nest(subject):
    outer = subject.backend.enter(device(subject, "cpu:1"))
    inner = subject.backend.enter(device(subject, "cpu:0"))
    assert not outer.holds()
    assert inner.holds()
    inner.leave()
    assert where(subject) == {"cpu:1"}
    outer.leave()


def test_leaving_in_the_wrong_order_is_said_and_still_puts_back(subject):
    before = where(subject)
    outer = subject.backend.enter(device(subject, "cpu:1"))
    subject.backend.enter(device(subject, "cpu:0"))
    assert outer.leave() is not None
    assert where(subject) == before


def test_observations_nest_and_each_sees_its_own_part(subject):
    outer = subject.backend.observe()
    subject.operate()
    inner = subject.backend.observe()
    subject.operate()
    seen_inside = inner.finish()
    subject.operate()
    seen_outside = outer.finish()
    inside = sum(entry.operations for entry in seen_inside.ran_on)
    assert sum(entry.operations for entry in seen_outside.ran_on) == 3 * inside


def test_shares_sum_to_one(subject):
    observation = subject.backend.observe()
    scope = subject.backend.enter(device(subject, "cpu:1"))
    subject.operate()
    scope.leave()
    subject.operate()
    shares = [entry.share for entry in observation.finish().ran_on]
    assert len(shares) == 2
    assert sum(shares) == pytest.approx(1.0)


def test_an_observation_without_work_saw_none(subject):
    assert subject.backend.observe().finish().ran_on == ()


def test_synchronize_may_be_called_at_any_time(subject):
    subject.backend.synchronize()
    subject.operate()
    subject.backend.synchronize()


def test_other_threads_keep_their_own_device_and_are_watched_apart():
    subject = tensorflow()
    scope = subject.backend.enter(device(subject, "cpu:1"))
    here = subject.backend.observe()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(where(subject)))
    thread.start()
    thread.join()
    assert seen == [{"cpu:0"}]
    assert here.finish().ran_on == ()
    scope.leave()


@pytest.mark.parametrize("name", registry.BACKENDS)
def test_every_registered_backend_is_in_this_suite(name):
    assert name in {make.__name__ for make in (fake, tensorflow)}
