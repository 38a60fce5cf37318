"""Likely mistakes in lesson 14."""


def rest_left_out(batch, engines):
    return [batch // engines] * engines


def rest_to_the_last(batch, engines):
    return [batch // engines] * (engines - 1) + [batch // engines + batch % engines]


def larger_ones_last(batch, engines):
    each, left = divmod(batch, engines)
    return [each] * (engines - left) + [each + 1] * left


def fractions_of_images(batch, engines):
    return [batch / engines] * engines


def rounded_up(batch, engines):
    return [-(-batch // engines)] * engines


def plain_mean(gradients, images):
    return sum(gradients) / len(gradients)


def sum_alone(gradients, images):
    return sum(gradients)


def divided_by_the_engines(gradients, images):
    weighted = [gradient * count for gradient, count in zip(gradients, images, strict=True)]
    return sum(weighted) / len(gradients)


def not_divided(gradients, images):
    return sum(gradient * count for gradient, count in zip(gradients, images, strict=True))


def first_one_only(gradients, images):
    return gradients[0]


def communication_for_nothing(compute, engines, communication):
    return compute / (compute / engines)


def communication_shared_too(compute, engines, communication):
    return compute / ((compute + communication) / engines)


def communication_on_one_engine_too(compute, engines, communication):
    return (compute + communication) / (compute / engines + communication)


def upside_down(compute, engines, communication):
    return (compute / engines + communication) / compute


def computing_not_shared(compute, engines, communication):
    return compute / (compute + communication)


def whole_gradient_each_turn(size, engines, latency, bandwidth):
    return 2 * (engines - 1) * (latency + size / bandwidth)


def half_of_the_turns(size, engines, latency, bandwidth):
    return (engines - 1) * (latency + size / engines / bandwidth)


def latency_once(size, engines, latency, bandwidth):
    return latency + 2 * (engines - 1) * size / engines / bandwidth


def two_turns_too_many(size, engines, latency, bandwidth):
    return 2 * engines * (latency + size / engines / bandwidth)


def multiplied_by_the_bandwidth(size, engines, latency, bandwidth):
    return 2 * (engines - 1) * (latency + size / engines * bandwidth)


WRONG = {
    "shares": [rest_left_out, rest_to_the_last, larger_ones_last, fractions_of_images, rounded_up],
    "together": [plain_mean, sum_alone, divided_by_the_engines, not_divided, first_one_only],
    "speed_up": [
        communication_for_nothing,
        communication_shared_too,
        communication_on_one_engine_too,
        upside_down,
        computing_not_shared,
    ],
    "ring_all_reduce": [
        whole_gradient_each_turn,
        half_of_the_turns,
        latency_once,
        two_turns_too_many,
        multiplied_by_the_bandwidth,
    ],
}
