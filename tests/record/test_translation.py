"""What we say in another language: a template is looked up, and its fields are filled in."""

import json

import pytest

from jupyter_mlgpu.jupyter.server import messages as servermessages
from jupyter_mlgpu.record import decoding, sentence, translation
from jupyter_mlgpu.record.sentence import joined, listed, say, say_count
from jupyter_mlgpu.record.translation import translated

POLISH = r"""
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);\n"

msgid "{count} operation ran on {device}."
msgid_plural "{count} operations ran on {device}."
msgstr[0] "{count} operacja na {device}."
msgstr[1] "{count} operacje na {device}."
msgstr[2] "{count} operacji na {device}."

msgid "It was {why}."
msgstr "Było {why}."

msgid "slow"
msgstr "wolno"

msgid "not said yet"
msgstr ""
"""


@pytest.fixture
def polish(tmp_path, monkeypatch):
    """A language of which there is a catalogue, and nothing else."""
    folder = tmp_path / "pl" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "jupyter_mlgpu.po").write_text(POLISH, encoding="utf-8")
    monkeypatch.setattr(translation, "LOCALE", tmp_path)
    translation.messages.cache_clear()
    translation._read.cache_clear()
    yield "pl"
    translation.messages.cache_clear()
    translation._read.cache_clear()


def test_a_further_language_is_a_further_catalogue(polish):
    assert translated(say("It was {why}.", why="no GPU"), polish) == "Było no GPU."


@pytest.mark.parametrize(
    ("count", "said"), [(1, "operacja"), (2, "operacje"), (5, "operacji"), (22, "operacje")]
)
def test_a_plural_has_as_many_forms_as_its_language(polish, count, said):
    ran = say_count(
        "{count} operation ran on {device}.", "{count} operations ran on {device}.", count, device="gpu:0"
    )
    assert translated(ran, polish) == f"{count} {said} na gpu:0."


def test_a_sentence_in_a_field_is_translated_and_a_text_there_is_data(polish):
    assert translated(say("It was {why}.", why=say("slow")), polish) == "Było wolno."
    assert translated(say("It was {why}.", why="slow"), polish) == "Było slow."


def test_a_plain_text_is_looked_up_as_it_stands(polish):
    assert translated("slow", polish) == "wolno"


@pytest.mark.parametrize("text", ["It took {long}.", "not said yet"])
def test_what_the_catalogue_does_not_know_stays_english(polish, text):
    assert translated(say(text, long="5 s"), polish) == say(text, long="5 s")


def test_an_unknown_sentence_has_its_fields_translated_all_the_same(polish):
    assert translated(say("{first} {second}", first=say("slow"), second=say("Odd.")), polish) == "wolno Odd."


def test_an_unknown_plural_is_the_english_one(polish):
    assert translated(say_count("{count} byte", "{count} bytes", 2_000), polish) == "2,000 bytes"


@pytest.mark.parametrize("code", ["zh", "zh_CN", "zh-Hans", "ZH-cn"])
def test_a_language_is_known_by_each_of_its_codes(code):
    assert translated(say("Not measured here."), code) != ""
    assert translation.messages(code) == translation.messages("zh_CN")


@pytest.mark.parametrize("code", ["en", "en_GB", "fr", "", "../zh_CN", "z"])
def test_a_language_without_a_catalogue_is_english(code):
    assert translation.messages(code) == {}
    assert translated(say("slow"), code) == "slow"


def test_sentences_one_after_another_and_lists_read_well_in_chinese():
    both = joined(say("This Mac's GPU is not an NVIDIA GPU."), say("NVML finds no NVIDIA GPU here."))
    assert "\u3002 " not in translated(both, "zh")
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert translated(listed(["a", "b", "c"]), "zh") == "a\uff0cb 和 c"


def test_what_comes_back_from_json_reads_the_same_in_every_language():
    said = joined(*(say("{device} was left.", device=f"gpu:{number}") for number in range(8)))
    again = sentence.from_json(json.loads(json.dumps(decoding.to_json(said))))
    assert again == said
    assert translated(again, "zh") == translated(said, "zh")


def test_browsers_get_the_whole_catalogue():
    told = json.loads(servermessages.texts("zh_CN"))["messages"]
    assert told["Now"] == ["当前"]
    assert told.keys() == translation.messages("zh").keys()


def test_browsers_hear_that_there_is_no_catalogue():
    with pytest.raises(LookupError):
        servermessages.texts("fr")
    with pytest.raises(LookupError):
        servermessages.messages("fr")
