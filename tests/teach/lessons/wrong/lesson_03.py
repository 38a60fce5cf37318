"""Wrong answers to the exercises of lesson 03: likely mistakes, each of which has to be rejected."""


def handing_over_alone(work, wait, clock):
    wait(work())
    start = clock()
    work()
    return clock() - start


def without_warm_up(work, wait, clock):
    start = clock()
    wait(work())
    return clock() - start


def warm_up_still_running(work, wait, clock):
    work()
    start = clock()
    wait(work())
    return clock() - start


def waits_after_the_clock(work, wait, clock):
    wait(work())
    start = clock()
    result = work()
    taken = clock() - start
    wait(result)
    return taken


def the_wrong_way_round(work, wait, clock):
    wait(work())
    start = clock()
    wait(work())
    return start - clock()


def both_runs(work, wait, clock):
    start = clock()
    wait(work())
    wait(work())
    return clock() - start


def the_clock_itself(work, wait, clock):
    wait(work())
    wait(work())
    return clock()


def additions_forgotten(m, k, n):
    return m * k * n / (4 * (m * k + k * n + m * n))


def numbers_for_bytes(m, k, n):
    return 2 * m * k * n / (m * k + k * n + m * n)


def result_not_written(m, k, n):
    return 2 * m * k * n / (4 * (m * k + k * n))


def bytes_per_operation(m, k, n):
    return 4 * (m * k + k * n + m * n) / (2 * m * k * n)


def squares_alone(m, k, n):
    return m / 6


def two_lines(first, second):
    lines = []
    for (n, short), (more, long) in (first, second):
        each = (long - short) / (more - n)
        lines += [short - n * each, each]
    return lines


def dispatch_forgotten(first, second):
    return (second[0][1] - first[0][1]) / (first[1][1] / first[1][0] - second[1][1] / second[1][0])


def first_readings_alone(first, second):
    slope, other = ((two[1][1] - two[0][1]) / (two[1][0] - two[0][0]) for two in (first, second))
    return (second[0][1] - first[0][1]) / (slope - other)


def dispatches_added(first, second):
    dispatch, each, other_dispatch, other_each = two_lines(first, second)
    return (dispatch + other_dispatch) / (each - other_each)


def negative(first, second):
    dispatch, each, other_dispatch, other_each = two_lines(first, second)
    return (other_dispatch - dispatch) / (other_each - each)


def time_at_the_crossing(first, second):
    dispatch, each, other_dispatch, other_each = two_lines(first, second)
    return dispatch + each * (other_dispatch - dispatch) / (each - other_each)


def in_the_middle(first, second):
    return (first[0][0] * first[1][0]) ** 0.5


WRONG = {
    "fair_time": [
        handing_over_alone,
        without_warm_up,
        warm_up_still_running,
        waits_after_the_clock,
        the_wrong_way_round,
        both_runs,
        the_clock_itself,
    ],
    "flops_per_byte": [
        additions_forgotten,
        numbers_for_bytes,
        result_not_written,
        bytes_per_operation,
        squares_alone,
    ],
    "crossover": [
        dispatch_forgotten,
        first_readings_alone,
        dispatches_added,
        negative,
        time_at_the_crossing,
        in_the_middle,
    ],
}
