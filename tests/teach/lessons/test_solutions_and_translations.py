"""Solutions are built from a lesson and its references; a translation gets a lesson's code and outputs."""

import copy
import re

import lesson_solutions
import lesson_translations
import lessons
import nbformat
import pytest
from lessons import verdicts
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE


def double(values):
    """The reference has a docstring of its own."""
    # Twice each.
    import math

    return [math.prod((2, value)) for value in values]


def halve(values, by=2):
    return [value / by for value in values]


REFERENCES = {"double": double, "halve": halve}


def test_a_blank_keeps_its_header_and_docstring_and_gets_the_body_of_the_reference():
    blank = '''import numpy as np

def double(values: list) -> list:
    """Twice each number."""
    return ...


print(double([1]))'''
    filled, names = lesson_solutions.fill(blank, REFERENCES)
    assert names == ["double"]
    assert (
        filled
        == '''import numpy as np

def double(values: list) -> list:
    """Twice each number."""
    # Twice each.
    import math

    return [math.prod((2, value)) for value in values]


print(double([1]))'''
    )


def test_two_blanks_of_a_cell_with_magics_are_filled_and_other_functions_stay():
    blank = "%%time\n!true\ndef halve(values, by=2):\n    # yours\n    return ...\n"
    blank += "def other(x):\n    return ...\n"
    blank += "def double(\n    values,\n):\n    half = ...\n    return half"
    filled, names = lesson_solutions.fill(blank, REFERENCES)
    assert names == ["double", "halve"]
    assert filled.startswith(
        "%%time\n!true\ndef halve(values, by=2):\n    return [value / by for value in values]\ndef other"
    )
    assert filled.endswith(
        "def double(\n    values,\n):\n    # Twice each.\n    import math\n\n"
        + ("    return [math.prod((2, value)) for value in values]")
    )
    assert "half = ..." not in filled


def test_a_blank_that_takes_something_else_than_its_reference_is_refused():
    with pytest.raises(
        lesson_solutions.SolutionError, match=r"double takes \(numbers\) in the lesson and \(values\)"
    ):
        lesson_solutions.fill("def double(numbers):\n    return ...", REFERENCES)


@pytest.fixture
def learner(first_lesson):
    return nbformat.read(first_lesson, 4)


def test_the_solutions_of_a_lesson_are_the_lesson_with_a_note_and_without_outputs(learner, first_lesson):
    before = copy.deepcopy(learner)
    note, *cells = lesson_solutions.build(learner, first_lesson).cells
    assert learner == before
    assert "(../01_adding_tensors.ipynb)" in note.source
    assert [cell.id for cell in cells] == [cell.id for cell in learner.cells]
    assert not any(cell.get("outputs") for cell in cells)
    changed = [cell.id for cell, was in zip(cells, learner.cells, strict=True) if cell.source != was.source]
    assert changed == ["describe", "extra"]


def test_a_lesson_that_lost_its_blank_is_refused(learner, first_lesson):
    next(cell for cell in learner.cells if cell.id == "describe").metadata.tags = []
    with pytest.raises(
        lesson_solutions.SolutionError, match="has no blank, in a cell with the tag exercise, for add_three"
    ):
        lesson_solutions.build(learner, first_lesson)


def verdict_of(text):
    source = f"from IPython.display import display\ndisplay({{'text/plain': {text!r}}}, raw=True)"
    return [new_code_cell("%load_ext jupyter_mlgpu"), new_code_cell(source)]


def test_a_notebook_whose_checks_end_otherwise_than_they_should_is_not_saved(tmp_path):
    path = tmp_path / "99_small.ipynb"
    wrong = new_notebook(cells=verdict_of("✗ Not yet.\nOh."))
    with pytest.raises(lessons.LessonError, match="a check that says right; found: wrong"):
        lessons.save_run(wrong, path, checks="right")
    assert not path.exists()
    right = new_notebook(cells=verdict_of("✓ Right."))
    assert lessons.save_run(right, path, checks="right")
    assert verdicts(lessons.read(path)) == ["right"]


def test_a_notebook_that_takes_too_long_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons, "MOST_SECONDS", 0)
    cells = [new_code_cell("%load_ext jupyter_mlgpu"), new_code_cell("sum(range(10**5))")]
    with pytest.raises(lessons.LessonError, match="a lesson may take 0 s"):
        lessons.save_run(new_notebook(cells=cells), tmp_path / "99_small.ipynb")
    assert not list(tmp_path.iterdir())


def test_a_picture_of_a_run_is_an_image_on_paper(tmp_path):
    from nbconvert import HTMLExporter

    code = (
        "from jupyter_mlgpu.lessons import chart\nchart('race', x='n', y='s', lines={'a': [(1, 2), (2, 3)]})"
    )
    notebook = lessons.run(new_notebook(cells=[new_code_cell(code)]), tmp_path / "small.ipynb")
    html, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    assert re.search(r'<img [^>]*src="data:image/svg\+xml;base64,', html)
    assert "plotly" not in html


def lesson():
    code = new_code_cell("6 * 7", id="product", execution_count=1)
    code.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "42"}, execution_count=1)]
    return new_notebook(cells=[new_markdown_cell("A product", id="says"), code])


def test_a_translation_keeps_its_prose_and_takes_everything_else():
    translated = new_notebook(
        cells=[new_code_cell("6 * 8", id="product"), new_markdown_cell("乘积", id="says")]
    )
    built = lesson_translations.build(lesson(), translated)
    assert [cell.id for cell in built.cells] == ["says", "product"]
    assert built.cells[0].source == "乘积"
    assert built.cells[1] == lesson().cells[1]
    assert lesson_translations.build(lesson(), built) == built


@pytest.mark.parametrize(
    ("ids", "said"),
    [([], "'says' of the English lesson is not translated yet"), (["says", "old"], "no text cell 'old'")],
)
def test_a_translation_that_misses_a_text_cell_or_has_one_too_many_is_refused(ids, said):
    translated = new_notebook(cells=[new_markdown_cell("乘积", id=one) for one in ids])
    with pytest.raises(lesson_translations.TranslationError, match=said):
        lesson_translations.build(lesson(), translated)


@pytest.fixture
def english_and_chinese(tmp_path):
    """The paths of a small lesson and of its translation, which was made before digests were kept."""
    english, chinese = tmp_path / "99_small.ipynb", tmp_path / "zh" / "99_small.ipynb"
    chinese.parent.mkdir()
    nbformat.write(lesson(), english)
    nbformat.write(new_notebook(cells=[new_markdown_cell("乘积", id="says")]), chinese)
    return english, chinese


def test_english_prose_that_was_changed_is_to_be_translated_again(english_and_chinese, capsys):
    english, chinese = english_and_chinese
    assert lesson_translations.main([str(english)]) == 1
    assert lesson_translations.main(["--translated", str(english)]) == 0
    assert lesson_translations.main([str(english)]) == 0
    assert lessons.read(chinese).cells[0].source == "乘积"
    capsys.readouterr()

    changed = lesson()
    changed.cells[0].source = "A product of two"
    nbformat.write(changed, english)
    assert lesson_translations.main([str(english)]) == 1
    assert "zh/99_small.ipynb: to translate again: says" in capsys.readouterr().out


def test_code_that_was_changed_leaves_the_translation_as_it_is(english_and_chinese):
    english, chinese = english_and_chinese
    lesson_translations.main(["--translated", str(english)])
    changed = lesson()
    changed.cells[1].source = "7 * 6"
    nbformat.write(changed, english)
    lessons.refresh_translation(english)
    assert [cell.source for cell in lessons.read(chinese).cells] == ["乘积", "7 * 6"]
    assert lesson_translations.main([str(english)]) == 0


def test_receipts_are_drawn_again_without_running_anything(first_lesson, tmp_path):
    saved = nbformat.read(first_lesson, 4)
    path = tmp_path / first_lesson.name
    nbformat.write(saved, path)
    assert not lessons.redraw(path)
    for cell in saved.cells:
        for output in cell.get("outputs", []):
            if MIME_TYPE in output.get("data", {}):
                output.data["text/html"] = "an older form"
    nbformat.write(saved, path)
    assert lessons.redraw(path)
    assert nbformat.read(path, 4) == nbformat.read(first_lesson, 4)


def test_one_notebook_that_fails_leaves_the_others_to_run_and_the_status_says_so(tmp_path, capsys):
    for name, code in (("98_broken", "1 / 0"), ("99_small", "6 * 7")):
        nbformat.write(new_notebook(cells=[new_code_cell(code)]), tmp_path / f"{name}.ipynb")
    paths = [str(tmp_path / "98_broken.ipynb"), str(tmp_path / "99_small.ipynb")]
    assert lessons.main(paths) == 1
    out = capsys.readouterr().out
    assert "98_broken.ipynb: failed." in out
    assert "ZeroDivisionError" in out
    assert "99_small.ipynb: saved" in out
    assert lessons.main(paths[1:]) == 0
