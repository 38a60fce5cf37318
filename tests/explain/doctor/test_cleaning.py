"""Facts may be sent to a teacher: planted names of users and hosts, homes and tokens are not in them."""

import json
import socket

import pytest

from jupyter_mlgpu.explain.doctor import gather as gathering
from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.facts import (
    Environment,
    Facts,
    FrameworkAnswer,
    KernelFacts,
    KernelSpec,
    Notebook,
    Package,
    Python,
    Storage,
)
from jupyter_mlgpu.explain.doctor.gather import cleaning
from jupyter_mlgpu.explain.doctor.maybe import Unknown
from jupyter_mlgpu.explain.doctor.shapes import MOST_LETTERS
from jupyter_mlgpu.record.redact import people
from jupyter_mlgpu.record.sentence import say

PLANTED = (
    "adalovelace",
    "ada@example.org",
    "lab7-gpu",
    "hunter2",
    "hf_abcdefghijklmnop",
    "sk-proj-abcdefghijkl",
    "eyJhbGciOi",
    "/srv/people",
    "carol",
)


@pytest.fixture(autouse=True)
def ada_on_lab7(monkeypatch):
    monkeypatch.setenv("HOME", "/srv/people/adalovelace")
    monkeypatch.setenv("USER", "adalovelace")
    monkeypatch.setattr(socket, "gethostname", lambda: "lab7-gpu.example.org")
    people.identity.cache_clear()
    cleaning._host.cache_clear()
    yield
    people.identity.cache_clear()
    cleaning._host.cache_clear()


def test_planted_names_and_secrets_are_in_no_fact():
    said = (
        "hostname: lab7-gpu.example.org, lab7-gpu:8888",
        "Authorization: Bearer abcdefghijkl, token=hunter2",
        "key sk-proj-abcdefghijkl of ada@example.org",
        "jwt eyJhbGciOi.eyJzdWIi.c2ln",
    )
    error = 'File "/srv/people/adalovelace/x.py", in /Users/carol/y.py: hf_abcdefghijklmnop'
    facts = Facts(
        python=Python(prefix="/srv/people/adalovelace/venv", executable="/home/carol/venv/bin/python"),
        environment=Environment(
            {"PYTHONPATH": "/Users/carol/lib"}, {"LD_LIBRARY_PATH": "/srv/people/adalovelace"}
        ),
        kernel=KernelFacts(specs=(KernelSpec("adalovelace", "/srv/people/adalovelace/bin/python"),)),
        frameworks={"torch": FrameworkAnswer(error=error, said=said)},
    )
    clean = json.dumps(reading.to_json(cleaning.cleaned(facts)))
    assert [one for one in PLANTED if one in clean] == []
    assert "~/venv" in clean
    assert "<host>" in clean


def test_what_is_gathered_here_is_clean_too(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_HOME", "/srv/people/adalovelace/cuda")
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefghijklmnop")
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/srv/people/adalovelace/dump")
    text = json.dumps(reading.to_json(gathering.gather()))
    assert [one for one in PLANTED if one in text] == []
    assert "~/cuda" in text
    assert "--xla_dump_to=~/dump" in text


def test_a_host_with_an_ordinary_name_spoils_no_text(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "vm")
    cleaning._host.cache_clear()
    assert cleaning.clean_text("vm.max_map_count on localhost") == "vm.max_map_count on localhost"


def test_a_long_text_is_cut_to_what_a_facts_file_may_hold():
    assert len(cleaning.clean_text("x" * 10_000)) == MOST_LETTERS


def test_what_a_facts_file_may_not_hold_is_not_gathered_and_costs_no_more_than_itself():
    facts = Facts(
        python=Python(version="3.12.1", pip="not.a.version!", executable="/usr/bin/\udcff\x1bpython"),
        packages={"torch": Package("2.13.0"), "jax": Package("0.10+<host>"), "jax;reboot": Package("1.0")},
        notebooks=(
            Notebook("a\nb.ipynb"),
            Notebook("\udce4.ipynb"),
            Notebook("-f.ipynb"),
            Notebook("c.ipynb"),
        ),
        storage=Storage(
            here_free=Unknown(say("It could not be read ({error}: {why}).", error="OSError", why="one\ntwo"))
        ),
        frameworks={"torch": FrameworkAnswer(error="Traceback:\n  \x1b[1mno")},
    )
    clean = cleaning.cleaned(facts)
    assert clean.python.version == "3.12.1"
    assert isinstance(clean.python.pip, Unknown)
    assert clean.python.executable == "/usr/bin/\ufffd\ufffdpython"
    assert clean.packages == {"torch": Package("2.13.0")}
    assert [one.name for one in clean.notebooks] == ["\ufffd.ipynb", "c.ipynb"]
    assert clean.storage.here_free == Unknown(say("It could not be read (OSError: one two)."))
    assert clean.storage.here_free.reason.fields == {"error": "OSError", "why": "one two"}
    assert clean.frameworks == {"torch": FrameworkAnswer(error="Traceback:\n  \ufffd[1mno")}
    assert reading.from_json(reading.to_json(clean)) == clean
