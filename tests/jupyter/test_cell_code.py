"""What the first lines of a cell tell before it runs."""

import pytest

from jupyter_mlgpu.jupyter.notebook.cell.cell_code import has_rejected_options, title


@pytest.mark.parametrize(
    "code",
    [
        "%%mlc_race --ovr n=1\nx",
        "\n%%mlc_race --repeats many  # often\nx",
        "%%mlc_trace\n%%mlc_race --ovr n=1\nx",
        "%%mlc_trace --opps\nx",
        "%%mlc_trace --repeat 3\nx",
    ],
)
def test_words_that_nobody_knows_are_refused_before_anything_of_the_cell_runs(code):
    assert has_rejected_options(code, lambda magic: True)


def test_words_over_a_cell_of_a_users_own_magic_are_theirs():
    assert not has_rejected_options("%%mlc_trace --opps\nx", lambda magic: False)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "x",
        "%%mlc_race\nx",
        "%%mlc_race --over n=1,2  # two\nx",
        "%%mlc_race --repeats $count\nx",
        "%%mlc_race --repeats {count}\nx",
        "%%mlc_trace --ops --repeat 3\nx",
        "%%mlc_trace --items {len(x)}\nx",
        "%%mlc_traced --opps\nx",
        "x\n%%mlc_race --ovr n=1",
    ],
)
def test_words_that_are_known_or_stand_in_variables_are_not(code):
    assert not has_rejected_options(code, lambda magic: True)


# -- which line tells what a cell is about ------------------------------------------------------------


def ours(magic):
    return magic.startswith(("%mlc_", "%%mlc_"))


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import numpy as np\nx = np.ones(3)\nx.sum()", "x.sum()"),
        ("from a import b\n\n# train it\nmodel.fit(x, y)  # slow", "model.fit(x, y)"),
        (
            "history = model.fit(x, y)\nprint(history.epoch)\nplt.plot(history.epoch)",
            "history = model.fit(x, y)",
        ),
        ("loss = step(x)\nprint(loss)", "loss = step(x)"),
        ("total = 1\ntotal", "total"),
        ("model.fit(\n    x,  # images\n    y,\n)", "model.fit(x, y)"),
        ("with tf.device('/cpu:0'):\n    import os\n    b = tf.matmul(a, a)", "b = tf.matmul(a, a)"),
        ("for epoch in range(3):\n    step()", "for epoch in range(3):"),
        ("'A text.'\na = 1; b = make(a)", "b = make(a)"),
        ("%matplotlib inline\nx = 1", "x = 1"),
        ("import a\n!pip install a", "!pip install a"),
        ("%time step(x)", "%time step(x)"),
        ("%%time\nimport a\nstep(x)", "step(x)"),
        ("%%bash\nls", "%%bash"),
        ("%%mlc_trace --ops\n%%mlc_device cpu\nstep(x)", "step(x)"),
        ("%%mlc_race\nimport a\na @ a", "race: a @ a"),
    ],
)
def test_the_title_of_a_cell_is_its_telling_statement(code, told):
    assert title(code, ours) == told


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("# nothing but this", "# nothing but this"),
        ("# first\nimport a", "import a"),
        ("%mlc_device gpu\n", "%mlc_device gpu"),
        ("def f():\n    step()", "def f():"),
        ("x = (\n", "x = ("),
        ("", ""),
    ],
)
def test_what_else_is_never_a_title_is_one_where_there_is_nothing_else(code, told):
    assert title(code, ours) == told


def test_a_title_is_found_without_a_word_of_python_about_the_code(recwarn):
    assert title("a = 1\nb = find('\\d+ is')", ours) == "b = find('\\d+ is')"
    assert not recwarn.list


def test_a_cell_that_a_program_has_written_keeps_nobody_waiting():
    assert title("import a\nx = 1\n" + "y = f(x)\n" * 100_000, ours) == "x = 1"
