"""Likely mistakes in lesson 08."""

import math


def numbers_instead_of_bytes(shapes, batch):
    return sum(math.prod(shape) for shape in shapes) * batch


def one_picture_alone(shapes, batch):
    return 4 * sum(math.prod(shape) for shape in shapes)


def bits(shapes, batch):
    return 32 * sum(math.prod(shape) for shape in shapes) * batch


def sides_added(shapes, batch):
    return 4 * sum(sum(shape) for shape in shapes) * batch


def largest_layer_alone(shapes, batch):
    return 4 * max(math.prod(shape) for shape in shapes) * batch


def the_maps_themselves(maps):
    return maps


def a_copy_of_the_maps(maps):
    return maps.copy()


def an_array_with_one_number(maps):
    return maps.mean(keepdims=True)


def a_number_for_each_row(maps):
    return maps.mean(axis=-1).tolist()


def the_largest(maps):
    return float(maps.max())


def the_sum(maps):
    return float(maps.sum())


def in_proportion(batch, measured):
    (_, _), (large, high) = measured
    return high / large * batch


def counted_from_nothing(batch, measured):
    (small, low), (large, high) = measured
    return low + (high - low) / (large - small) * batch


def difference_of_the_peaks(batch, measured):
    (small, low), (_, high) = measured
    return low + (high - low) * (batch - small)


def from_the_wrong_end(batch, measured):
    (small, low), (large, high) = measured
    return low + (high - low) / (large - small) * (batch - large)


def upside_down(batch, measured):
    (small, low), (large, high) = measured
    return low + (large - small) / (high - low) * (batch - small)


def kept_one_counted_twice(every, layers):
    return layers // every + every


def kept_alone(every, layers):
    return layers // every


def computed_again_alone(every, layers):
    return every - 1


def all_of_them(every, layers):
    return layers


def all_but_one_kept(every, layers):
    return layers - layers // every


WRONG = {
    "activation_bytes": [
        numbers_instead_of_bytes,
        one_picture_alone,
        bits,
        sides_added,
        largest_layer_alone,
    ],
    "worth_keeping": [
        the_maps_themselves,
        a_copy_of_the_maps,
        an_array_with_one_number,
        a_number_for_each_row,
        the_largest,
        the_sum,
    ],
    "peak_at": [
        in_proportion,
        counted_from_nothing,
        difference_of_the_peaks,
        from_the_wrong_end,
        upside_down,
    ],
    "most_kept": [
        kept_one_counted_twice,
        kept_alone,
        computed_again_alone,
        all_of_them,
        all_but_one_kept,
    ],
}
