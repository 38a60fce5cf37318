"""The pattern language of the catalogue: what a pattern matches, and what it takes out of a text."""

import time

import pytest

from jupyter_mlgpu.explain.logs.template import Pattern, straighten


def taken(pattern, text):
    return Pattern(pattern).match(straighten(text))


@pytest.mark.parametrize(
    ("pattern", "text", "fields"),
    [
        ("device set to: {device}", "device set to: Apple M1 Max", {"device": "Apple M1 Max"}),
        ("device set to: {device}", "device set to: Apple M1 Max  \nnext line", {"device": "Apple M1 Max"}),
        ("with {memory:int} MB memory", "with 1,234 MB memory", {"memory": 1234}),
        ("index {n:int} of", "index -3 of", {"n": -3}),
        ("took {seconds:number} ms", "took 1.5e-3 ms", {"seconds": 0.0015}),
        ("took {seconds:number}", "took .5", {"seconds": 0.5}),
        ("limit {size:size}, more", "limit 5.41GiB, more", {"size": "5.41GiB"}),
        ("limit {size:size}", "limit 16.00 GB (of all)", {"size": "16.00 GB"}),
        ("limit {size:size}", "limit 27 bytes", {"size": "27 bytes"}),
        ("limit {size:size}", "limit 3.43G (3683069952 bytes)", {"size": "3.43G"}),
        ("op {name:word} on", "op a/b:0 on", {"name": "a/b:0"}),
        ("op {name:word}", "op a/b:0 on the CPU", {"name": "a/b:0"}),
        ("at {address:hex}>", "at 0x7f2B>", {"address": "0x7f2B"}),
        ("first {all:line}", "first of all: {}\nsecond", {"all": "of all: {}"}),
        ("first {all:line} second", "first of all\nsecond", {"all": "of all"}),
        ("from {a} to {b}", "from here to there and back", {"a": "here", "b": "there and back"}),
        ("from {a} to {b}{end}", "from here to there", {"a": "here", "b": "there"}),
        ("one {*} three {n:int}", "one\ntwo\nthree 3", {"n": 3}),
        ("{*}failed with {code:int}", "so it failed with 7", {"code": 7}),
        ("{*}{op:word} failed", "the operation MatMul failed", {"op": "MatMul"}),
        ("{:word} of {:int}", "half of 8", {}),
        ("one two", "one \n\t two", {}),
        ("[[{{node {name:word}}}]]", "[[{node a/b}]]", {"name": "a/b"}),
        ("may not 'be'", "may not ‘be’", {}),  # noqa: RUF001
        ("may not 'be'", "may not `be`", {}),
        ("failed: Not found: no {what}", "failed: NOT_FOUND: no file", {"what": "file"}),
        ("OUT_OF_RANGE: End of sequence", "Out of range: End of sequence", {}),
        ("Devices: {*}", "Devices:", {}),
        ("done{end}", "done \n", {}),
    ],
)
def test_a_pattern_takes_the_fields_out_of_a_text(pattern, text, fields):
    assert taken(pattern, text) == fields


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("device set to: {device}", "my device set to: x"),
        ("device set to: {device}", "Device set to: x"),
        ("device set to: {device}", "device set to:"),
        ("a {b} c", "a b\nb c"),
        ("done{end}", "done and more"),
        ("work", "workers"),
        ("Not found: no {what}", "Out of range: no file"),
        ("took {n:int}", "took 3.5"),
        ("took {n:int} ms", "took three ms"),
        ("limit {size:size}", "limit 5 apples"),
        ("at {address:hex}", "at 1234"),
        ("from {a} to {b}{end}", "from here to there\nand back"),
    ],
)
def test_a_pattern_leaves_other_texts_alone(pattern, text):
    assert taken(pattern, text) is None


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        ("a {b:float} c", "no type"),
        ("a {B} c", "no name"),
        ("a {} c", "empty slot"),
        ("a {b c", "lone brace"),
        ("a } c", "lone brace"),
        ("a {b}{c} d", "nothing stands between"),
        ("a {b} c {b:int}", "twice"),
        ("a {end} c", "after"),
    ],
)
def test_a_pattern_written_wrongly_says_what_is_wrong(pattern, wrong):
    with pytest.raises(ValueError, match=wrong):
        Pattern(pattern)


def test_words_next_to_a_slot_do_not_count_for_looking_up():
    assert Pattern("lib{name:word}so was not found, {n:int} times").words == {"was", "not", "found", "times"}


def test_the_more_literal_of_two_patterns_has_the_higher_figure():
    assert Pattern("Loaded cuDNN version {n:int}").literals > Pattern("Loaded {what} version {n}").literals


@pytest.mark.parametrize(
    "pattern",
    [
        "name: {a} name: {b} name: {c} name: {d} name: {e} and out",
        "{*}name: {*} name: {*} name: {*} never",
        "{a:word} {b:word} {c:word} never",
        "{*} {a:word}: {*} {b:word}: {n:int} never",
    ],
)
@pytest.mark.parametrize("text", ["name: " * 1400, "x" * 8192, "a: 1 " * 1600], ids=["names", "x", "numbers"])
def test_no_text_makes_matching_slow(pattern, text):
    compiled = Pattern(pattern)
    compiled.match("short")
    started = time.process_time()
    assert compiled.match(text) is None
    assert time.process_time() - started < 2
