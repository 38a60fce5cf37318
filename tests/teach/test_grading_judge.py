"""A lab's tests judge a student who is somewhere else, and nothing of the student's judges."""

import nbformat
import pytest

from jupyter_mlgpu.record.errors import GradingError, NotVerifiedError
from jupyter_mlgpu.teach.grading import cells
from jupyter_mlgpu.teach.grading.judge import Judge
from jupyter_mlgpu.teach.grading.measure import RUNS, Measured
from jupyter_mlgpu.teach.lessons import assert_gpu_used, faster_than, labs, peak_below, submitted
from jupyter_mlgpu.testing.grading import LocalStudent


def notebook(*told):
    """A lab's source: pairs of a cell's role and its code; `name` is the role and a number."""
    made = nbformat.v4.new_notebook()
    for number, (role, code) in enumerate(told):
        cell = nbformat.v4.new_code_cell(code)
        cell.metadata["nbgrader"] = {
            "grade_id": f"{role}-{number}",
            "grade": role == "test",
            "solution": role == "answer",
            "locked": role != "answer",
        }
        made.cells.append(cell)
    return made


def judged(tmp_path, lab, *of_the_student, seconds=20):
    """The outputs of a lab's last test, and why it is not verified."""
    teachers = cells.teachers_cells(lab)
    judge = Judge(LocalStudent(*of_the_student), tmp_path, seconds=seconds)
    for cell in teachers:
        if cell.role == "given":
            judge.give(cell)
        elif cell.role == "test":
            came = judge.test(cell)
    return came


def failure(came):
    """What a test's error says; None where it passed."""
    made, _ = came
    return next((one["evalue"] for one in made if one["output_type"] == "error"), None)


def test_a_right_function_passes_and_a_wrong_one_does_not(tmp_path):
    lab = notebook(("test", "assert double(4) == 8, double(4)"))
    assert failure(judged(tmp_path, lab, "def double(x): return 2 * x")) is None
    assert failure(judged(tmp_path, lab, "def double(x): return x")) == "4"


def test_a_name_that_is_not_there_fails_the_test_that_needs_it(tmp_path):
    assert "'double' is not defined" in failure(judged(tmp_path, notebook(("test", "double(4)"))))


EQUAL_TO_ALL = """
class Anything:
    def __eq__(self, other): return True
    def __lt__(self, other): return True
    def __bool__(self): return True
    def __len__(self): return 8
    __hash__ = None
answer = Anything()
def double(x): return Anything()
"""


@pytest.mark.parametrize(
    "test",
    [
        "assert answer == 8",
        "assert answer",
        "assert 8 == answer",
        "assert not answer != 8",
        "assert answer < 3",
        "assert len(answer) == 8",
        "assert answer in [1]",
        "assert answer + 1 == 9",
        "assert double(4) == 8",
        "assert answer.x == 1",
        "assert f'{answer:.2f}' or 1",
    ],
)
def test_an_object_equal_to_everything_is_equal_to_nothing(tmp_path, test):
    assert failure(judged(tmp_path, notebook(("test", test)), EQUAL_TO_ALL))


def test_what_the_lab_has_given_is_the_labs_own_in_its_tests(tmp_path):
    lab = notebook(
        ("given", "WANTED = 8\n\n\ndef check(value):\n    assert value == WANTED"),
        ("test", "check(double(4))\nassert len([1]) == 1\nprint(WANTED)"),
    )
    of_the_student = "WANTED = 4\ncheck = len = print = lambda *a: 1\ndouble = lambda x: x"
    assert failure(judged(tmp_path, lab, of_the_student)) == ""
    made, _ = judged(tmp_path, lab, "WANTED = 9\ndouble = lambda x: 2 * x")
    assert made[0]["text"] == "8\n"


def test_builtins_that_a_student_patches_stay_whole_for_the_tests(tmp_path):
    from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
    from jupyter_mlgpu.teach.grading.student import Student

    lab = notebook(("test", "assert sorted(words()) == [1]"))
    (test,) = cells.teachers_cells(lab)
    with Student(SANDBOXES["same-user"], seconds=60) as student:
        student.run("import builtins\nbuiltins.sorted = lambda one: [1]\ndef words(): return ['a', 'b']")
        assert failure(Judge(student, tmp_path, seconds=60).test(test)) == ""


def test_a_function_of_the_tests_is_called_with_what_the_student_gives_it(tmp_path):
    lab = notebook(
        (
            "test",
            "asked = []\ndef make(a, b):\n    asked.append((a, b))\n    return b - a\n"
            "assert total(make) == 3\nassert asked == [(1, 4)]",
        )
    )
    assert failure(judged(tmp_path, lab, "def total(make): return make(1, 4)")) is None
    assert failure(judged(tmp_path, lab, "def total(make): return 3")) == ""


def test_arguments_are_copies_so_a_student_changes_none_of_the_tests_data(tmp_path):
    lab = notebook(("test", "data = [1, 2]\nassert total(data) == sum(data)"))
    assert failure(judged(tmp_path, lab, "def total(data):\n    data.clear()\n    return 0")) == ""


def test_exceptions_of_python_reach_the_test_that_expects_them(tmp_path):
    lab = notebook(
        (
            "test",
            "try:\n    root(-1)\nexcept ValueError as error:\n    assert 'below' in str(error)\n"
            "else:\n    raise AssertionError('no error')",
        )
    )
    assert failure(judged(tmp_path, lab, "def root(x): raise ValueError('below 0')")) is None
    assert failure(judged(tmp_path, lab, "def root(x): return 0")) == "no error"


def test_what_a_test_prints_and_its_points_are_its_outputs(tmp_path):
    made, _ = judged(
        tmp_path, notebook(("test", "print('one of two')\n0.5 * half()")), "def half(): return 1"
    )
    assert [one["output_type"] for one in made] == ["stream", "execute_result"]
    assert made[1]["data"]["text/plain"] == "0.5"


@pytest.mark.parametrize("points", ["float('nan')", "-1.0", "float('inf')"])
def test_points_that_are_no_number_are_no_points(tmp_path, points):
    """nbgrader would take them for all points."""
    came = judged(tmp_path, notebook(("test", "score()")), f"def score(): return {points}")
    assert "is not a number of points" in failure(came)


def test_a_test_that_takes_too_long_fails(tmp_path):
    came = judged(tmp_path, notebook(("test", "while True: pass")), seconds=0.2)
    assert "took more than 0.2 seconds" in failure(came)


def test_a_given_cell_that_fails_where_it_is_graded_costs_no_student_a_point(tmp_path):
    with pytest.raises(GradingError, match="The lab's own cell 'given-0' fails where it is graded"):
        judged(tmp_path, notebook(("given", "import no_such_module"), ("test", "pass")))


def test_a_lab_that_imports_everything_is_refused(tmp_path):
    with pytest.raises(GradingError, match="hides where its names come from"):
        cells.teachers_cells(notebook(("given", "from math import *")))


def test_ipythons_lines_in_given_cells_are_left_out(tmp_path):
    lab = notebook(("given", "%matplotlib inline\nimport math\n!ls"), ("test", "assert math.sqrt(four) == 2"))
    assert failure(judged(tmp_path, lab, "four = 4")) is None


def test_a_submission_cannot_say_which_cells_are_tests():
    lab = notebook(("answer", "def double(x): ..."), ("test", "assert double(4) == 8"), ("test", "double(1)"))
    teachers = cells.teachers_cells(lab)
    assert [cell.role for cell in teachers] == ["answer", "test", "test"]
    assert [(one.name, after) for one, after in cells.missing(["answer-0", "test-9"], teachers)] == [
        ("test-1", "answer-0"),
        ("test-2", "test-1"),
    ]
    assert [after for _, after in cells.missing([], teachers)] == [None, "test-1"]


MEASURED = notebook(
    ("given", "slow = 1"), ("given", "fast(1)"), ("given", "n = 2"), ("test", "submitted('lab.ipynb')")
)


def measured(mine, apart):
    return Measured(cells.teachers_cells(MEASURED), mine, apart)


def test_what_needs_no_student_is_measured_where_no_students_code_runs():
    mine = LocalStudent("def fast(x): pass", seconds={"slow = 1": 100.0, "fast(1)": 2.0})
    apart = LocalStudent(seconds={"slow = 1": 10.0}, bytes={"slow = 1": 5e8})
    found = measured(mine, apart)
    assert found.seconds("given-0") == 10
    assert found.seconds("given-1") == 2
    assert found.peak("given-0") == 5e8


def test_a_cell_that_fails_when_it_is_measured_again_has_no_time():
    with pytest.raises(
        AssertionError, match="'given-1' did not run to the end when it was graded: NameError"
    ):
        measured(LocalStudent(), LocalStudent()).same_machine("given-0", "given-1")


def test_a_cell_that_is_the_students_own_cannot_be_named():
    with pytest.raises(AssertionError, match="no given cell 'answer-7'"):
        measured(LocalStudent(), LocalStudent()).seconds("answer-7")


def test_runs_measured_again_are_records_that_can_be_judged():
    mine = LocalStudent("def fast(x): pass", seconds={"fast(1)": 0.1})
    found = measured(mine, LocalStudent(seconds={"slow = 1": 1.0}))
    assert len(found.runs("given-1")) == RUNS
    assert faster_than(found.runs("given-1"), found.runs("given-0"), times=5)
    assert peak_below(found.runs("given-1"), 2e9)
    with pytest.raises(AssertionError):
        faster_than(found.runs("given-0"), found.runs("given-1"))


def test_what_cannot_be_measured_here_is_left_to_the_teacher():
    found = measured(LocalStudent("def fast(x): pass"), LocalStudent())
    with labs.graded_by(lambda notebook: found):
        assert submitted("lab.ipynb") is found
        with pytest.raises(NotVerifiedError, match="cannot be measured here"):
            found.devices("given-1")
        with pytest.raises(NotVerifiedError, match="not known where"):
            assert_gpu_used(found.runs("given-1"))
    assert assert_gpu_used(found.runs("given-1")).state == "cannot judge"


def test_a_test_that_could_not_be_verified_has_neither_passed_nor_failed(tmp_path):
    found = measured(LocalStudent("def fast(x): pass"), LocalStudent())
    lab = notebook(
        (
            "test",
            "from jupyter_mlgpu.lessons import submitted\n"
            "assert 'gpu:0' in submitted('lab.ipynb').devices('given-1')",
        )
    )
    with labs.graded_by(lambda notebook: found):
        made, why = judged(tmp_path, lab)
    assert "cannot be measured here" in why
    assert [one["output_type"] for one in made] == ["stream"]
