"""Lesson 14: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def rest_left_out(batch: Any, engines: Any) -> Any:
    return [batch // engines] * engines


def rest_to_the_last(batch: Any, engines: Any) -> Any:
    return [batch // engines] * (engines - 1) + [batch // engines + batch % engines]


def larger_ones_last(batch: Any, engines: Any) -> Any:
    each, left = divmod(batch, engines)
    return [each] * (engines - left) + [each + 1] * left


def plain_mean(gradients: Any, images: Any) -> Any:
    return sum(gradients) / len(gradients)


def divided_by_engines(gradients: Any, images: Any) -> Any:
    weighted = [one * count for one, count in zip(gradients, images, strict=True)]
    return sum(weighted) / len(gradients)


def not_divided(gradients: Any, images: Any) -> Any:
    return sum(one * count for one, count in zip(gradients, images, strict=True))


def no_communication(compute: Any, engines: Any, communication: Any) -> Any:
    return compute / (compute / engines)


def communication_shared(compute: Any, engines: Any, communication: Any) -> Any:
    return compute / ((compute + communication) / engines)


def upside_down(compute: Any, engines: Any, communication: Any) -> Any:
    return (compute / engines + communication) / compute


def whole_gradient_each_turn(size: Any, engines: Any, latency: Any, bandwidth: Any) -> Any:
    return 2 * (engines - 1) * (latency + size / bandwidth)


def added_but_not_handed_on(size: Any, engines: Any, latency: Any, bandwidth: Any) -> Any:
    return (engines - 1) * (latency + size / engines / bandwidth)


def latency_once(size: Any, engines: Any, latency: Any, bandwidth: Any) -> Any:
    return latency + 2 * (engines - 1) * size / engines / bandwidth


COACHING = {
    "shares": coaching(
        hints=[
            say("Add your shares up: is it the whole batch?"),
            say("divmod gives two numbers: what everybody gets, and how many are left. Who gets these?"),
            say("An engine whose number is below what is left gets one image more."),
        ],
        mistakes=[
            (say("You left the rest out: some images go to nobody."), rest_left_out),
            (say("The last engine gets the whole rest: share it out, one each."), rest_to_the_last),
            (say("The larger shares come last with you; they should come first."), larger_ones_last),
        ],
    ),
    "together": coaching(
        hints=[
            say("A gradient over three images should count three times as much as one over a single image."),
            say("Each gradient times its number of images gives back the sum over them."),
            say("Divide by how many images there are in all."),
        ],
        mistakes=[
            (
                say("You took the plain mean: each engine counts the same, however many images it has."),
                plain_mean,
            ),
            (say("You divided by the number of engines, not of images."), divided_by_engines),
            (say("You did not divide: this is a sum, not a mean."), not_divided),
        ],
    ),
    "speed_up": coaching(
        hints=[
            say("How many seconds does a step on several engines take? Write that below the line first."),
            say("The computing is shared by the engines; the communication comes on top, and is not shared."),
            say("Mind the brackets: everything after the division sign belongs below the line."),
        ],
        mistakes=[
            (say("You left out the communication."), no_communication),
            (say("You shared the communication, too; it takes as long for each."), communication_shared),
            (say("You have it upside down: more engines would then be slower."), upside_down),
        ],
    ),
    "ring_all_reduce": coaching(
        hints=[
            say("How long does one turn take, and how many turns are there?"),
            say(
                "In a turn, every engine sends one part, all at the same time. That takes the latency, "
                "and the part's bytes divided by the bandwidth."
            ),
            say("A part has gone all the way round after `engines - 1` turns, and it goes round twice."),
        ],
        mistakes=[
            (
                say("You sent the whole gradient in each turn; it is one part of it."),
                whole_gradient_each_turn,
            ),
            (
                say(
                    "After these turns each finished part is on one engine only; they still have to go round."
                ),
                added_but_not_handed_on,
            ),
            (say("You counted the latency once; every turn has to wait for it."), latency_once),
        ],
    ),
}
