"""A thread's sleep that others may end."""

import threading
import time

from jupyter_mlgpu.measure.alarm import Alarm


def test_nobody_rings_and_the_time_goes_by():
    before = time.monotonic()
    assert not Alarm().wait(0.02)
    assert time.monotonic() - before >= 0.02


def test_who_sleeps_is_woken_up():
    alarm, before = Alarm(), time.monotonic()
    threading.Timer(0.02, alarm.ring).start()
    assert alarm.wait(60)
    assert time.monotonic() - before < 30


def test_who_is_rung_for_does_not_fall_asleep_and_twice_is_once():
    alarm = Alarm()
    alarm.ring()
    alarm.ring()
    assert alarm.wait(60)
    assert not alarm.wait(0.001), "it was forgotten with the first wait"
