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


def tiles_of(a, b, row, column, tile, turned=False):
    for inner in range(0, len(a), tile):
        right = b[inner : inner + tile, column : column + tile]
        if turned:
            right = b[column : column + tile, inner : inner + tile]
        yield a[row : row + tile, inner : inner + tile], right


def number_by_number(a, b, row, column, tile):
    return sum(left * right for left, right in tiles_of(a, b, row, column, tile))


def rows_and_columns_exchanged(a, b, row, column, tile):
    return sum(left @ right for left, right in tiles_of(a, b, row, column, tile, turned=True))


def in_the_wrong_order(a, b, row, column, tile):
    return sum(right @ left for left, right in tiles_of(a, b, row, column, tile))


def only_the_last_pair(a, b, row, column, tile):
    return [left @ right for left, right in tiles_of(a, b, row, column, tile)][-1]


def the_other_tile_turned(a, b, row, column, tile):
    return sum(left @ right.T for left, right in tiles_of(a, b, row, column, tile))


def the_first_tile_each_time(a, b, row, column, tile):
    return sum(left @ right for left, right in tiles_of(a, b, 0, 0, tile))


def as_without_registers(r):
    return 2


def those_of_a_step(r):
    return 2 * r


def of_one_tile(r):
    return 1 / r


def divided_by_the_sums(r):
    return 2 / r**2


def multiplications_for_each_read(r):
    return r / 2


WRONG = {
    "places": [
        without_the_mask,
        neighbours_far_apart,
        the_first_block_each_time,
        one_too_many,
        the_mask_in_place_of_the_places,
    ],
    "bytes_asked": [of_one_matrix, numbers_not_bytes, divided_by_the_area, tiles_forgotten, each_matrix_once],
    "one_tile": [
        number_by_number,
        rows_and_columns_exchanged,
        in_the_wrong_order,
        only_the_last_pair,
        the_other_tile_turned,
        the_first_tile_each_time,
    ],
    "reads_each": [
        as_without_registers,
        those_of_a_step,
        of_one_tile,
        divided_by_the_sums,
        multiplications_for_each_read,
    ],
}
