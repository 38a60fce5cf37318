"""A lesson is read in twenty minutes: 200 words of prose and 30 lines of code a minute."""

import re

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.support import lesson_figures
from tests.teach.lessons.conftest import LEARNERS, name_of, read

WORDS, LINES, MOST = 200, 30, 20


def counts(notebook):
    """Words of prose, addresses of links left out, and lines of code that are not blank."""
    words = lines = 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            lines += sum(bool(line.strip()) for line in cell.source.splitlines())
            continue
        prose = re.sub(r"\]\(\S+\)", "]", lesson_figures.without_marks(cell.source))
        words += len(re.findall(r"[^\W_][\w'.,-]*", prose))
    return words, lines


def minutes(notebook):
    words, lines = counts(notebook)
    return words / WORDS + lines / LINES


def test_every_lesson_is_read_in_twenty_minutes():
    table = {name_of(path): round(minutes(read(path)), 1) for path in LEARNERS}
    print(*(f"{name:26} {taken:5.1f} min" for name, taken in table.items()), sep="\n")
    assert {name: taken for name, taken in table.items() if taken > MOST} == {}


def test_words_of_prose_and_lines_of_code_are_counted_and_what_no_reader_sees_is_not():
    cells = [
        new_markdown_cell("Read **555**<!-- chart: 128 (\\S+) --> images, [says NVIDIA](https://a.org/b-c)."),
        new_code_cell("x = 1\n\n\ny = 2"),
    ]
    assert counts(new_notebook(cells=cells)) == (5, 2)
    assert minutes(new_notebook(cells=[new_markdown_cell("word " * 5000)])) == 25
