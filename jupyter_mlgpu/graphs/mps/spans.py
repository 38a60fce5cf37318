"""Ranges of PyTorch's minor versions: `2.9-2.13`, and `2.14-`, which has no end."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.sentence import Sentence, say

_MINOR = re.compile(r"(\d+)\.(\d+)")


@functools.lru_cache(maxsize=256)
def number(version: str) -> tuple[int, int]:
    """Return a version's first two numbers, by which versions are ordered: (2, 15) for `2.15.0a0+git1234`.

    Raises PlanError for what does not begin with two numbers.
    """
    found = _MINOR.match(version)
    if found is None:
        raise PlanError(say("{version} is no version of PyTorch, such as 2.15.", version=version))
    return int(found[1]), int(found[2])


def holds(span: str, version: str) -> bool:
    """Return True if a version is in a range."""
    first, last = span.split("-")
    return number(first) <= number(version) and (not last or number(version) <= number(last))


def in_words(span: str, versions: Sequence[str]) -> Sentence:
    """Return when something was so: `2.11-2.14` is "since 2.11, fixed in 2.15".

    `versions` are those that were looked at, the oldest first. What begins with the first may be older.
    """
    first, last = span.split("-")
    since = say("since {version}", version=first)
    if first == versions[0]:
        since = say("since {version} or before", version=first)
    if not last:
        return say("{since}, not fixed in {version}", since=since, version=versions[-1])
    fixed = next((one for one in versions if number(one) > number(last)), "")
    if not fixed:
        return say("{since}, fixed after {version}", since=since, version=last)
    return say("{since}, fixed in {version}", since=since, version=fixed)
