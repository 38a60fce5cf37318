"""Likely mistakes in lesson 07."""

import numpy as np


def _slide(image, kernel, value):
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((rows, columns))
    for row in range(rows):
        for column in range(columns):
            window = image[row : row + kernel.shape[0], column : column + kernel.shape[1]]
            out[row, column] = value(window, kernel)
    return out


def kernel_turned(image, kernel):
    return _slide(image, kernel[::-1, ::-1], lambda window, turned: (window * turned).sum())


def mean_instead_of_sum(image, kernel):
    return _slide(image, kernel, lambda window, kernel: (window * kernel).mean())


def sums_multiplied(image, kernel):
    return _slide(image, kernel, lambda window, kernel: window.sum() * kernel.sum())


def edges_kept(image, kernel):
    high, wide = kernel.shape
    return convolve_padded(np.pad(image, ((0, high - 1), (0, wide - 1))), kernel)


def convolve_padded(image, kernel):
    return _slide(image, kernel, lambda window, kernel: (window * kernel).sum())


def window_of_another_shape(image, kernel):
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    return np.array(
        [[(image[r : r + 3, c : c + 3] * kernel).sum() for c in range(columns)] for r in range(rows)]
    )


def biases_forgotten(side, channels, kernel, filters):
    outputs = (side - kernel + 1) ** 2 * filters
    return kernel * kernel * channels * filters, side * side * channels * outputs


def channels_forgotten(side, channels, kernel, filters):
    outputs = (side - kernel + 1) ** 2 * filters
    return kernel * kernel * filters + filters, side * side * outputs + outputs


def nothing_shared(side, channels, kernel, filters):
    places = (side - kernel + 1) ** 2
    outputs = places * filters
    return places * (
        kernel * kernel * channels * filters + filters
    ), side * side * channels * outputs + outputs


def same_size_out(side, channels, kernel, filters):
    outputs = side * side * filters
    return kernel * kernel * channels * filters + filters, side * side * channels * outputs + outputs


def the_other_way_round(side, channels, kernel, filters):
    outputs = (side - kernel + 1) ** 2 * filters
    return side * side * channels * outputs + outputs, kernel * kernel * channels * filters + filters


def slopes_turned(image, slopes):
    return convolve_padded(image, slopes[::-1, ::-1])


def gradient_turned(image, slopes):
    return convolve_padded(image, slopes)[::-1, ::-1]


def mean_over_the_places(image, slopes):
    return _slide(image, slopes, lambda window, slopes: (window * slopes).mean())


def slopes_in_the_shape_of_the_image(image, slopes):
    high, wide = slopes.shape
    return convolve_padded(np.pad(image, ((0, high - 1), (0, wide - 1))), slopes)


def slopes_alone(image, slopes):
    return _slide(image, slopes, lambda window, slopes: slopes.sum())


WRONG = {
    "convolve": [kernel_turned, mean_instead_of_sum, sums_multiplied, edges_kept, window_of_another_shape],
    "kernel_gradient": [
        slopes_turned,
        gradient_turned,
        mean_over_the_places,
        slopes_in_the_shape_of_the_image,
        slopes_alone,
    ],
    "weights": [biases_forgotten, channels_forgotten, nothing_shared, same_size_out, the_other_way_round],
}
