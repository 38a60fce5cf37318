"""TensorFlow's eager context (private; verified on 2.19.1)."""

from __future__ import annotations

from typing import Any


def eager_context() -> Any:
    """Return the context of this process; it may not be initialised yet."""
    from tensorflow.python.eager import context

    return context.context()
