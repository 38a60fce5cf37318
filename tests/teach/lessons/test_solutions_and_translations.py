"""Solutions are built from a lesson and its references; a translation from a lesson and its catalogue."""

import copy
import json
import re
from pathlib import Path

import lesson_catalogues
import lesson_solutions
import lessons
import nbformat
import pytest
from lessons import verdicts
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach.lessons.assembly import assembled


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
    assert "(../02_adding_tensors.ipynb)" in note.source
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
    monkeypatch.setenv("JUPYTER_MLGPU_RECEIPTS", "all")
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


def catalogue(folder, *entries):
    """A small catalogue: cells, their English, its Chinese, and what else stands before these."""
    path = folder / "zh" / "99_small.po"
    path.parent.mkdir(exist_ok=True)
    head = 'msgid ""\nmsgstr ""\n"Language: zh_CN\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    blocks = (
        f"#: {cell}\n{flags}msgid {json.dumps(english)}\nmsgstr {json.dumps(chinese, ensure_ascii=False)}\n"
        for cell, english, chinese, *flags in entries
        for flags in ["".join(flags)]
    )
    path.write_text("\n".join([head, *blocks]), encoding="utf-8")
    return path


def translated(path, english=None):
    """The sources of a small lesson's translation."""
    file = nbformat.writes(english or lesson()).encode()
    return [cell.source for cell in nbformat.reads(assembled(file, path, "zh").decode(), 4).cells]


def test_a_translation_takes_its_prose_from_the_catalogue_and_all_else_from_the_lesson(tmp_path):
    path = catalogue(tmp_path, ("says", "A product", "乘积"))
    made = nbformat.reads(assembled(nbformat.writes(lesson()).encode(), path, "zh").decode(), 4)
    assert [cell.id for cell in made.cells] == ["says", "product"]
    assert made.cells[0].source == "乘积"
    assert made.cells[1] == lesson().cells[1]
    assert made.metadata == {"jupyter_mlgpu": {"language": "zh"}}


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [("says", "A sum", "和")],
        [("other", "A product", "乘积")],
        [("says", "A product", "和", "#, fuzzy\n")],
    ],
)
def test_a_text_cell_without_a_translation_of_today_stays_english(tmp_path, entries):
    assert translated(catalogue(tmp_path, *entries)) == ["A product", "6 * 7"]


def test_of_a_code_cell_a_text_in_quotes_can_be_translated_or_the_whole(tmp_path):
    english = new_notebook(cells=[new_code_cell('assert x, f"Expected {x}"', id="test")])
    quoted = catalogue(tmp_path, ("test", "Expected {x}", "应为 {x}"), ("test", "assert x", "nothing"))
    assert translated(quoted, english) == ['assert x, f"应为 {x}"']
    assert translated(catalogue(tmp_path, ("test", english.cells[0].source, "1")), english) == ["1"]


def test_a_text_that_was_changed_keeps_its_translation_for_somebody_to_look_at(tmp_path, monkeypatch):
    monkeypatch.setattr(lesson_catalogues, "NOTEBOOKS", tmp_path)
    path = catalogue(tmp_path, ("says", "A product", "乘积"), ("gone", "A sum", "和"))
    changed = lesson()
    changed.cells[0].source = "A product of two"
    changed.cells.append(new_markdown_cell("The end", id="end"))
    nbformat.write(changed, tmp_path / "99_small.ipynb")
    wanting = [f"{path}: to translate: {cell}" for cell in ("says", "end")]
    assert lesson_catalogues.bring_up(path, write=False)[:2] == wanting
    assert "A sum" in path.read_text(encoding="utf-8")
    assert lesson_catalogues.bring_up(path) == wanting
    text = path.read_text(encoding="utf-8")
    assert "A sum" not in text
    assert translated(path, changed) == ["A product of two", "6 * 7", "The end"]

    text = text.replace("#, fuzzy\n", "").replace(
        'msgid "The end"\nmsgstr ""', 'msgid "The end"\nmsgstr "完"'
    )
    path.write_text(text, encoding="utf-8")
    assert lesson_catalogues.bring_up(path) == []
    assert translated(path, changed) == ["乘积", "6 * 7", "完"]


def test_make_lessons_assembles_a_translation_beside_its_catalogue(tmp_path, monkeypatch):
    monkeypatch.setattr(lesson_catalogues, "NOTEBOOKS", tmp_path)
    path = catalogue(tmp_path, ("says", "A product", "乘积"))
    monkeypatch.chdir(tmp_path)
    english = Path("99_small.ipynb")  # as make names it
    nbformat.write(lesson(), english)
    assert lessons.refresh_translation(english)
    assert [cell.source for cell in lessons.read(path.with_suffix(".ipynb")).cells] == ["乘积", "6 * 7"]


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
