"""A browser that speaks Chinese finds on the server what it does not bring itself."""

import json

import pytest

from jupyter_mlgpu import sentences, servermessages
from jupyter_mlgpu.logs.catalogue import Catalogue


def test_every_message_is_there_with_its_fields_unfilled():
    told = json.loads(servermessages.messages("zh"))
    definitions = Catalogue.load().definitions
    assert told.keys() == definitions.keys()
    for name, texts in told.items():
        assert texts.keys() == {"meaning", "advice"}
        assert texts["meaning"] == definitions[name].tables["zh"]["meaning"]


def test_the_page_s_texts_come_with_the_kernel_s_sentences(tmp_path, monkeypatch):
    (tmp_path / "texts.zh.json").write_text('{"title": "硬件回执"}', encoding="utf-8")
    monkeypatch.setattr(servermessages, "TEXTS", tmp_path)
    told = json.loads(servermessages.texts.__wrapped__("zh"))
    assert told["texts"] == {"title": "硬件回执"}
    assert told["sentences"] == sentences.load("zh")
    assert len(told["sentences"]) > 300


def test_texts_that_were_not_built_are_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(servermessages, "TEXTS", tmp_path)
    with pytest.raises(FileNotFoundError):
        servermessages.texts.__wrapped__("zh")


def test_the_address_follows_the_servers_own():
    ((address, _),) = servermessages.handlers("/user/ada/")
    assert address.startswith("/user/ada/jupyter-mlgpu/(messages|texts)/")
