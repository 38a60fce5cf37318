"""Wrong answers to the exercises of lesson 05: likely mistakes, each of which has to be rejected."""

from itertools import groupby

import tensorflow as tf


def no_signature(function):
    return tf.function(function)


def no_graph(function):
    return function


def one_length(function):
    return tf.function(function, input_signature=[tf.TensorSpec([2], tf.float32)])


def relaxed_after_the_second(function):
    return tf.function(function, reduce_retracing=True)


def a_matrix(function):
    return tf.function(function, input_signature=[tf.TensorSpec([None, None], tf.float32)])


def the_call_instead_of_the_graph(function):
    return tf.function(function)(tf.ones(2))


def still_einsum(queries, keys):
    return tf.einsum("bqd,bkd->bqk", queries, keys)


def not_turned(queries, keys):
    return tf.matmul(queries, keys)


def the_other_way_round(queries, keys):
    return tf.matmul(keys, queries, transpose_b=True)


def one_score_too_few(queries, keys):
    return tf.matmul(queries, keys, transpose_b=True)[:, :, :-1]


def scaled_besides(queries, keys):
    return tf.matmul(queries, keys, transpose_b=True) / 2.0


def sizes_of(operations, kernels):
    return [len(list(run)) for known, run in groupby(operations, key=lambda one: one in kernels) if known]


def one_subgraph(operations, kernels):
    return [sum(one in kernels for one in operations)], 2


def not_copied_back(operations, kernels):
    return sizes_of(operations, kernels), len(sizes_of(operations, kernels))


def a_copy_for_each_operation(operations, kernels):
    sizes = sizes_of(operations, kernels)
    return sizes, 2 * sum(sizes)


def without_the_ends(operations, kernels):
    sizes = sizes_of(operations, kernels)
    return sizes, 2 * len(sizes) - 1


def equal_names_only(operations, kernels):
    sizes = [len(list(run)) for name, run in groupby(operations) if name in kernels]
    return sizes, 2 * len(sizes)


WRONG = {
    "one_graph": [
        no_signature,
        no_graph,
        one_length,
        relaxed_after_the_second,
        a_matrix,
        the_call_instead_of_the_graph,
    ],
    "scores": [still_einsum, not_turned, the_other_way_round, one_score_too_few, scaled_besides],
    "subgraphs": [
        one_subgraph,
        not_copied_back,
        a_copy_for_each_operation,
        without_the_ends,
        equal_names_only,
    ],
}
