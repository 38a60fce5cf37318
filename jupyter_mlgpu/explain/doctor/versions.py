"""Version numbers compared by their release part alone: `2.13.0+cpu` is 2.13.0, `2.20.0rc1` is 2.20.0."""

from __future__ import annotations

import operator
import re

_SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_BOUND = re.compile(r"([<>=!]=?)\s*(\w+(?:[.+]\w+)*)(\.\*)?")
_RELEASE = re.compile(r"\d+(?:\.\d+)*")


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version without zeros at the end, so that 13 and 13.0 are equal; () for none."""
    found = _RELEASE.match(version.strip().removeprefix("v"))
    numbers = [int(one) for one in found.group().split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def older(version: str, than: str) -> bool:
    """Whether a version comes before another."""
    return release(version) < release(than)


def minor(version: str) -> str:
    """Such as `2.19` of `2.19.1`."""
    return ".".join([*version.split("+")[0].split("."), "0"][:2])


def within(version: str, requirement: str) -> bool:
    """Return whether a version fits all bounds of a requirement, such as `tensorflow>=2.14,<2.20`.

    Of a bound that ends in `.*`, the first two numbers count. Without bounds every version fits.
    """
    return all(
        _SIGNS[sign](release(minor(version) if family else version), release(bound))
        for sign, bound, family in _BOUND.findall(requirement)
    )
