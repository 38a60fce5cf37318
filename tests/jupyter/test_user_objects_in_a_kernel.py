"""Values, results, items, locals and exceptions that note who touches them, in a real kernel."""

import json

import pytest

pytestmark = pytest.mark.kernel

SET_UP = """\
import json, time, types, warnings
from jupyter_mlgpu.testing.proxies import (
    TouchLog, dead_reference, touchable, touchable_error, touchable_object
)
log = TouchLog()
lazy, dead, LazyType, held = touchable_object(log), dead_reference(), touchable(log), []
held.append([touchable_object(log), {"key": touchable_object(log)}])
def work(seconds=0.4):
    local, inside, gone = touchable_object(log), [lazy], dead
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        local, lazy
lazy
"""


def touches(notebook):
    """What our package ran of these objects, by all cells so far."""
    told = notebook.run("print(json.dumps(log.by()))")
    return json.loads(told.text.strip().splitlines()[0])


@pytest.mark.parametrize(
    ("cell", "status"),
    [
        ("work()", "ok"),
        ("work(); lazy", "ok"),
        ("lazy\nwork(0.01)\nlazy", "ok"),
        ("x = lazy, dead, LazyType, held\nwork()\nx is lazy", "ok"),
        ("work()\nraise touchable_error(log)", "error"),
        ("try:\n    raise touchable_error(log)\nexcept Exception:\n    work()", "ok"),
        ("%%mlc_trace --items {3}\nwork()\nlazy", "ok"),
        ("%mlc_trace why\nwork(0.1)", "ok"),
    ],
)
def test_a_cell_with_objects_that_tell_of_touches_is_measured_and_none_is_touched(plain, cell, status):
    plain.run(SET_UP)
    result = plain.run(cell)
    again = plain.run("held, lazy, dead, LazyType, _, Out\nwork();")
    assert again.status == "ok", again.error
    assert again.receipt["limit"] is not None, "no object ends the sampling of later cells"
    assert result.status == status
    assert touches(plain) == []


def test_a_lazy_data_set_is_not_loaded_by_sampling(plain):
    plain.run(
        "import time\nclass Data:\n    loaded = False\n    @property\n    def __class__(self):\n"
        "        Data.loaded = True\n        return Data\ndata = Data()\n"
        "def work():\n    end = time.perf_counter() + 0.5\n"
        "    while time.perf_counter() < end:\n        pass\n"
    )
    assert plain.run("work()").receipt["limit"] is not None
    assert plain.run("print(Data.loaded)").text.startswith("False")


def test_an_object_that_warns_when_it_is_read_warns_in_no_cell(plain):
    plain.run(
        "import time, warnings\nclass Deprecated:\n    def __getattribute__(self, name):\n"
        "        warnings.warn('use another', FutureWarning)\n"
        "        return object.__getattribute__(self, name)\n"
        "old = Deprecated()\n"
    )
    result = plain.run("end = time.perf_counter() + 0.5\nwhile time.perf_counter() < end:\n    pass\n")
    assert "FutureWarning" not in result.text
    assert result.receipt["limit"] is not None
