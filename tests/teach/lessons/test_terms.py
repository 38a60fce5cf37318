"""The field's terms: each is explained where a lesson first uses it, in bold, and only there."""

import re

import pytest
from tracked import tracked

from tests.teach.lessons.conftest import LESSONS, read

#: By lesson, as they stand in its text.
TERMS = {
    "05": ("overhead", "kernel launch", "latency", "throughput", "kernel", "subgraphs", "transposed"),
    "07": (
        "pixels",
        "kernel",
        "stride",
        "padding",
        "tensor cores",
        "parameters",
        "pooling",
        "overfitting",
        "validation set",
        "epoch",
        "throughput",
        "SIMD",
    ),
    "09": (
        "throughput",
        "latency",
        "unified memory",
        "mixed precision",
        "tensor cores",
        "kernel launch",
        "host-bound",
        "batch normalization",
        "input pipeline",
        "forward pass",
        "backward pass",
    ),
    "12": ("parameters", "layer normalization", "residual connection", "forward pass", "backward pass"),
    "13": ("parameters", "overfitting", "throughput", "latency"),
    "14": ("parameters", "forward pass", "backward pass", "bandwidth", "latency", "sharding", "all-reduce"),
}
#: What the word can mean besides, said in each lesson that has it.
KERNELS = {"05": ("convolution's kernel", "Jupyter's kernel"), "07": ("GPU kernel", "Jupyter's kernel")}


def prose_of(lesson):
    (path,) = tracked(LESSONS, f"{lesson}_*.ipynb")
    text = "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    return re.sub(r"<!--.*?-->", "", text)


def first_use(text, term):
    """From two characters before the first use of a term, outside of titles, to two after it."""
    paragraphs = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found = re.search(rf"(?<![\w-]){re.escape(term)}(?![\w-])", paragraphs, re.IGNORECASE)
    return found and paragraphs[max(0, found.start() - 2) : found.end() + 2]


@pytest.mark.parametrize(("lesson", "term"), [(one, term) for one, terms in TERMS.items() for term in terms])
def test_a_term_is_explained_where_it_is_first_used(lesson, term):
    used = first_use(prose_of(lesson), term)
    assert used is not None
    # `**kernel launch**` is a first use of kernel, too.
    assert used.startswith("**")


@pytest.mark.parametrize("lesson", KERNELS)
def test_a_lesson_says_which_of_the_three_kernels_it_means(lesson):
    text = prose_of(lesson)
    assert [one for one in KERNELS[lesson] if f"*{one}*" not in text] == []


def test_a_term_that_is_used_before_it_is_explained_is_found():
    assert not first_use("Its latency is low.\n\n**Latency** is the time of one call.", "latency").startswith(
        "**"
    )
    assert (
        first_use("# Latency\n\n**Latency** is the time of one call. Latency adds up.", "latency")
        == "**Latency**"
    )
