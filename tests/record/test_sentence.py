"""A sentence is a text for whoever reads it, and its template and fields for whoever translates it."""

import pickle

import pytest

from jupyter_mlgpu.record import sentence
from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.sentence import DEEPEST, MOST_LETTERS, Sentence, from_json, joined, say, say_count

NESTED = say("{device} was idle: {why}", device="gpu:0", why=say("{count} copies", count=1234))


def test_a_sentence_is_the_text_that_its_template_and_fields_make():
    assert NESTED == "gpu:0 was idle: 1,234 copies"
    assert f"{NESTED}." == "gpu:0 was idle: 1,234 copies."
    assert NESTED.template == "{device} was idle: {why}"


def test_braces_that_are_no_fields_stay_as_they_are():
    assert say("{x} of {'a': 1} and {missing}", x="1") == "1 of {'a': 1} and {missing}"
    assert say("{x}", x="{y}") == "{y}"


def test_the_singular_is_for_one_alone():
    told = [say_count("{count} note", "{count} notes", count) for count in (0, 1, 2, 1000)]
    assert told == ["0 notes", "1 note", "2 notes", "1,000 notes"]


@pytest.mark.parametrize("one", [NESTED, Sentence("As it stands."), say_count("one", "{count} of them", 7)])
def test_a_sentence_comes_back_from_json_and_from_another_process(one: Sentence):
    for back in (from_json(one.to_json()), pickle.loads(pickle.dumps(one))):
        assert (back, back.template, back.fields, back.plural) == (one, one.template, one.fields, one.plural)


def test_without_fields_a_sentence_is_a_string_in_json_and_its_braces_are_never_filled():
    assert Sentence("As {it} stands.").to_json() == "As {it} stands."
    assert from_json("As {it} stands.") == "As {it} stands."


def test_of_what_was_read_the_text_is_made_again():
    assert from_json({"text": "a lie", "template": "{n} ran", "fields": {"n": 3}}) == "3 ran"


def nested(depth: int) -> dict[str, object]:
    return {"template": "{a}", "fields": {"a": nested(depth - 1) if depth else "end"}}


@pytest.mark.parametrize(
    "data",
    [
        None,
        3,
        ["a"],
        {},
        {"template": 3},
        {"template": "{a}", "fields": []},
        {"template": "{a}", "fields": {"a": None}},
        {"template": "{a}", "fields": {"a": True}},
        {"template": "{a}", "fields": {"a": 1.5}},
        {"template": "{a}", "plural": 3, "fields": {"a": "b"}},
        {"template": "{a}", "fields": {f"f{n}": "x" for n in range(100)}},
        {"template": "x" * (MOST_LETTERS + 1)},
        {"template": "{a}" * 1000, "fields": {"a": "x" * 1000}},
        nested(DEEPEST + 1),
    ],
)
def test_what_is_no_sentence_of_ours_is_refused(data: object):
    with pytest.raises(ValueError, match="sentence"):
        from_json(data)


def test_a_template_of_a_strangers_reaches_nothing_but_its_fields():
    assert from_json({"template": "{a.__class__} {a!r} {a:>99}", "fields": {"a": "x"}}) == (
        "{a.__class__} {a!r} {a:>99}"
    )


def test_sentences_are_joined_each_once():
    both = joined(NESTED, "Second.", NESTED)
    assert both == "gpu:0 was idle: 1,234 copies Second."
    assert joined(NESTED, NESTED) is NESTED
    many = [f"Number {n}." for n in range(20)]
    assert joined(*many) == " ".join(many)


def test_redaction_reaches_the_fields_and_leaves_the_template():
    told = say("{path} cannot be read", path="/home/anna/key.pem").map(redact)
    assert "anna" not in told
    assert told.template == "{path} cannot be read"


def test_a_receipt_leaves_out_the_texts_that_its_templates_make_again():
    told = say("{device} was idle.", device=say("The GPU {number}", number="0"))
    short = to_json({"notes": [told, "plain"], "n": 1}, texts=False)
    assert "text" not in short["notes"][0]
    assert "text" not in short["notes"][0]["fields"]["device"]
    assert sentence.from_json(short["notes"][0]) == "The GPU 0 was idle."
    assert short["notes"][1:] == ["plain"]


def test_a_sentence_without_its_template_is_its_text():
    told = say("{device} was idle.", device="gpu:0").to_json()
    assert sentence.only_texts({"notes": [told]}) == {"notes": ["gpu:0 was idle."]}


@pytest.mark.parametrize("fact", [{"template": 1}, {"template": "x"}, {"text": "a", "template": None}])
def test_a_table_of_somebody_elses_is_no_sentence(fact):
    assert sentence.only_texts({"value": fact}) == {"value": fact}
    assert to_json({"value": fact}, texts=False) == {"value": fact}
