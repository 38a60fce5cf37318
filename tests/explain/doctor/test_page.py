"""What is shown of a diagnosis: findings first with what to do, safe to draw, in English or Chinese."""

import pytest

from jupyter_mlgpu.explain.doctor.diagnose import CheckResult, Diagnosis
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.doctor import page

WRONG = CheckResult(
    "metal-pair",
    "finding",
    say("The pair is wrong."),
    say("{version} was <found>.", version="2.20"),
    "pip install one\n# then\nrestart",
    "sure",
)
SLOW = CheckResult(
    "threads", "finding", say("It is slow."), say("One thread is used."), "unset OMP_NUM_THREADS", "possible"
)
FINE = CheckResult("python", "ok", say("Python fits"), say("It is 3.12."))
SKIPPED = [
    CheckResult(name, "skipped", say("A Mac is well"), say("This is not a Mac."))
    for name in ("rosetta", "metal")
]
CRASHED = CheckResult(
    "odd",
    "crashed",
    say("It is odd"),
    say("This check crashed ({why}).", why="KeyError: 'x'"),
    "# report it",
)
NOT_ASKED = CheckResult("import", "not asked", say("It imports"), say("Checked only with --deep."))


def test_a_finding_is_told_with_how_it_is_known_what_to_do_and_how_sure():
    assert page.text(Diagnosis((WRONG, FINE))) == (
        "One of 2 checks found a problem.\n"
        "\n"
        "1. The pair is wrong. (sure; metal-pair)\n"
        "   How we know: 2.20 was <found>.\n"
        "   What to do:\n"
        "       pip install one\n"
        "       # then\n"
        "       restart"
    )


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ((FINE,), "Nothing is wrong here, as far as 1 check can tell."),
        ((WRONG,), "The check found a problem."),
        ((WRONG, SLOW), "2 of 2 checks found a problem: start with the first one."),
        ((CRASHED, FINE), "Nothing is wrong here, as far as 1 check can tell; 1 crashed."),
    ],
)
def test_the_first_line_counts(results, said):
    assert page.head(Diagnosis(results)) == said


def test_checks_that_share_a_reason_share_a_line():
    lines = page.text(Diagnosis((FINE, *SKIPPED)), all_checks=True).splitlines()
    place = lines.index("Skipped (2):")
    assert lines[place + 1] == "   rosetta, metal: This is not a Mac."


def test_unasked_it_is_only_said_how_many_could_not_judge():
    shown = page.text(Diagnosis((FINE, *SKIPPED)))
    assert shown.endswith("2 checks were skipped, mostly because they do not apply here: --all shows why.")
    assert "rosetta" not in shown


def test_what_is_well_is_told_only_where_it_is_asked_for():
    assert "It is 3.12." not in page.text(Diagnosis((FINE,)))
    assert "python: It is 3.12." in page.text(Diagnosis((FINE,)), all_checks=True)


def test_a_check_that_failed_and_one_that_was_not_asked_are_told():
    shown = page.text(Diagnosis((CRASHED, NOT_ASKED)))
    assert "odd: This check crashed (KeyError: 'x')." in shown
    assert "--deep checks them" in shown


def test_html_is_escaped_and_one_line_a_text():
    evil = CheckResult("x", "finding", say("<script>"), say("a & b"), "<img src=x onerror=y>\nrun", "likely")
    shown = page.html(Diagnosis((evil,)))
    assert "<script>" not in shown
    assert "<img" not in shown
    assert "\n" not in shown
    assert "&lt;script&gt;" in shown
    assert "a &amp; b" in shown
    assert "&#10;run" in shown


def test_what_moves_a_cursor_is_not_printed():
    evil = CheckResult(
        "x", "finding", say("A\x1b[2Jtitle"), say("{name}", name="b\x07"), "c\x1b]0;d", "likely"
    )
    for shown in (
        page.text(Diagnosis((evil,))),
        page.plan(Diagnosis((evil,))),
        page.html(Diagnosis((evil,))),
    ):
        assert "\x1b" not in shown
        assert "\x07" not in shown


def test_the_plan_is_lines_for_a_shell_in_order():
    lines = page.plan(Diagnosis((WRONG, SLOW, FINE))).splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == [
        "pip install one",
        "restart",
        "unset OMP_NUM_THREADS",
    ]
    assert "# 1. The pair is wrong. (sure)" in lines


def test_the_plan_of_a_healthy_machine_has_no_command():
    assert page.plan(Diagnosis((FINE,))) == "# There is nothing to repair."


def test_it_is_told_in_chinese_where_that_is_asked_for():
    shown = page.text(Diagnosis((WRONG, SLOW, *SKIPPED, NOT_ASKED)), "zh", all_checks=True)
    assert "跳过了 2 项检查" in page.text(Diagnosis((WRONG, *SKIPPED)), "zh")
    assert shown.startswith("检查了 2 项")
    assert "确定" in shown
    assert "处理办法" in shown
    assert "已跳过" in shown
    assert "--deep" in shown
    assert "pip install one" in shown
    assert "How we know" not in shown
    assert "What to do" not in shown
    assert "Skipped" not in shown
    assert "依据" in page.html(Diagnosis((WRONG,)), "zh")


def test_a_page_shows_itself_and_gives_its_findings():
    shown = page.DiagnosisPage(Diagnosis((WRONG, FINE)))
    assert repr(shown) == page.text(shown.diagnosis)
    assert shown._repr_html_() == page.html(shown.diagnosis)
    assert shown.findings == (WRONG,)
    assert shown.to_json()["checks"][0]["id"] == "metal-pair"


def test_json_has_what_a_sentence_was_made_of():
    (wrong,) = Diagnosis((WRONG,)).to_json()["checks"]
    assert wrong["title"] == "The pair is wrong."
    assert wrong["evidence"] == {
        "text": "2.20 was <found>.",
        "template": "{version} was <found>.",
        "fields": {"version": "2.20"},
    }
