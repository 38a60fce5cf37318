"""Lesson 01: hints, and likely mistakes by name."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def z_left_out(x: Any, y: Any, z: Any) -> Any:
    return x + y


def z_twice(x: Any, y: Any, z: Any) -> Any:
    return x + y + z + z


def z_taken_away(x: Any, y: Any, z: Any) -> Any:
    return x + y - z


COACHING = {
    "add_three": coaching(
        hints=[
            say("Which of x, y and z has its digit missing in your sum, or standing there twice?"),
            say("A plus sign adds two tensors of the same shape, number by number."),
            say("Two plus signs in one line take all three."),
        ],
        mistakes=[
            (say("You left out z."), z_left_out),
            (say("You added z twice."), z_twice),
            (say("You took z away instead of adding it."), z_taken_away),
        ],
    ),
}
