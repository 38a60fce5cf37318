"""A Chinese JupyterLab explains every message of the catalogue."""

import messages_for_browser  # scripts/messages_for_browser.py

from jupyter_mlgpu.logs.catalogue import Catalogue


def test_the_chinese_messages_in_the_browser_are_those_of_the_catalogue():
    shown = messages_for_browser.WRITTEN.read_text(encoding="utf-8")
    assert shown == messages_for_browser.written(), "run `make messages` after a change of the catalogue"


def test_no_message_is_without_chinese():
    assert messages_for_browser.messages().keys() == Catalogue.load().definitions.keys()
