"""A file's name may hold what moves a cursor, colours lines or names windows: no command prints it so."""

import json

import pytest

from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record

EVIL = "\x1b]0;evil\x07\x1b[31m\u202eline\nanother"
WRITTEN_OUT = r"\u001b]0;evil\u0007\u001b[31m\u202eline\u000aanother"

REFUSED = {
    "strip": ["strip", "MISSING.ipynb"],
    "strip of no notebook": ["strip", "NONE.ipynb"],
    "doctor": ["doctor", "--facts", "MISSING.json"],
    "doctor of no facts": ["doctor", "--facts", "NONE.json"],
    "bench": ["bench", "--against", "MISSING.json"],
    "bench of no results": ["bench", "--against", "NONE.json"],
    "bench of two": ["bench", "--against", "NONE.json", "MISSING.json"],
    "run": ["run", "MISSING.ipynb", "--out", "out"],
    "run of no notebook": ["run", "NONE.ipynb", "--out", "out"],
    "run into its own folder": ["run", "FOLDER/NONE.ipynb", "--out", "FOLDER"],
    "explain": ["explain", "MISSING.log"],
    "lessons": ["lessons", "NONE.ipynb"],
    "report": ["class", "report", "MISSING"],
    "collect": ["class", "collect", "FOLDER", "--lab", "MISSING", "--from", "FOLDER"],
    "a word too many": ["strip", "--EVIL"],
}


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A folder whose files have such names; what a word stands for is put into it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"folder{EVIL}").mkdir()
    for suffix in (".ipynb", ".json"):
        (tmp_path / f"none{EVIL}{suffix}").write_text("[]")
    (tmp_path / f"folder{EVIL}" / f"none{EVIL}.ipynb").write_text("[]")
    names = {"MISSING": f"missing{EVIL}", "NONE": f"none{EVIL}", "FOLDER": f"folder{EVIL}", "EVIL": EVIL}

    def real(word):
        for name, meant in names.items():
            word = word.replace(name, meant)
        return word

    return real


@pytest.mark.parametrize("words", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_one_line_of_what_can_be_seen(evil, words, capsys):
    assert cli.main([evil(word) for word in words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert WRITTEN_OUT in shown.err
    assert shown.err.removesuffix("\n").isprintable()


def test_a_notebook_that_was_stripped_is_named_so(tmp_path, capsys):
    receipt = {"output_type": "display_data", "data": bundle(example_record()), "metadata": {}}
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [receipt], "source": []}
    path = tmp_path / f"{EVIL}.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    assert cli.main(["strip", str(path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/{WRITTEN_OUT}.ipynb: removed 1 receipt.\n"


def test_a_name_that_is_no_utf_8_can_be_told(tmp_path, capfdbinary):
    path = tmp_path / "\udcff.ipynb"
    path.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}')
    assert cli.main(["strip", str(path)]) == 0
    assert rb"\udcff.ipynb: no receipts" in capfdbinary.readouterr().out


def test_the_lessons_are_told_to_lie_there(evil, capsys):
    assert cli.main(["lessons", evil("MISSING")]) == 0
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.splitlines())
    assert out.count(WRITTEN_OUT) == 2


def test_the_class_report_is_told_to_lie_there(evil, capsys):
    assert cli.main(["class", "report", evil("FOLDER")]) == 1
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.splitlines())
    assert WRITTEN_OUT in out


def test_the_facts_are_told_to_lie_there(evil, capsys, tmp_path):
    facts = tmp_path / "facts.json"
    assert cli.main(["doctor", "--save-facts", str(facts)]) in (0, 1)
    capsys.readouterr()
    assert cli.main(["doctor", "--facts", str(facts), "--save-facts", evil("MISSING.json")]) in (0, 1)
    assert WRITTEN_OUT in capsys.readouterr().err
