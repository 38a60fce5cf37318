"""Make Keras choose its graph as on a machine with a GPU.

If TensorFlow lists a GPU, Keras's LSTM and GRU become one operation instead of a loop, and `channels_first`
convolutions need no transposing. This gives another graph. Nothing is imported here.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

#: The functions by which Keras looks for a GPU, and the answer that they are to return.
_GPU_CHECKS = (
    ("keras.src.backend.tensorflow.rnn", "_is_gpu_available", True),
    ("keras.src.backend.tensorflow.nn", "_cpu_only", False),
)
# Two threads that plan at the same time would restore each other's replacements.
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def simulated_gpu() -> Iterator[None]:
    """Make Keras find a GPU in this thread, but not in others. The functions are always restored."""
    with _ONE_AT_A_TIME, _separate_cache(), ExitStack() as restoring:
        for name, question, answer in _GPU_CHECKS:
            module = sys.modules.get(name)
            original = getattr(module, question, None)
            if original is not None:
                setattr(module, question, _replacement(original, answer))
                restoring.callback(setattr, module, question, original)
        yield


def _replacement(original: Callable[[], Any], answer: bool) -> Callable[[], Any]:
    planning = threading.get_ident()

    def question() -> Any:
        return answer if threading.get_ident() == planning else original()

    return question


_CACHE_KEY = "jupyter_mlgpu: traced for a plan"


@contextmanager
def _separate_cache() -> Iterator[None]:
    """Keep the graphs of this context out of TensorFlow's function caches, and leave those in them unused.

    TensorFlow caches what it traces, including functions that are called by others, and a graph for a GPU
    would fail in a later call on the CPU. While a model is saved, TensorFlow uses another cache key; this
    does the same.
    """
    saving = sys.modules["tensorflow.python.saved_model.save_context"]
    kind = sys.modules["tensorflow.core.function.polymorphism.function_cache"].FunctionCache
    try:
        with saving.save_context(SimpleNamespace(experimental_variable_policy=_CACHE_KEY)):
            yield
    finally:
        for one in gc.get_objects():
            if type(one) is kind:
                _forget(one)


def _forget(cache: Any) -> None:
    for context, kind in list(cache._primary):
        if getattr(context.context, "variable_policy", None) == _CACHE_KEY:
            cache.delete(kind, context)
