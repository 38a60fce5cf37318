"""Redaction takes time in proportion to the text, whatever the text is.

The one unit test that reads a clock, the processor's own: a pattern that looks back at what it has seen is
noticed in nothing else. It compares a text with one of ten times its length: a pattern that is not linear
takes a hundred times as long (docs/measurements/2026-11-23-redaction has the figures).
"""

from re import _constants as code
from re import _parser as parser

import pytest

from jupyter_mlgpu.record.redact import (
    assigned,
    calls,
    commands,
    environment,
    letters,
    people,
    redact,
    secrets,
)
from jupyter_mlgpu.record.redact import code as in_code
from tests.support import hard_texts

REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)


@pytest.mark.parametrize("name", hard_texts.PIECES)
def test_a_long_text_takes_no_longer_than_its_length_explains(name):
    texts = [hard_texts.text_of(name, characters) for characters in (20_000, 200_000)]
    shorter, longer = (hard_texts.seconds(text, times=3) for text in texts)
    assert longer < 30 * max(shorter, 0.002), f"ten times the text took {longer / shorter:.0f} times as long"


def test_what_took_seconds_before_does_not():
    for text in ('data="' + hard_texts.PIECES["base64url"][:66_000] + '"', "token-" * 500):
        assert hard_texts.seconds(text, times=3) < 0.2


def patterns():
    redact("every rule = is needed, secrets='abc' --token")
    yield from (pattern for _, pattern, _ in secrets._RULES)
    yield from (
        secrets._PEM,
        secrets._PEM_END,
        secrets._PEM_LINE,
        secrets._PUT_IN.pattern,
        secrets.published().pattern,
    )
    yield from (f"({command})({option})" for _, command, option in commands.COMMANDS)
    yield from (assigned._FLAG, assigned._assigned().pattern)
    yield from (calls.openings_or_sounds().pattern, in_code._PUTS.pattern)
    yield from (in_code._GIVES.pattern, in_code._GIVEN.pattern, in_code._COMPUTED.pattern)
    yield from (environment._MAGIC, environment._EXPORT, environment._PAIR)
    yield from (people._HOMES, people._OWN_FOLDER, people._PROFILE)


def without_end(items, goes_on=False):
    """Repetitions without bound after which something may fail, as parsed. `goes_on`: these items are not the
    last."""
    for place, (operation, value) in enumerate(items):
        after = goes_on or any(one[0] not in REPEATS or one[1][0] > 0 for one in items[place + 1 :])
        if operation in REPEATS:
            if value[1] == code.MAXREPEAT and after:
                yield operation, value
            yield from without_end(list(value[2]), goes_on=True)
        elif operation is code.SUBPATTERN:
            yield from without_end(list(value[-1]), after)
        elif operation in (code.ASSERT, code.ASSERT_NOT):
            yield from without_end(list(value[1]), goes_on=True)
        elif operation is code.ATOMIC_GROUP:
            yield from without_end(list(value), after)
        elif operation is code.BRANCH:
            for branch in value[1]:
                yield from without_end(list(branch), after)


def test_no_repetition_is_without_bound_unless_it_is_the_last_of_its_pattern():
    found = {pattern: list(without_end(list(parser.parse(pattern)))) for pattern in patterns()}
    assert len(found) > 20
    assert {pattern: bad for pattern, bad in found.items() if bad} == {}


def test_the_test_above_knows_a_repetition_without_bound():
    for pattern in (r"\w*token=", r"(?:a{1,3})*b", r"(?=\w+)b", r"(?:a+|b)c+d", r"(a+)+"):
        assert list(without_end(list(parser.parse(pattern)))) != [], pattern


def test_small_letters_stand_where_the_letters_stood():
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert len(letters.lower(every)) == len(every)
