"""Wrong answers to the exercises of lesson 18: likely mistakes, each of which has to be rejected."""

import numpy as np


def without_the_mask(block, threads, n):
    return block * threads + np.arange(threads)


def neighbours_far_apart(block, threads, n):
    place = block + threads * np.arange(threads)
    return place[place < n]


def the_first_block_each_time(block, threads, n):
    return np.arange(threads)


def one_too_many(block, threads, n):
    place = block * threads + np.arange(threads)
    return place[place <= n]


def the_mask_in_place_of_the_places(block, threads, n):
    return block * threads + np.arange(threads) < n


def of_one_matrix(n, tile):
    return 4 * n**3 / tile


def numbers_not_bytes(n, tile):
    return 2 * n**3 / tile


def divided_by_the_area(n, tile):
    return 8 * n**3 / tile**2


def tiles_forgotten(n, tile):
    return 8 * n**3


def each_matrix_once(n, tile):
    return 8 * n**2


def tiles_of(a, b, tile, part, turned=False):
    n = len(a)
    c = np.zeros((n, n))
    for row in range(0, n, tile):
        for column in range(0, n, tile):
            for inner in range(0, n, tile):
                left = a[row : row + tile, inner : inner + tile]
                right = b[inner : inner + tile, column : column + tile]
                if turned:
                    right = b[column : column + tile, inner : inner + tile]
                part(c[row : row + tile, column : column + tile], left, right)
    return c


def added(product):
    def part(place, left, right):
        place += product(left, right)

    return part


def number_by_number(a, b, tile):
    return tiles_of(a, b, tile, added(np.multiply))


def rows_and_columns_exchanged(a, b, tile):
    return tiles_of(a, b, tile, added(np.matmul), turned=True)


def in_the_wrong_order(a, b, tile):
    return tiles_of(a, b, tile, added(lambda left, right: right @ left))


def only_the_last_tile(a, b, tile):
    def part(place, left, right):
        place[:] = left @ right

    return tiles_of(a, b, tile, part)


def the_other_tile_turned(a, b, tile):
    return tiles_of(a, b, tile, added(lambda left, right: left @ right.T))


def the_ridge_itself(peak, bandwidth, size):
    return peak / bandwidth


def divided_by_the_size(peak, bandwidth, size):
    return peak / bandwidth / size


def counted_twice(peak, bandwidth, size):
    return 2 * size * peak / bandwidth


def upside_down(peak, bandwidth, size):
    return size * bandwidth / peak


WRONG = {
    "places": [
        without_the_mask,
        neighbours_far_apart,
        the_first_block_each_time,
        one_too_many,
        the_mask_in_place_of_the_places,
    ],
    "bytes_read": [of_one_matrix, numbers_not_bytes, divided_by_the_area, tiles_forgotten, each_matrix_once],
    "tiled": [
        number_by_number,
        rows_and_columns_exchanged,
        in_the_wrong_order,
        only_the_last_tile,
        the_other_tile_turned,
    ],
    "tile_at_the_ridge": [the_ridge_itself, divided_by_the_size, counted_twice, upside_down],
}
