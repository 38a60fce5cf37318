"""`%mlc_doctor` in a real kernel: it judges the kernel's own Python, and shows findings as text and HTML."""

import json
from pathlib import Path

import pytest

from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.facts import Facts, MachineFacts, Package, Python

pytestmark = pytest.mark.kernel

MAC = Facts(
    machine=MachineFacts(system="Darwin", architecture="arm64"),
    python=Python(architecture="arm64"),
    packages={"tensorflow": Package("2.20.0"), "tensorflow-metal": Package("1.2.0")},
)


@pytest.fixture
def mac(plain) -> str:
    """The facts of a Mac whose plug-in cannot load, in the kernel's folder."""
    reading.save(plain.folder / "mac.json", MAC)
    return "mac.json"


def outputs(result, kind: str) -> list[dict[str, str]]:
    return [data for name, data in result.outputs if name == kind]


def test_the_kernels_own_python_is_judged(plain):
    result = plain.run(
        "d = %mlc_doctor --save-facts facts.json\n"
        "import sys; print(sorted({one['status'] for one in d.to_json()['checks']}))"
    )
    assert result.status == "ok", result
    assert "crashed" not in result.text
    facts = reading.load(plain.folder / "facts.json")
    assert facts.kernel.inside is True
    # The tests' variable makes ipykernel leave native output alone, the setting is as it was.
    assert facts.kernel.capture in (True, False)
    assert facts.python.executable


def test_a_result_is_shown_as_text_and_as_html(plain, mac):
    result = plain.run(f"%mlc_doctor --facts {mac}")
    (shown,) = outputs(result, "execute_result")
    assert "1. tensorflow-metal cannot load" in shown["text/plain"]
    assert "<ol>" in shown["text/html"]
    assert "pip install tensorflow==2.19.1" in shown["text/html"]


def test_findings_can_be_used_in_code(plain, mac):
    result = plain.run(f"d = %mlc_doctor --facts {mac}\nprint(d.findings[0].id)")
    assert "metal-plugin-version" in result.text


def test_json_and_a_plan_are_printed(plain, mac):
    result = plain.run(f"%mlc_doctor --facts {mac} --json")
    assert json.loads(result.text)["checks"][0]["id"] == "metal-plugin-version"
    assert outputs(result, "execute_result") == []
    assert "\npip install tensorflow==2.19.1" in plain.run(f"%mlc_doctor --facts {mac} --fix-plan").text


def test_chinese_is_spoken_where_it_is_asked_for(plain, mac):
    (shown,) = outputs(plain.run(f"%mlc_doctor --facts {mac} --language zh"), "execute_result")
    assert "处理办法" in shown["text/plain"]
    assert "处理办法" in shown["text/html"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("%mlc_doctor --facts none.json", "none.json cannot be read"),
        ("%mlc_doctor --repair", "Unknown word '--repair'"),
        ("%mlc_doctor --facts", "--facts needs a value"),
        ("%mlc_doctor --facts mac.json --deep", "choose one"),
        ("%mlc_doctor --json --fix-plan", "cannot be combined"),
        ("%mlc_doctor 'half", "Unmatched quotation mark in"),
    ],
)
def test_what_is_typed_wrongly_is_one_line(line, sentence, plain, mac):
    result = plain.run(line)
    assert result.status == "error"
    (said,) = result.text.splitlines()
    assert sentence in said
    assert plain.run("1 + 1").status == "ok"


def test_nothing_of_it_is_left_in_the_notebooks_names(plain, mac):
    result = plain.run(f"before = set(dir())\n_ = %mlc_doctor --facts {mac}\nprint(set(dir()) - before)")
    assert "doctor" not in result.text.replace("%mlc_doctor", "")
    assert not (Path(plain.folder) / "doctor").exists()
