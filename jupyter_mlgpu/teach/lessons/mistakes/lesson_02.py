"""Lesson 02: hints and likely mistakes."""

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


def _halves(numbers: Any, rounds: Any) -> Any:
    """Return the sum in halves, and the result of `rounds` in place of the right number of rounds."""
    if len(numbers) == 1:
        return numbers[0], 0
    half = len(numbers) // 2
    (left, before), (right, beside) = _halves(numbers[:half], rounds), _halves(numbers[half:], rounds)
    return left + right, rounds(before, beside)


def one_after_the_other(numbers: Any) -> Any:
    return _halves(numbers, lambda left, right: left + right + 1)


def joining_left_out(numbers: Any) -> Any:
    return _halves(numbers, max)


def quicker_half(numbers: Any) -> Any:
    return _halves(numbers, lambda left, right: 1 + min(left, right))


COACHING = {
    "add_three": coaching(
        hints=[
            say("Which of x, y and z has its digit missing from your sum, or in it twice?"),
            say("A plus sign adds two tensors of the same shape, number by number."),
            say("Two plus signs in one line take all three."),
        ],
        mistakes=[
            (say("You left out z."), z_left_out),
            (say("You added z twice."), z_twice),
            (say("You subtracted z instead of adding it."), z_taken_away),
        ],
    ),
    "add_in_halves": coaching(
        hints=[
            say("Both halves begin at the same time. After how many rounds are both of them there?"),
            say("The right half is added as the left one is; it begins where the left one ends."),
            say("`numbers[half:]` is the right half; the rounds are one more than those of the slower half."),
        ],
        mistakes=[
            (say("You added the rounds of both halves; they run at the same time."), one_after_the_other),
            (say("You left out the round that adds the two sums."), joining_left_out),
            (say("You waited for the quicker half; the slower one has to be ready, too."), quicker_half),
        ],
    ),
}
