"""What Keras chooses by the devices that it sees, chosen as on a machine with a GPU.

Where a GPU is listed, Keras's LSTM and GRU become one operation instead of a loop, and convolutions of
`channels_first` need no transposing: another graph. Nothing is imported here.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

#: Where Keras asks, and what it would hear.
_ASKED = (
    ("keras.src.backend.tensorflow.rnn", "_is_gpu_available", True),
    ("keras.src.backend.tensorflow.nn", "_cpu_only", False),
)
# Two threads that plan at once would put back what the other one put there.
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def as_on_a_gpu() -> Iterator[None]:
    """Within, Keras finds a GPU in this thread; others hear what is true. Put back whatever happens."""
    with _ONE_AT_A_TIME, _kept_apart(), ExitStack() as putting_back:
        for name, question, answer in _ASKED:
            module = sys.modules.get(name)
            asked = getattr(module, question, None)
            if asked is not None:
                setattr(module, question, _answered(asked, answer))
                putting_back.callback(setattr, module, question, asked)
        yield


def _answered(asked: Callable[[], Any], answer: bool) -> Callable[[], Any]:
    planning = threading.get_ident()

    def question() -> Any:
        return answer if threading.get_ident() == planning else asked()

    return question


_APART = "jupyter_mlgpu: traced for a plan"


@contextmanager
def _kept_apart() -> Iterator[None]:
    """Within, TensorFlow takes no graph that it has kept of a function, and later none of those made here.

    It keeps what it traces, of functions that are called within others, too, and a graph for a GPU would fail
    in a later call on the CPU. While a model is saved it looks under another name; so it does here.
    """
    saving = sys.modules["tensorflow.python.saved_model.save_context"]
    kind = sys.modules["tensorflow.core.function.polymorphism.function_cache"].FunctionCache
    try:
        with saving.save_context(SimpleNamespace(experimental_variable_policy=_APART)):
            yield
    finally:
        for one in gc.get_objects():
            if type(one) is kind:
                _forget(one)


def _forget(cache: Any) -> None:
    for context, kind in list(cache._primary):
        if getattr(context.context, "variable_policy", None) == _APART:
            cache.delete(kind, context)
