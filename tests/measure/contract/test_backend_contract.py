"""What every backend keeps to: one suite, run over whatever is installed here.

A framework that is not installed is left out, and the run's last lines say which; `make test-frameworks` has
them all. On a machine with a GPU the same suite runs on the GPU (tests/device says how). On CPUs, TensorFlow
and JAX get two CPU devices.
"""

from __future__ import annotations

import sys
import threading

import pytest

from jupyter_mlgpu.measure.activity.markers import Markers
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.allocator import RESERVED
from jupyter_mlgpu.measure.frameworks.base import CAPABILITIES


def test_it_is_loaded_and_tells_its_version(subject):
    assert subject.backend.loaded()
    assert subject.backend.versions()[subject.backend.name]


def test_devices_have_short_names_kinds_and_the_frameworks_own_names(subject):
    devices = subject.devices
    assert devices[0].name == "cpu:0"
    assert len({one.name for one in devices}) == len(devices)
    assert {one.framework for one in devices} == {subject.backend.name}
    assert all(one.native_name and one.kind for one in devices)


def test_once_started_all_devices_are_known_without_asking_for_a_start(subject):
    for device in subject.devices:
        scope = subject.backend.enter(device)
        subject.operate()
        scope.leave()
    assert subject.backend.started()
    assert subject.backend.devices() == subject.devices


def test_every_capability_is_there_or_says_why_not(subject):
    for device in subject.devices:
        told = subject.backend.capabilities(device)
        assert [one.name for one in told] == list(CAPABILITIES)
        assert all(one.available == (one.reason is None) for one in told)


def test_hardware_is_described_and_the_missing_gpu_explained(subject):
    for device in subject.devices:
        details = subject.backend.details(device)
        assert details.memory is None or details.memory > 0
    assert subject.backend.why_no_gpu().endswith(".")


def test_a_framework_from_which_nothing_is_hidden_needs_no_restart(subject):
    assert subject.backend.needs_restart() is None


def test_the_default_device_is_where_work_goes_by_itself(subject):
    default = subject.backend.default_device()
    assert default is None or default.name == subject.where()


def test_work_goes_to_every_device_that_is_entered(subject):
    for device in subject.devices:
        assert subject.able(device, "scope").available
        scope = subject.backend.enter(device)
        assert scope.holds()
        assert subject.where() == device.name
        assert scope.leave() is None


def test_leaving_puts_back_what_was_there(subject):
    before = subject.where()
    scope = subject.backend.enter(subject.other)
    scope.leave()
    assert subject.where() == before


def test_scopes_nest(subject):
    other = subject.other
    home = next(device for device in subject.devices if device.name == subject.where())
    outer = subject.backend.enter(other)
    inner = subject.backend.enter(home)
    assert not outer.holds()
    assert inner.holds()
    assert subject.where() == home.name
    inner.leave()
    assert outer.holds()
    assert subject.where() == other.name
    outer.leave()
    assert subject.where() == home.name


def test_leaving_in_the_wrong_order_is_said_and_still_puts_back(subject):
    other = subject.other
    before = subject.where()
    home = next(device for device in subject.devices if device.name == before)
    outer = subject.backend.enter(other)
    subject.backend.enter(home)
    assert outer.leave() is not None
    assert subject.where() == before


def test_other_threads_keep_their_own_device(subject):
    if not subject.apart:
        pytest.skip(f"{subject.backend.name} has one device for all threads")
    other = subject.other
    before = subject.where()
    scope = subject.backend.enter(other)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(subject.where()))
    thread.start()
    thread.join()
    scope.leave()
    assert seen == [before]


def test_what_it_has_compiled_is_told_where_it_tells_anything_and_a_second_call_compiles_nothing(subject):
    subject.backend.observe().finish()
    before = subject.backend.compiled()
    if subject.compile is None:
        assert before is None
        return
    function = subject.compile()
    first = subject.backend.compiled()
    assert first.seconds > before.seconds
    assert first.programs is None or first.programs > before.programs
    function()
    assert subject.backend.compiled() == first


def test_what_runs_a_compiled_function_stands_in_none_that_is_known_to_compile(subject):
    if subject.compile is None or subject.backend.name not in registry.FRAMEWORKS:
        pytest.skip(f"{subject.backend.name} compiles nothing that is reported")
    markers = Markers(lambda: [registry.framework(subject.backend.name).stack_rules])
    at_first = functions_called(subject.compile)
    compiles = {one for one in at_first if markers.doing(*one) == "compiling"}
    assert compiles
    assert not compiles & functions_called(subject.compile())


def functions_called(call):
    """The files and names of all functions of Python that are called meanwhile."""
    called = set()

    def note(frame, event, argument):
        called.add((frame.f_code.co_filename, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return called


def test_where_work_ran_is_told_or_the_reason_why_it_is_not_known(subject):
    for device in subject.devices:
        scope = subject.backend.enter(device)
        observation = subject.backend.observe()
        kept = subject.operate()
        subject.backend.synchronize()
        seen = observation.finish()
        scope.leave()
        del kept
        if subject.able(device, "placement").available:
            assert {entry.device for entry in seen.ran_on} == {device.name}
        elif seen.ran_on is None:
            told = seen.why_missing
            assert seen.only == device.name or subject.able(device, "placement").reason in told
        else:  # what proves that a device worked, without a count
            assert {entry.device for entry in seen.ran_on} == {device.name}
            assert {entry.evidence for entry in seen.ran_on} <= {
                "only device",
                "allocator",
                "results",
                "default device",
            }
            assert all(entry.operations is None and entry.why_missing for entry in seen.ran_on)


def test_operations_are_counted_where_placement_is_known_and_nowhere_else(subject):
    for device in subject.devices:
        scope = subject.backend.enter(device)
        observation = subject.backend.observe()
        kept = subject.operate()
        entries = observation.finish().ran_on or ()
        scope.leave()
        del kept
        counted = [entry.operations is not None for entry in entries]
        assert set(counted) <= {subject.able(device, "placement").available}


def test_a_cell_that_does_nothing_claims_no_device(subject):
    subject.operate()
    subject.backend.synchronize()
    assert not subject.backend.observe().finish().ran_on


def test_a_value_that_stays_on_another_device_is_named_with_both_devices(subject):
    home, other = subject.where(), subject.other
    value = subject.make()
    said = subject.backend.misplaced_note({"the_value": value, "plain": 1}, other)
    if not subject.stays:
        assert said is None
        return
    assert "the_value" in said
    assert "plain" not in said
    assert f"on {home}, not on {other.name}" in said
    assert said.endswith(".")


def test_a_value_that_is_on_the_device_asked_for_is_not_mentioned(subject):
    here = next(device for device in subject.devices if device.name == subject.where())
    assert subject.backend.misplaced_note({"the_value": subject.make()}, here) is None


def test_no_code_of_the_users_runs_when_values_are_looked_at(subject):
    class Untouchable:
        def __getattribute__(self, name):
            raise SystemExit(f"{name} was asked for")

        __iter__ = __len__ = __eq__ = __hash__ = __getattribute__

    for device in subject.devices:
        assert (
            subject.backend.misplaced_note({"x": Untouchable(), "y": [Untouchable()], "z": print}, device)
            is None
        )


def test_the_allocators_peak_is_told_or_the_reason_why_it_is_not_known(subject):
    for device in subject.devices:
        scope = subject.backend.enter(device)
        observation = subject.backend.observe()
        made = subject.allocate()
        subject.backend.synchronize()
        peaks = [one for one in observation.finish().readings if one.quantity == "peak_memory_allocator"]
        scope.leave()
        del made
        if not subject.able(device, "allocator_peak").available:
            assert all(one.value is None or one.scope == "device" for one in peaks)
        elif all(one.value is None for one in peaks):
            assert all("reset" in one.why_missing for one in peaks)
        else:
            assert max(one.value or 0 for one in peaks) >= 4 * 1024**2


def test_what_the_allocator_holds_now_is_told_or_the_reason_why_it_is_not_known(subject):
    for device in subject.devices:
        scope = subject.backend.enter(device)
        made = subject.allocate()
        subject.backend.synchronize()
        in_use, *reserved = subject.backend.memory(device)
        scope.leave()
        del made
        assert (in_use.quantity, in_use.unit) == ("memory_allocator", "bytes")
        assert all(one.quantity == RESERVED and one.value >= in_use.value for one in reserved)
        if subject.able(device, "allocator_peak").available:
            assert in_use.value >= 4 * 1024**2
        else:
            assert in_use.value is None or in_use.scope == "device"


def test_after_waiting_what_was_given_to_the_device_is_finished(subject):
    for device in subject.devices:
        assert subject.able(device, "waiting").available
        scope = subject.backend.enter(device)
        result = subject.operate()
        subject.backend.synchronize()
        assert subject.ready(result)
        scope.leave()


def counting(subject):
    if not subject.able(subject.devices[0], "placement").available:
        pytest.skip(f"{subject.backend.name} does not watch operations, so it does not count them")


def test_observations_nest_and_each_sees_its_own_part(subject):
    counting(subject)
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
    counting(subject)
    other = subject.other
    observation = subject.backend.observe()
    scope = subject.backend.enter(other)
    subject.operate()
    scope.leave()
    subject.operate()
    shares = [entry.share for entry in observation.finish().ran_on]
    assert len(shares) == 2
    assert sum(shares) == pytest.approx(1.0)


def test_an_observation_without_work_saw_none(subject):
    counting(subject)
    assert subject.backend.observe().finish().ran_on == ()


def test_other_threads_are_watched_apart(subject):
    counting(subject)
    if not subject.apart:
        pytest.skip(f"{subject.backend.name} watches all threads together")
    here = subject.backend.observe()
    thread = threading.Thread(target=subject.operate)
    thread.start()
    thread.join()
    assert not here.finish().ran_on  # nothing is known to have run, or that something did is


#: What exercises each capability: it fails on a device that claims the capability and lacks it.
EXERCISES = {
    "scope": test_work_goes_to_every_device_that_is_entered,
    "waiting": test_after_waiting_what_was_given_to_the_device_is_finished,
    "placement": test_where_work_ran_is_told_or_the_reason_why_it_is_not_known,
    "allocator_peak": test_the_allocators_peak_is_told_or_the_reason_why_it_is_not_known,
}


def test_every_capability_has_a_test_that_exercises_it():
    assert set(EXERCISES) == set(CAPABILITIES)


@pytest.mark.parametrize(
    ("subject", "framework", "kind"),
    [
        pytest.param(framework, framework, kind, id=f"{framework}-{kind}", marks=pytest.mark.needs(framework))
        for framework in registry.OWN
        for kind in registry.framework(framework).verified
    ],
    indirect=["subject"],
)
def test_what_is_marked_verified_is_exercised_on_such_hardware(subject, framework, kind, monkeypatch):
    devices = [device for device in subject.devices if device.kind == kind]
    if not devices:
        pytest.skip(f"{framework} has no {kind} device here, so what is verified there was not tried again")
    entered = []
    enter = subject.backend.enter
    monkeypatch.setattr(subject.backend, "enter", lambda device: entered.append(device) or enter(device))
    for name, exercise in EXERCISES.items():
        entered.clear()
        try:
            exercise(subject)
        except pytest.skip.Exception as skipped:
            pytest.fail(f"{framework} on {kind} claims {name}, and its test was skipped ({skipped})")
        assert {one for one in devices if subject.able(one, name).available} <= set(entered), name


@pytest.mark.parametrize("name", registry.FRAMEWORKS)
def test_every_registered_backend_is_in_this_suite(name, tried):
    assert name in tried
