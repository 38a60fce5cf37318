"""Compares versions by their release part alone: `2.13.0+cpu` is 2.13.0, `2.20.0rc1` is 2.20.0."""

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
    """Return a version's numbers without trailing zeros, so that 13 equals 13.0; () if there are none."""
    match = _RELEASE.match(version.strip().removeprefix("v"))
    numbers = [int(number) for number in match.group().split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def older(version: str, than: str) -> bool:
    """Return True if a version comes before another."""
    return release(version) < release(than)


def minor(version: str) -> str:
    """Return a version's first two numbers, such as `2.19` of `2.19.1`."""
    return ".".join([*version.split("+")[0].split("."), "0"][:2])


def within(version: str, requirement: str) -> bool:
    """Return True if a version fits all bounds of a requirement, such as `tensorflow>=2.14,<2.20`.

    For a bound that ends in `.*`, only the first two numbers count. A requirement without bounds fits every
    version.
    """
    return all(
        _SIGNS[sign](release(minor(version) if family else version), release(bound))
        for sign, bound, family in _BOUND.findall(requirement)
    )
