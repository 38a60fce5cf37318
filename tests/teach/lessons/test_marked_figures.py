"""No figure in a lesson's prose contradicts the output that it comes from."""

import pytest
from nbconvert.filters import markdown2html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.support import lesson_figures
from tests.support.lesson_figures import FigureError, Mark
from tests.teach.lessons.conftest import read


def small(prose):
    code = new_code_cell("measure()", id="race")
    code.outputs = [new_output("stream", text="batch  rate\n32     1.74e+04\n128    4,512.6\n")]
    return new_notebook(cells=[code, new_markdown_cell(prose, id="says")])


def judged(prose):
    notebook = small(prose)
    for mark in lesson_figures.marks(notebook):
        lesson_figures.judge(mark, notebook)
    return lesson_figures.marks(notebook)


def test_a_number_that_its_cell_has_agrees_also_where_it_is_rounded_or_written_otherwise():
    assert judged(r"At **17,400**<!-- race: 32 +(\S+) --> and 4,513<!-- race: 128 +(\S+) --> a second.") == [
        Mark("says", "17,400", "race", r"32 +(\S+)"),
        Mark("says", "4,513", "race", r"128 +(\S+)"),
    ]


def test_two_patterns_are_a_ratio():
    judged(r"3.9 times<!-- race: 32 +(\S+) / 128 +(\S+) --> as fast")
    with pytest.raises(FigureError, match=r"the text says 3\.7, race has 3\.85587"):
        judged(r"3.7 times<!-- race: 32 +(\S+) / 128 +(\S+) --> as fast")


@pytest.mark.parametrize(
    ("prose", "said"),
    [
        (r"17,500<!-- race: 32 +(\S+) -->", r"the text says 17,500, race has 17400"),
        (r"4,512<!-- race: 128 +(\S+) -->", r"the text says 4,512, race has 4512\.6"),
        (r"17,400<!-- race: 64 +(\S+) -->", "nothing in race matches"),
        (r"17,400<!-- sprint: 32 +(\S+) -->", "no cell and no file 'sprint'"),
        (r"Fast<!-- race: 32 +(\S+) -->", "no number stands before"),
    ],
)
def test_a_number_that_its_cell_does_not_have_is_found(prose, said):
    with pytest.raises(FigureError, match=said):
        judged(prose)


def test_a_number_that_stands_in_an_output_and_in_no_code_is_one_that_is_quoted():
    prose = "From 32 to 4,512.6 and 17,400, with [a report](https://a.org/4512.6) and version 4,512.6.1"
    assert list(lesson_figures.quoted(small(prose))) == [("says", "4,512.6")]


def test_every_marked_number_of_a_lesson_is_the_one_that_was_saved(learners_lesson):
    for mark in lesson_figures.marks(learners_lesson):
        lesson_figures.judge(mark, learners_lesson)


def test_every_number_that_is_quoted_from_an_output_is_marked(learners_lesson):
    marked = {mark.written for mark in lesson_figures.marks(learners_lesson)}
    assert [one for one in lesson_figures.quoted(learners_lesson) if one[1] not in marked] == []


def test_a_translation_marks_the_same_numbers(translated_path, english_lesson):
    both = (read(translated_path), english_lesson)
    theirs, ours = (sorted(map(str, lesson_figures.marks(one))) for one in both)
    assert theirs == ours


def test_no_reader_sees_a_mark(lesson):
    for cell in lesson.cells:
        if cell.cell_type == "markdown" and "<!--" in cell.source:
            assert "&lt;!--" not in markdown2html(cell.source), cell.id
