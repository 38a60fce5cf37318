# ruff: noqa: RUF001 - Chinese has punctuation of its own
"""Lessons answer in the language that was chosen, and in English where none was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from jupyter_mlgpu.explain.comparing import expect
from jupyter_mlgpu.record import language
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.teach.lessons import check, cmp, figures, predict, speak
from jupyter_mlgpu.teach.lessons import exercises as exercise_modules
from jupyter_mlgpu.teach.lessons.checking import Exercise, judge
from jupyter_mlgpu.teach.lessons.exercises import exercises
from jupyter_mlgpu.teach.lessons.graphs import Operation, drawing
from jupyter_mlgpu.teach.lessons.replaying import replay
from jupyter_mlgpu.testing import example_record

CHINESE = re.compile(r"[\u4e00-\u9fff]")
#: Three English words in a row: in what is Chinese, names and code alone are English.
ENGLISH = re.compile(r"\b[a-z]+ [a-z]+ [a-z]+\b")


@pytest.fixture
def chinese() -> Iterator[None]:
    speak("zh")
    yield
    language._language = None


def double(x):
    return 2 * x


DOUBLE = Exercise(
    "double", say("return twice `x`"), double, {"x": 2.0}, lambda draw: {"x": draw.uniform(1, 9)}
)


def test_english_is_spoken_unasked(capsys):
    predict("How many?", 3).compare(3)
    assert capsys.readouterr().out.splitlines() == [
        "How many?",
        "Your prediction: 3. It is compared with the result further down.",
        "How many?",
        "You predicted 3, and so it was.",
    ]


@pytest.mark.usefixtures("chinese")
def test_a_prediction_is_answered_in_chinese(capsys):
    predict("几个？", 3).compare(3)
    predict("几个？", 3).compare(4)
    predict("几个？", ...).compare(4)
    assert capsys.readouterr().out.splitlines() == [
        "几个？",
        "你的预测：3。下面会把它与结果比较。",
        "几个？",
        "你预测的是 3，结果正是这样。",
        "几个？",
        "你的预测：3。下面会把它与结果比较。",
        "几个？",
        "你预测的是 3；实际是 4：低了，实际是它的 1.3 倍。",
        "几个？",
        "还没有预测：把你的预测写在省略号的位置，再运行一次这个单元格。",
        "几个？",
        "结果是 4。这一次你没有写预测。",
    ]


@pytest.mark.usefixtures("chinese")
def test_every_question_of_the_lessons_is_asked_in_chinese(learners_lesson, capsys):
    code = "\n".join(cell.source for cell in learners_lesson.cells if cell.cell_type == "code")
    asked = re.findall(r"\bpredict\(\s*\"([^\"]+)\"", code)
    assert asked
    for question in asked:
        predict(question, ...).compare(1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 * len(asked)
    assert all(CHINESE.search(line) for line in lines)


@pytest.mark.usefixtures("chinese")
def test_a_check_is_answered_in_chinese_with_what_it_shows(monkeypatch):
    monkeypatch.setattr(exercise_modules, "_wrong", Counter())
    verdict = check("add_three", lambda x, y, z: x + y)
    assert repr(verdict).splitlines() == [
        "✗ 还不对。",
        "add_three 给出的数与应有的不同。",
        "你漏掉了 z。",
        "提示 1/3：你的和里，x、y、z 哪一个的那位数字缺了，或者出现了两次？",
        "要求：返回 x、y 与 z 的和。",
        "在答对之前，下面的单元格用的是参考答案。",
        "x  y   z    你的  应为  差",
        "1  10  100  11    111   -100 ███",
        "2  20  200  22    222   -200 ██████",
        "3  30  300  33    333   -300 ████████",
    ]
    assert "✗ 还不对。" in verdict._repr_html_()
    assert "✓ 对了。" in repr(judge(DOUBLE, double))
    assert "○ 还空着。" in repr(judge(DOUBLE, ...))


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x: None, "double 目前什么也没有返回。"),
        (lambda x: "two", "double 给出的是文本；应为一个数。"),
        (lambda x: [x, x], "double 给出的形状是 [2]；应为 []。"),
        (lambda x: x / 0, "double 因 ZeroDivisionError 而停止"),
    ],
)
def test_what_is_wrong_is_said_in_chinese(answer, told):
    assert told in repr(judge(DOUBLE, answer))


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("name", exercises())
def test_what_every_exercise_asks_for_is_said_in_chinese(name):
    task = translate(exercises()[name].task)
    assert CHINESE.search(task)
    assert not ENGLISH.search(task)


@pytest.mark.usefixtures("chinese")
def test_two_tensors_and_figures_are_told_in_chinese(capsys):
    cmp("斜率", [2.0], [2.0])
    assert capsys.readouterr().out == "斜率：完全相同：是，近似相同：是，最大的差：0\n"
    assert "未测量" in repr(figures("none_such", [{"rate": None}]))


def test_a_judgement_is_shown_in_its_language_and_holds_its_sentence_in_english():
    judged = expect.peak_below([example_record()], 1024**5)
    assert repr(judged).startswith("✓ holds: Peak memory, process: ")
    in_chinese = expect.Judgement(judged.state, judged.sentence, "zh")
    assert repr(in_chinese).startswith("✓ 成立：峰值内存（进程） ")
    with pytest.raises(AssertionError, match="不低于 1 B"):
        expect.required(
            expect.Judgement("does not hold", expect.peak_below([example_record()], 1).sentence, "zh")
        )


@pytest.fixture
def unasked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A kernel that has not been told its language yet."""
    monkeypatch.setattr(language, "_language", None)
    monkeypatch.setattr(language, "_of_the_page", None)
    language._of_the_surroundings.cache_clear()
    yield
    language._of_the_surroundings.cache_clear()


@pytest.mark.usefixtures("unasked")
@pytest.mark.parametrize(
    ("notebook", "variable", "answer"),
    [
        ("/home/anna/notebooks/zh/07_a_cnn.ipynb", "", "设备"),
        ("notebooks/zh_CN/07_a_cnn.ipynb", "", "设备"),
        ("/home/anna/notebooks/07_a_cnn.ipynb", "", "device"),
        ("/home/zhang/07_a_cnn.ipynb", "", "device"),
        ("", "", "device"),
        ("/home/anna/07_a_cnn.ipynb", "zh", "设备"),
        ("/home/anna/zh/07_a_cnn.ipynb", "en", "device"),
        ("/home/anna/07_a_cnn.ipynb", "../zh", "device"),
    ],
)
def test_a_kernel_speaks_the_language_it_was_started_with_or_that_of_its_folder_unless_another_was_chosen(
    monkeypatch, notebook, variable, answer
):
    monkeypatch.setenv("JPY_SESSION_NAME", notebook)
    monkeypatch.setenv(language.VARIABLE, variable)
    assert translate(say("device")) == answer
    speak("en")
    assert translate(say("device")) == "device"


@pytest.mark.usefixtures("unasked")
@pytest.mark.parametrize(("folder", "answer"), [("zh", "设备"), ("mine", "device")])
def test_a_program_that_runs_the_lesson_in_its_folder_is_answered_in_its_language(
    monkeypatch, tmp_path, folder, answer
):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / folder)
    assert translate(say("device")) == answer


@pytest.mark.usefixtures("unasked")
def test_a_folder_that_was_removed_says_no_language(monkeypatch, tmp_path):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    (tmp_path / "zh").mkdir()
    monkeypatch.chdir(tmp_path / "zh")
    (tmp_path / "zh").rmdir()
    assert translate(say("device")) == "device"


@pytest.mark.usefixtures("unasked")
def test_a_page_tells_what_its_notebook_asks_for_and_nothing_else_is_taken_from_it():
    language.hear_from_page("zh")
    for strange in (None, "", "fr", "../zh", ["zh"], {}, 7):
        language.hear_from_page(strange)
    assert translate(say("device")) == "设备"
    speak("en")
    assert translate(say("device")) == "device"


def test_a_notebook_s_metadata_become_the_environment_of_its_kernel():
    asks = {"jupyter_mlgpu": {"trace": True, "language": "zh"}}
    assert language.environment(asks) == {language.VARIABLE: "zh"}
    for other in ({}, {"jupyter_mlgpu": 7}, {"jupyter_mlgpu": {"language": ["zh"]}}):
        assert language.environment(other) == {}


@pytest.mark.usefixtures("chinese")
def test_a_receipt_is_drawn_in_chinese_of_a_record_in_english():
    shown = bundle(example_record())
    assert shown["text/plain"] == "[mlgpu] 500 ms · 运行于 cpu:0 · 峰值内存 512 MiB"
    assert "峰值内存" in shown["text/html"]
    assert not CHINESE.search(str(shown[MIME_TYPE]))


@pytest.mark.usefixtures("chinese")
def test_a_graph_is_drawn_under_a_chinese_title():
    shown = drawing([Operation("x", "Placeholder", ()), Operation("add", "AddV2", ("x",))])
    assert shown.words.startswith("含 2 个操作的图，从左到右：")


def test_another_language_is_refused():
    with pytest.raises(UsageError, match="Lessons speak en or zh, not 'fr'"):
        speak("fr")


def test_a_replayed_cell_is_told_in_chinese(chinese):
    shown = repr(replay("03_waits"))
    assert shown.startswith("回放")
    assert "GPU 忙" in shown
    assert not ENGLISH.search("".join(line for line in shown.splitlines() if "[mlgpu]" in line))
