"""What the lessons' files hold: every cell was run, and nothing in them tells of whoever ran it."""

import ast
import base64
import functools
import json
import re
import socket
from importlib import import_module

import lesson_catalogues  # scripts/
import lesson_solutions
import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from lessons import MOST_SECONDS, seconds, verdicts
from nbconvert import HTMLExporter

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.teach.lessons.exercises import exercises_of
from tests.teach.lessons.conftest import read

#: Outputs with one of these are pictures; plotly's are drawn by JavaScript.
PICTURES = {"application/vnd.plotly.v1+json", "image/png", "image/svg+xml"}
CHINESE = r"[\u4e00-\u9fff]"


def number_of_exercises(path):
    module = lesson_solutions.module_of(path)
    return 0 if module is None else len(exercises_of(module))


def sources(cell):
    return cell.id, cell.cell_type, cell.source, cell.metadata


def with_drawings_read(text):
    """What a drawing says instead of its base64, in which anything may stand by chance."""
    drawn = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")
    return drawn.sub(lambda found: base64.b64decode(found[1]).decode(), text)


def code_cells(lesson):
    return [cell for cell in lesson.cells if cell.cell_type == "code"]


def outputs(lesson):
    return [output for cell in code_cells(lesson) for output in cell.outputs]


def is_measured(cell):
    """A cell with nothing but the kit's own words leaves no receipt."""
    return not all(line.startswith(("%mlc_", "%load_ext jupyter_mlgpu")) for line in cell.source.splitlines())


def saved_receipts(lesson):
    return [receipts(cell)[0] for cell in code_cells(lesson) if is_measured(cell)]


def receipts(cell):
    return [output.data for output in cell.outputs if MIME_TYPE in output.get("data", {})]


def imported_of_ours(source):
    """Pairs of a module of the package and a name of it."""
    python = ast.parse(TransformerManager().transform_cell(source))
    nodes = [node for node in ast.walk(python) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in nodes if (node.module or "").partition(".")[0] == "jupyter_mlgpu"]
    return [(node.module, alias.name) for node in ours for alias in node.names]


def test_what_a_lesson_imports_of_the_package_is_there(lesson):
    for module, name in {pair for cell in code_cells(lesson) for pair in imported_of_ours(cell.source)}:
        there = import_module(module)
        assert hasattr(there, name) or import_module(f"{module}.{name}"), f"{module} has no {name}"


def test_every_code_cell_was_run_in_this_order(lesson):
    counts = [cell.execution_count for cell in code_cells(lesson)]
    assert counts == list(range(1, len(counts) + 1))


def test_the_first_code_cell_loads_the_extension_and_every_other_has_one_receipt(lesson):
    first, *others = code_cells(lesson)
    assert first.source == "%load_ext jupyter_mlgpu"
    assert [len(receipts(cell)) for cell in others] == [int(is_measured(cell)) for cell in others]


def test_all_receipts_are_of_one_run_and_look_as_they_would_today(lesson):
    saved = saved_receipts(lesson)
    records = [Record.from_json(data[MIME_TYPE]) for data in saved]
    assert len({record.run.id for record in records}) == 1
    cut = [data[MIME_TYPE].get("cut") for data in saved]
    assert list(map(bundle, records, cut)) == saved


def test_no_cell_failed_and_nothing_was_written_to_stderr(lesson):
    kinds = {(output.output_type, output.get("name")) for output in outputs(lesson)}
    assert kinds <= {("stream", "stdout"), ("execute_result", None), ("display_data", None)}


def test_no_output_names_a_home_a_user_or_a_machine(lesson):
    text = with_drawings_read(json.dumps(outputs(lesson), ensure_ascii=False))
    assert redact(text) == text
    assert not re.search(r"/(home|Users|root|tmp|var|private)/|[A-Z]:\\\\", text)
    names = {socket.gethostname(), socket.getfqdn()} - {"localhost"}
    assert not [name for name in names if re.search(rf"\b{re.escape(name)}\b", text)]


def test_a_receipt_names_its_notebook_without_its_folder(lesson, lesson_path):
    runs = [receipt[MIME_TYPE]["run"] for receipt in saved_receipts(lesson)]
    assert {run["notebook"] for run in runs} == {lesson_path.name}


def test_the_file_is_as_make_lessons_writes_it(lesson):
    nbformat.validate(lesson)
    assert lesson.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", cell.id) for cell in lesson.cells)


def test_the_cells_together_compute_no_longer_than_three_minutes(lesson):
    assert 0 < seconds(lesson) <= MOST_SECONDS


def test_every_lesson_but_the_tour_has_blanks_of_no_more_than_ten_lines(learners_lesson, learner_path):
    blanks = [cell for cell in code_cells(learners_lesson) if "exercise" in cell.metadata.get("tags", [])]
    assert blanks or learner_path.name.startswith("00_")
    assert all("..." in cell.source and len(cell.source.splitlines()) <= 10 for cell in blanks)


def test_every_blank_exercise_of_a_lesson_was_checked_and_is_open(learners_lesson, learner_path):
    found = verdicts(learners_lesson)
    assert set(found) <= {"open"}
    assert len(found) >= number_of_exercises(learner_path)


def test_every_check_of_the_solutions_is_right(solutions_path):
    found = verdicts(read(solutions_path))
    assert set(found) == {"right"}
    assert len(found) >= number_of_exercises(solutions_path)


def test_every_lesson_with_exercises_has_solutions_and_they_are_what_would_be_built_today(
    learners_lesson, learner_path
):
    solutions = lesson_solutions.path_of(learner_path)
    assert solutions.exists() == (number_of_exercises(learner_path) > 0), "run `make lessons`"
    if solutions.exists():
        built = lesson_solutions.build(learners_lesson, learner_path)
        saved = read(solutions)
        assert [sources(cell) for cell in saved.cells] == [sources(cell) for cell in built.cells]


def test_a_translation_has_the_ids_and_the_code_of_its_lesson_and_prose_of_its_own(
    translated_path, english_lesson
):
    translated = read(translated_path)
    nbformat.validate(translated)
    assert translated.metadata == {**english_lesson.metadata, "jupyter_mlgpu": {"language": "zh"}}
    for here, there in zip(translated.cells, english_lesson.cells, strict=True):
        assert (here.id, here.cell_type, here.metadata) == (there.id, there.cell_type, there.metadata)
        if here.cell_type == "code":
            assert here.source == there.source
        else:
            assert re.search(CHINESE, here.source)


def test_receipts_checks_and_predictions_of_a_translation_are_in_its_language(
    translated_path, english_lesson
):
    for here, there in zip(outputs(read(translated_path)), outputs(english_lesson), strict=True):
        text = here.get("text") or here.data.get("text/plain", "")
        assert not re.search(r"Still open|No prediction yet|You wrote no|The task:|peak memory \d", text)
        if MIME_TYPE in here.get("data", {}):
            assert here.data[MIME_TYPE] == there.data[MIME_TYPE], "a record is in English everywhere"
            assert "peak memory " not in here.data.get("text/html", "")


def test_the_catalogues_say_what_the_english_lessons_and_labs_say_today(capsys):
    assert lesson_catalogues.main(["--check"]) == 0, capsys.readouterr().out


@functools.cache
def on_paper() -> HTMLExporter:
    """Makes a page of a notebook, with templates that are read once."""
    return HTMLExporter(template_name="basic")


def test_on_paper_every_picture_is_an_image_that_needs_no_javascript(learners_lesson):
    check_pictures_on_paper(learners_lesson)


@pytest.mark.slow
def test_so_it_is_in_solutions(lesson):
    check_pictures_on_paper(lesson)


def check_pictures_on_paper(lesson):
    html, _ = on_paper().from_notebook_node(lesson)
    in_one_line = html.replace("\n", "")
    pictures = [output.data for output in outputs(lesson) if PICTURES & set(output.get("data", {}))]
    for data in pictures:
        images = re.findall(r'<img src="(data:image/[^"]+)"', data.get("text/html", ""))
        images += [data[kind].strip() for kind in ("image/png", "image/svg+xml") if kind in data]
        assert images, "a picture that only JavaScript shows"
        assert all(one.replace("\n", "") in in_one_line for one in images)
    assert "<script" not in html
