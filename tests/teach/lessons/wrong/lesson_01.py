"""Wrong answers to the exercise of lesson 01: likely mistakes, each of which has to be rejected."""

import tensorflow as tf


def one_left_out(x, y, z):
    return x + y


def one_taken_away(x, y, z):
    return x + y - z


def one_taken_twice(x, y, z):
    return x + y + z + z


def only_the_example(x, y, z):
    return tf.constant([[111.0], [222.0], [333.0]])


def one_number_for_all(x, y, z):
    return tf.reduce_sum(x + y + z)


def lying_down(x, y, z):
    return x + y + tf.transpose(z)


def numbers_instead_of_a_description(x, y, z):
    return tf.constant((x + y + z).numpy())


WRONG = {
    "add_three": [
        one_left_out,
        one_taken_away,
        one_taken_twice,
        only_the_example,
        one_number_for_all,
        lying_down,
        numbers_instead_of_a_description,
    ]
}
