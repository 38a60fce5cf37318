"""Sentences are told in another language by their templates, and stay English where none fits."""

import pytest

from jupyter_mlgpu import sentences
from jupyter_mlgpu.sentences import filling

TABLE = {
    "It was not told.": "没有给出。",
    "{name:word} is {what}.": "{name}是{what}。",
    "{name:word} is {size:figure} long.": "{name}长{size}。",
    "a small folder": "一个小文件夹",
    "Not judged ({count:figure}):": "有 {count} 项未作判断。",
    "Because {why:known}": "因为{why}",
    "left out {gone:word} here": "这里不提",
}


@pytest.fixture(autouse=True)
def of_these_templates(monkeypatch):
    monkeypatch.setattr(sentences, "load", lambda language: TABLE if language == "zh" else {})
    filling._templates.cache_clear()
    yield
    filling._templates.cache_clear()


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("It was not told.", "没有给出。"),
        ("Nobody knows this.", "Nobody knows this."),
        ("x is y.", "x是y。"),
        ("two words is y.", "two words is y."),
        ("x is a small folder.", "x是一个小文件夹。"),
        ("x is 3.5 GB long.", "x长3.5 GB。"),
        ("x is very long.", "x是very long。"),
        ("Not judged (12):", "有 12 项未作判断。"),
        ("Not judged (many):", "Not judged (many):"),
        ("It was not told. x is y.", "没有给出。x是y。"),
        ("Who knows. x is y.", "Who knows. x是y。"),
        ("Because a small folder", "因为一个小文件夹"),
        ("Because I say so", "Because I say so"),
        ("left out x here", "这里不提"),
        ("", ""),
    ],
)
def test_a_text_is_told_by_the_most_literal_template_that_fits(english, chinese):
    assert filling.say(english, "zh") == chinese


def test_english_and_a_language_that_there_is_not_stay_english():
    assert filling.say("It was not told.", "en") == "It was not told."
    assert filling.say("It was not told.", "fr") == "It was not told."


def test_a_text_that_is_far_too_long_is_left_alone():
    text = "It was not told. " * 100
    assert filling.say(text, "zh") == text
