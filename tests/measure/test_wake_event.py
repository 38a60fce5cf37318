"""A thread's sleep that others may end."""

import threading
import time

from jupyter_mlgpu.measure.wake_event import WakeEvent


def test_nobody_rings_and_the_time_goes_by():
    before = time.monotonic()
    assert not WakeEvent().wait(0.02)
    assert time.monotonic() - before >= 0.02


def test_who_sleeps_is_woken_up():
    wake, before = WakeEvent(), time.monotonic()
    threading.Timer(0.02, wake.set).start()
    assert wake.wait(60)
    assert time.monotonic() - before < 30


def test_who_is_rung_for_does_not_fall_asleep_and_twice_is_once():
    wake = WakeEvent()
    wake.set()
    wake.set()
    assert wake.wait(60)
    assert not wake.wait(0.001), "it was forgotten with the first wait"
