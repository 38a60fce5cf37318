"""Wrong answers to the exercises of lesson 18: likely mistakes, each of which has to be rejected."""

from jupyter_mlgpu.teach.lessons.products import corner


def add_at(memory, place):
    memory.z[place] = memory.x[place] + memory.y[place]


def without_the_mask(thread, memory):
    add_at(memory, thread.block * thread.threads + thread.number)


def one_too_many(thread, memory):
    place = thread.block * thread.threads + thread.number
    if place <= len(memory.x):
        add_at(memory, place)


def neighbours_far_apart(thread, memory):
    place = thread.number * -(-len(memory.x) // thread.threads) + thread.block
    if place < len(memory.x):
        add_at(memory, place)


def the_first_block_each_time(thread, memory):
    add_at(memory, thread.number)


def one_too_few(thread, memory):
    place = thread.block * thread.threads + thread.number
    if place < len(memory.x) - 1:
        add_at(memory, place)


def fetch_from(thread, memory, n, left, right):
    memory.left[thread.number] = memory.a[left[0] * n + left[1]]
    memory.right[thread.number] = memory.b[right[0] * n + right[1]]


def both_from_the_same_place(thread, memory, first, n, tile):
    top, _ = corner(thread.block, n, tile)
    down, across = divmod(thread.number, tile)
    fetch_from(thread, memory, n, (top + down, first + across), (top + down, first + across))


def where_the_tile_of_c_is(thread, memory, first, n, tile):
    top, side = corner(thread.block, n, tile)
    down, across = divmod(thread.number, tile)
    fetch_from(thread, memory, n, (top + down, side + across), (top + down, side + across))


def the_first_pair_each_time(thread, memory, first, n, tile):
    top, side = corner(thread.block, n, tile)
    down, across = divmod(thread.number, tile)
    fetch_from(thread, memory, n, (top + down, across), (down, side + across))


def rows_and_columns_exchanged(thread, memory, first, n, tile):
    top, side = corner(thread.block, n, tile)
    down, across = divmod(thread.number, tile)
    fetch_from(thread, memory, n, (top + across, first + down), (first + across, side + down))


def the_second_matrix_turned(thread, memory, first, n, tile):
    top, side = corner(thread.block, n, tile)
    down, across = divmod(thread.number, tile)
    fetch_from(thread, memory, n, (top + down, first + across), (side + down, first + across))


def rows_as_long_as_a_tile(thread, memory, first, n, tile):
    top, side = corner(thread.block, n, tile)
    down, across = divmod(thread.number, tile)
    fetch_from(thread, memory, tile, (top + down, first + across), (first + down, side + across))


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
    "add_kernel": [
        without_the_mask,
        one_too_many,
        neighbours_far_apart,
        the_first_block_each_time,
        one_too_few,
    ],
    "fetch": [
        both_from_the_same_place,
        where_the_tile_of_c_is,
        the_first_pair_each_time,
        rows_and_columns_exchanged,
        the_second_matrix_turned,
        rows_as_long_as_a_tile,
    ],
    "reads_each": [
        as_without_registers,
        those_of_a_step,
        of_one_tile,
        divided_by_the_sums,
        multiplications_for_each_read,
    ],
}
