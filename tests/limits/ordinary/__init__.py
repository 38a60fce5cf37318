"""Ordinary cells, in the manner of the frameworks' own tutorials, with made-up data."""

from __future__ import annotations

from tests.limits.ordinary import of_keras, of_tensorflow, of_torch
from tests.limits.ordinary.cell import Ordinary

ORDINARY: tuple[Ordinary, ...] = (*of_tensorflow.ORDINARY, *of_keras.ORDINARY, *of_torch.ORDINARY)
