"""`timeline`: spans by part, how long each was busy, the drawing and the table beside it."""

import base64
import re
import threading
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.show.page.chart import COLOURS
from jupyter_mlgpu.teach.lessons import timelines
from jupyter_mlgpu.teach.lessons.timelines import timeline


@pytest.fixture
def clock(monkeypatch):
    """Times that the timeline reads, one after the other."""
    moments = []
    monkeypatch.setattr(timelines, "real_time", SimpleNamespace(perf_counter=lambda: moments.pop(0)))
    return moments


def recorded(clock, *spans):
    times = timeline()
    for part, start, end in spans:
        clock[:] = [start, end]
        with times(part):
            pass
    return times


def test_time_begins_with_the_first_span_and_parts_stand_in_the_order_in_which_they_began(clock):
    found = recorded(clock, ("computing", 7.0, 8.0), ("loading", 5.0, 6.5))
    assert found.spans() == {"loading": [(0.0, 1.5)], "computing": [(2.0, 3.0)]}
    assert found.seconds() == 3.0


def test_spans_of_one_part_that_overlap_count_once(clock):
    found = recorded(clock, ("loading", 0.0, 2.0), ("loading", 1.0, 3.0), ("loading", 4.0, 5.0))
    assert found.busy("loading") == 4.0


def test_a_span_ends_with_an_error_too(clock):
    times = timeline()
    clock[:] = [1.0, 2.0]
    with pytest.raises(OSError, match="gone"), times("loading"):
        raise OSError("gone")
    assert times.busy("loading") == 1.0


def test_threads_may_record_at_the_same_time():
    times = timeline()
    both = threading.Barrier(2)

    def load():
        with times("loading"):
            both.wait(10)

    threads = [threading.Thread(target=load) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(times.spans()["loading"]) == 2
    assert 0 < times.busy("loading") <= times.seconds()


def test_the_table_says_how_busy_each_part_was_and_the_drawing_has_a_bar_for_each_span(clock):
    found = recorded(clock, ("loading", 0.0, 3.0), ("computing", 3.0, 4.0))
    assert re.search(r"loading +1 +3 +75\n", repr(found))
    assert re.search(r"computing +1 +1 +25$", repr(found).rstrip(), re.MULTILINE)
    drawn = base64.b64decode(re.search(r"base64,([A-Za-z0-9+/=]+)", found._repr_html_())[1]).decode()
    loading, computing = (
        float(re.search(rf'fill="{colour}" width="([\d.]+)"', drawn)[1]) for colour in COLOURS[:2]
    )
    assert loading == pytest.approx(3 * computing, rel=0.01)


def test_a_timeline_without_spans_says_so():
    assert timeline().seconds() == 0.0
    assert "nothing" in repr(timeline())
