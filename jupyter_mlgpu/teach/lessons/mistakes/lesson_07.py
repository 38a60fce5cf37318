"""Lesson 07: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def _slide(image: Any, kernel: Any, value: Any) -> Any:
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((rows, columns))
    for row in range(rows):
        for column in range(columns):
            window = image[row : row + kernel.shape[0], column : column + kernel.shape[1]]
            out[row, column] = value(window, kernel)
    return out


def kernel_turned(image: Any, kernel: Any) -> Any:
    return _slide(image, kernel[::-1, ::-1], lambda window, turned: (window * turned).sum())


def mean_instead_of_sum(image: Any, kernel: Any) -> Any:
    return _slide(image, kernel, lambda window, kernel: (window * kernel).mean())


def summed_first(image: Any, kernel: Any) -> Any:
    return _slide(image, kernel, lambda window, kernel: window.sum() * kernel.sum())


def biases_left_out(side: Any, channels: Any, kernel: Any, filters: Any) -> Any:
    outputs = (side - kernel + 1) ** 2 * filters
    return kernel * kernel * channels * filters, side * side * channels * outputs


def one_bias(side: Any, channels: Any, kernel: Any, filters: Any) -> Any:
    outputs = (side - kernel + 1) ** 2 * filters
    return kernel * kernel * channels * filters + filters, side * side * channels * outputs + 1


def slopes_turned(image: Any, slopes: Any) -> Any:
    return _slide(image, slopes[::-1, ::-1], lambda window, turned: (window * turned).sum())


def gradient_turned(image: Any, slopes: Any) -> Any:
    return _slide(image, slopes, lambda window, slopes: (window * slopes).sum())[::-1, ::-1]


def mean_over_the_places(image: Any, slopes: Any) -> Any:
    return _slide(image, slopes, lambda window, slopes: (window * slopes).mean())


COACHING = {
    "convolve": coaching(
        hints=[
            say("The image has one bright pixel. Your result should show the kernel's numbers around it."),
            say("The window begins at [row, column] and is as large as the kernel."),
            say(
                "image[row : row + kernel.shape[0], column : column + kernel.shape[1]] is "
                "the window; multiply it by the kernel, and sum."
            ),
        ],
        mistakes=[
            (
                say("You turned the kernel around first, as mathematicians do; here it stays as it is."),
                kernel_turned,
            ),
            (say("You took the mean of the products instead of their sum."), mean_instead_of_sum),
            (say("You summed before you multiplied: the products come first."), summed_first),
        ],
    ),
    "weights": coaching(
        hints=[
            say("Which of the two numbers is off, and by how many?"),
            say("One filter has kernel times kernel times channels numbers, and a bias."),
            say(
                "The convolution: all filters of that size. The dense layer: one bias for "
                "each of its outputs."
            ),
        ],
        mistakes=[
            (say("The biases are missing: one for each filter, one for each output."), biases_left_out),
            (say("You counted a single bias for the dense layer; each output has one."), one_bias),
        ],
    ),
    "kernel_gradient": coaching(
        hints=[
            say("Take one number of the kernel. Which pixel did it meet at each place of the window?"),
            say(
                "At the place [row, column], the kernel's number [i, j] met image[row + i, column + j]. "
                "Multiply that pixel by the slope of that place, and sum over all places."
            ),
            say("Read that sum again: it is what `convolve` computes, with `slopes` as the window."),
        ],
        mistakes=[
            (say("You turned the slopes around first; they stay as they are."), slopes_turned),
            (say("The right numbers, but turned by half a turn."), gradient_turned),
            (
                say("You took the mean over the places; their slopes add up, because the kernel is shared."),
                mean_over_the_places,
            ),
        ],
    ),
}
