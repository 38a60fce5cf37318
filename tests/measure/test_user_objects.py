"""Objects of the user's are looked at without running their code: lazy data, proxies, dead references."""

import io
import logging
import types
import warnings
from collections import Counter

import pytest

from jupyter_mlgpu.jupyter.notebook.cell.named_numbers import whole_numbers
from jupyter_mlgpu.jupyter.notebook.cell.named_values import named_values
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import registered_by_us
from jupyter_mlgpu.measure import user_objects
from jupyter_mlgpu.measure.activity.activity import Call
from jupyter_mlgpu.measure.activity.calls import call_at
from jupyter_mlgpu.measure.activity.external_readers import ExternalReaders
from jupyter_mlgpu.measure.activity.gil_wait import GilWaitEstimator
from jupyter_mlgpu.measure.activity.markers import RULES, Markers
from jupyter_mlgpu.measure.activity.stack import Place
from jupyter_mlgpu.measure.activity.stack_sampler import StackSampler
from jupyter_mlgpu.measure.capture.hooks import PythonHooks
from jupyter_mlgpu.measure.frameworks import placed_values
from jupyter_mlgpu.measure.frameworks.jax.arrays import committed
from jupyter_mlgpu.measure.handlers import OurFailures, is_of_a_handler
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.teach.cell_holds import holds
from jupyter_mlgpu.testing.proxies import (
    TouchLog,
    dead_reference,
    touchable,
    touchable_error,
    touchable_object,
)
from tests.support.cell_files import run_as_cell

pytestmark = pytest.mark.small

#: A third of a second in Python, where every line names the objects.
WORKS = """\
import time

def work(argument):
    local, held = lazy, [lazy]
    end = time.perf_counter() + 0.35
    while time.perf_counter() < end:
        lazy, dead, namespace
    return local

work(lazy)
"""


@pytest.fixture
def log():
    return TouchLog()


@pytest.fixture
def sampler():
    made = Sampler(linger=0.0)
    yield made
    made.close()


def sampled(sampler, code, **names):
    asked = ExternalReaders(
        of_user=lambda filename: 7 if filename.startswith("<a cell") else None,
        gpus=lambda since: {},
        gpu_others=lambda since: None,
        gpu_neighbours=lambda: None,
        retries=lambda: None,
        compiled=lambda: None,
        called_back=lambda: False,
    )
    with run_as_cell(code, **names) as (run, _):
        watching = StackSampler(sampler, Markers(lambda: [RULES]), GilWaitEstimator(), asked)
        watching.starts()
        run()
        return watching.finish()


def lazy_module(log):
    """A module that is loaded when an attribute of it is read, as Python's own lazy loader makes one."""

    class LazyModule(types.ModuleType):
        def __getattribute__(self, name):
            log.note(name)
            return super().__getattribute__(name)

    return LazyModule("data")


@pytest.mark.parametrize("error", [None, RuntimeError("working outside of a context")])
def test_sampling_asks_no_object_of_the_user_s_anything(sampler, error):
    log = TouchLog(error)
    names = {
        "lazy": touchable_object(log),
        "LazyType": touchable(log),
        "module": lazy_module(log),
        "dead": dead_reference(),
        "namespace": {"inner": [touchable_object(log)]},
    }
    activity = sampled(sampler, WORKS, **names)
    assert activity is not None, "an object that raises ends no sampling"
    assert activity.samples >= 1
    assert log.touches == []


@pytest.mark.parametrize(
    "line",
    [
        "lazy + 1",
        "lazy",
        "lazy.method(1)",
        "module.loader.next(1)",
        "lazy[1]",
        "[x for x in lazy]",
        "LazyType(1)",
        "bound(1)",
        "dead.method(1)",
        "len(lazy) == module",
    ],
)
def test_a_call_of_an_object_is_named_without_asking_it(log, line):
    lazy = touchable_object(log)
    names = {
        "lazy": lazy,
        "LazyType": touchable(log),
        "module": lazy_module(log),
        "bound": types.MethodType(lazy, 1),
        "dead": dead_reference(),
    }
    with run_as_cell(line, **names) as (_, filename):
        code = compile(line, filename, "exec")
        for instruction in range(-2, len(code.co_code), 2):
            call_at(Place(code, instruction, 1, names))
    assert log.touches == []


def test_a_namespace_of_the_user_s_own_type_is_read_as_a_plain_one():
    class Namespace(dict):
        def get(self, *asked):
            raise AssertionError(asked)

        values = __missing__ = get

    with run_as_cell("lazy.method(1)") as (_, filename):
        code = compile("lazy.method(1)", filename, "exec")
        calls = [call_at(Place(code, at, 1, Namespace(lazy=3))) for at in range(0, len(code.co_code), 2)]
    assert Call("lazy.method", "builtins") in calls


def test_an_array_of_the_user_s_own_making_is_not_asked_for_its_size(sampler):
    class Frames:
        __module__ = "my_data"
        shape = (10,)
        decoded = 0

        @property
        def nbytes(self):
            Frames.decoded += 1
            return 10

    code = "import time\nend = time.perf_counter() + 0.35\nwhile time.perf_counter() < end: frames\n"
    sampled(sampler, code, frames=Frames())
    assert Frames.decoded == 0


def test_the_size_of_a_library_s_array_is_still_known(sampler):
    np = pytest.importorskip("numpy")
    code = "import time\nend = time.perf_counter() + 0.35\nwhile time.perf_counter() < end:\n    a @ a\n"
    activity = sampled(sampler, code, a=np.zeros((200, 200)))
    assert {part.call.size for part in activity.parts if part.call} >= {200 * 200 * 8}


def test_the_values_that_a_cell_names_are_found_without_asking_them(log):
    lazy = touchable_object(log)
    namespace = {"lazy": lazy, "dead": dead_reference(), "LazyType": touchable(log), "n": 3}
    code = "lazy(n, dead, LazyType)"
    assert list(named_values(code, namespace)) == ["lazy", "n", "dead", "LazyType"]
    assert whole_numbers(code, namespace) == {"n": 3}
    assert holds("lazy(1)", namespace) is None
    assert not registered_by_us(lazy)
    assert not registered_by_us(types.MethodType(lazy, lazy))
    assert log.touches == []


def test_containers_are_looked_through_without_asking_what_they_hold(log):
    lazy = touchable_object(log)
    values = {
        "lazy": lazy,
        "held": [lazy, (lazy, {"key": lazy}), dead_reference()],
        "LazyType": touchable(log),
        "subclass": object.__new__(touchable(log)),
    }
    names = [name for name, _, _ in placed_values.contained_values(values)]
    assert names == ["lazy", "LazyType", "subclass", "held"]
    assert user_objects.attributes(lazy) == {}
    assert user_objects.attributes(dead_reference()) == {}
    assert committed(values, {}) == []
    assert log.touches == []


@pytest.mark.parametrize("framework", ["torch", "tensorflow"])
def test_frameworks_look_for_their_own_without_asking_others(log, framework):
    pytest.importorskip(framework)
    walks = {
        "torch": "jupyter_mlgpu.measure.frameworks.torch.tensors:tensors",
        "tensorflow": "jupyter_mlgpu.measure.frameworks.tensorflow.weights:variables",
    }
    from jupyter_mlgpu.measure.frameworks import registry

    lazy = touchable_object(log)
    values = {"lazy": lazy, "held": [lazy, {"key": lazy}], "dead": dead_reference(), "kind": touchable(log)}
    assert registry.part(walks[framework])(values) == []
    assert log.touches == []


def test_a_plain_object_s_attributes_are_read_also_where_its_class_answers_for_them():
    class ExternalReaders:
        def __init__(self):
            self.held = 1

        def __getattribute__(self, name):
            raise AssertionError(name)

    assert user_objects.attributes(ExternalReaders()) == {"held": 1}
    assert user_objects.attributes(Counter(a=1)) == {}
    assert user_objects.attributes(3) == {}


def test_an_exception_is_told_from_ours_without_asking_it(log):
    error = touchable_error(log)
    with OurFailures():
        raise error
    assert not is_of_a_handler(error)
    assert log.by("jupyter_mlgpu") == []


def test_a_logged_or_warned_object_is_put_into_words_by_its_handlers_alone(log, monkeypatch):
    shown, heard = io.StringIO(), []
    lazy = touchable_object(log)
    logger = logging.Logger("lazy")
    logger.addHandler(logging.StreamHandler(shown))
    monkeypatch.setattr(warnings, "showwarning", lambda *told: None)
    hooks = PythonHooks(lambda stream, text, *more: heard.append(text))
    hooks.start()
    try:
        logger.error("%d loaded %s", 1, lazy)
        warnings.showwarning(touchable_error(log), UserWarning, "file.py", 3)
        warnings.showwarning(UserWarning(lazy), UserWarning, "file.py", 3)
    finally:
        hooks.stop()
    assert shown.getvalue() == "1 loaded touched\n"
    assert heard[0] == "ERROR:lazy:1 loaded touched"
    assert heard[1:] == ["file.py:3: UserWarning: Touchable\n", "file.py:3: UserWarning: UserWarning\n"]
    assert [one.name for one in log.touches] == ["__str__"], "the handler's own"


def test_a_record_that_no_handler_puts_into_words_keeps_its_arguments_closed(log):
    heard = []

    class Silent(logging.Handler):
        def emit(self, record):
            pass

    logger = logging.Logger("lazy")
    logger.addHandler(Silent())
    hooks = PythonHooks(lambda stream, text, *more: heard.append(text))
    hooks.start()
    try:
        logger.error("%d loaded %s", 1, touchable_object(log))
    finally:
        hooks.stop()
    assert heard == ["ERROR:lazy:%d loaded %s"]
    assert log.touches == []


def test_an_exception_is_told_without_running_its_own_code():
    class LoudError(RuntimeError):
        def __str__(self):
            raise AssertionError("asked")

    assert user_objects.plain_exception(RuntimeError("no luck")) == "RuntimeError: no luck"
    assert user_objects.plain_exception(RuntimeError()) == "RuntimeError"
    assert user_objects.plain_exception(LoudError("no luck")) == "LoudError"
