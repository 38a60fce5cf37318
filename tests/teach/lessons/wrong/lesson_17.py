"""Likely mistakes in lesson 17."""

import queue
import threading

from jupyter_mlgpu.teach.lessons.exercises.lesson_17 import fill


def the_sum(loading, computing, workers):
    return loading / max(1, workers) + computing


def the_shorter(loading, computing, workers):
    return min(loading / workers, computing) if workers else loading + computing


def workers_left_out(loading, computing, workers):
    return max(loading, computing) if workers else loading + computing


def computing_shared_too(loading, computing, workers):
    return max(loading, computing) / workers if workers else loading + computing


def always_the_longer(loading, computing, workers):
    return max(loading / max(1, workers), computing)


def rounded_down(loading, computing):
    return int(loading // computing)


def one_more(loading, computing):
    return int(loading // computing) + 1


def a_quotient(loading, computing):
    return loading / computing


def the_other_way_round(loading, computing):
    return -int(-computing // loading)


def bytes_by_gigabytes(size, bandwidth):
    return size / bandwidth


def gibibytes(size, bandwidth):
    return size / (bandwidth * 2**30)


def copies_a_second(size, bandwidth):
    return bandwidth * 1e9 / size


def bits(size, bandwidth):
    return 8 * size / (bandwidth * 1e9)


def no_thread(batches, ahead):
    yield from batches


def a_list(batches, ahead):
    return list(batches)


def no_bound(batches, ahead):
    return with_queue(batches, queue.Queue())


def error_as_end(batches, ahead):
    ready = queue.Queue(ahead)
    threading.Thread(target=fill, args=(batches, ready), daemon=True).start()
    while True:
        kind, value = ready.get()
        if kind != "batch":
            return
        yield value


def pairs(batches, ahead):
    ready = queue.Queue(ahead)
    threading.Thread(target=fill, args=(batches, ready), daemon=True).start()
    while True:
        pair = ready.get()
        if pair[0] == "end":
            return
        if pair[0] == "error":
            raise pair[1]
        yield pair


def never_ends(batches, ahead):
    ready = queue.Queue(ahead)
    threading.Thread(target=fill, args=(batches, ready), daemon=True).start()
    while True:
        kind, value = ready.get()
        if kind == "error":
            raise value
        if kind == "batch":
            yield value


def never_started(batches, ahead):
    ready = queue.Queue(ahead)
    threading.Thread(target=fill, args=(batches, ready), daemon=True)
    while True:
        yield ready.get()[1]


def never_begins(batches, ahead):
    return queue.Queue(ahead).get()


def the_first_for_ever(batches, ahead):
    first = next(iter(batches))
    while True:
        yield first


def with_queue(batches, ready):
    threading.Thread(target=fill, args=(batches, ready), daemon=True).start()
    while True:
        kind, value = ready.get()
        if kind == "end":
            return
        if kind == "error":
            raise value
        yield value


WRONG = {
    "step_seconds": [the_sum, the_shorter, workers_left_out, computing_shared_too, always_the_longer],
    "workers_needed": [rounded_down, one_more, a_quotient, the_other_way_round],
    "copy_seconds": [bytes_by_gigabytes, gibibytes, copies_a_second, bits],
    "prefetch": [
        no_thread,
        a_list,
        no_bound,
        error_as_end,
        pairs,
        never_ends,
        never_started,
        never_begins,
        the_first_for_ever,
    ],
}
