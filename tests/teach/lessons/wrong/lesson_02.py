"""Wrong answers to the exercise of lesson 02: likely mistakes, each of which has to be rejected."""

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


def one_after_the_other(numbers):
    return sum(numbers), len(numbers) - 1


def a_round_too_few(numbers):
    return sum(numbers), (len(numbers) - 1).bit_length() - 1


def rounds_rounded_down(numbers):
    return sum(numbers), len(numbers).bit_length() - 1


def right_half_left_out(numbers):
    return sum(numbers[: len(numbers) // 2]), (len(numbers) - 1).bit_length()


def sum_alone(numbers):
    return sum(numbers)


WRONG = {
    "add_three": [
        one_left_out,
        one_taken_away,
        one_taken_twice,
        only_the_example,
        one_number_for_all,
        lying_down,
        numbers_instead_of_a_description,
    ],
    "add_in_halves": [
        one_after_the_other,
        a_round_too_few,
        rounds_rounded_down,
        right_half_left_out,
        sum_alone,
    ],
}
