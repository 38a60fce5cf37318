"""Lesson 07: a convolution by hand, the number of its parameters, and its backward pass."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise


def convolve(image: Any, kernel: Any) -> Any:
    """Slide the kernel over the image; each number of the result is a sum of products."""
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((rows, columns))
    for row in range(rows):
        for column in range(columns):
            window = image[row : row + kernel.shape[0], column : column + kernel.shape[1]]
            out[row, column] = (window * kernel).sum()
    return out


def kernel_gradient(image: Any, slopes: Any) -> Any:
    """Return the gradient for the kernel, from that for the result."""
    return convolve(image, slopes)


def weights(side: int, channels: int, kernel: int, filters: int) -> tuple[int, int]:
    """Return the parameters of a convolution, and of a dense layer with an output of the same size."""
    convolution = kernel * kernel * channels * filters + filters
    inputs = side * side * channels
    outputs = (side - kernel + 1) ** 2 * filters
    return convolution, inputs * outputs + outputs


def _fresh_image(draw: random.Random) -> Arguments:
    rows, columns = draw.sample(range(4, 8), 2)
    high, wide = draw.sample(range(1, 4), 2)
    return {"image": _numbers(draw, rows, columns), "kernel": _numbers(draw, high, wide)}


def _numbers(draw: random.Random, rows: int, columns: int) -> np.ndarray[Any, Any]:
    return np.array([[draw.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)])


def _fresh_slopes(draw: random.Random) -> Arguments:
    rows, columns = draw.sample(range(4, 8), 2)
    high, wide = draw.sample(range(1, 4), 2)
    slopes = _numbers(draw, rows - high + 1, columns - wide + 1)
    return {"image": _numbers(draw, rows, columns), "slopes": slopes}


def _fresh_layer(draw: random.Random) -> Arguments:
    return {
        "side": draw.randint(8, 40),
        "channels": draw.randint(2, 5),
        "kernel": draw.choice([2, 3, 5]),
        "filters": draw.randint(6, 20),
    }


EXERCISES = (
    Exercise(
        name="convolve",
        task=say("return the sum of products for each position of the window"),
        reference=convolve,
        # One bright point: the result shows the kernel around it, rotated by half a turn.
        example={
            "image": np.array([[0.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]),
            "kernel": np.array([[1.0, 2], [3, 4]]),
        },
        fresh=_fresh_image,
    ),
    Exercise(
        name="weights",
        task=say(
            "return two numbers, how many parameters the convolution and the dense layer have, "
            "each with one more (the bias) for every filter or output"
        ),
        reference=weights,
        example={"side": 28, "channels": 1, "kernel": 3, "filters": 8},
        fresh=_fresh_layer,
    ),
    Exercise(
        name="kernel_gradient",
        task=say("return the slope of the loss at each number of the kernel, in the kernel's shape"),
        reference=kernel_gradient,
        # One bright pixel: each number of the kernel met it at one place of the result, whose slope appears.
        example={
            "image": np.array([[0.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]),
            "slopes": np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
        },
        fresh=_fresh_slopes,
    ),
)
