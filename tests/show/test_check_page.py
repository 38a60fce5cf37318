"""The page of a check says the answer first, what was not checked, and which issue a wrong result has."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.graphs.mps import tables
from jupyter_mlgpu.measure.checking.compare import Deviation
from jupyter_mlgpu.measure.checking.result import ResultCheck, WrongResult
from jupyter_mlgpu.record.translation import in_language
from jupyter_mlgpu.show.checking.known import known
from jupyter_mlgpu.show.checking.page import headline
from jupyter_mlgpu.show.page import text
from jupyter_mlgpu.show.page.rendering import page_of

OFF = Deviation("value", (3,), "1.5", "1.2", 0.3, 1e-6, 2, 10)
NAN = Deviation("nan", (0,), "nan", "1.2", None, None, 1, 10)
SHAPE = Deviation("shape", (), "(3,)", "(4,)", None, None, 1, 3)


def wrong(operation="aten.cumsum", deviation=OFF, device="mps", dtype="float32", shape=(10,), **more):
    return WrongResult(operation, None, device, dtype, shape, 0, deviation, **more)


def result(*first, checked=0, random=0, not_comparable=(), left_out=0, count=None):
    named = dict.fromkeys(not_comparable, 2)
    found = len(first) if count is None else count
    return ResultCheck(checked, random, named, left_out, found, first, 1.0, 60.0)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (result(checked=1), "No wrong result in 1 operation."),
        (result(checked=5, random=3), "No wrong result in 5 operations."),
        (
            result(checked=5, not_comparable=["aten.eig"]),
            "No wrong result in 5 operations. 2 more were not checked.",
        ),
        (result(checked=5, left_out=1), "No wrong result in 5 operations. 1 more was not checked."),
        (result(), "This cell computed nothing with PyTorch in its own thread, so nothing was checked."),
        (result(random=1), "The only operation of PyTorch in this cell could not be checked."),
        (
            result(not_comparable=["aten.eig"], left_out=1),
            "None of the 3 operations of PyTorch in this cell could be checked.",
        ),
        (
            result(wrong(where="line 3 of [5]")),
            "First wrong result: `cumsum` on line 3 of [5] is off by 0.3, and rounding in float32 explains "
            "at most 1e-06.",
        ),
        (result(wrong(deviation=NAN)), "First wrong result: `cumsum` gave nan, and 1.2 is right."),
        (
            result(wrong(deviation=SHAPE)),
            "First wrong result: `cumsum` has the shape (3,), and (4,) is right.",
        ),
    ],
)
def test_the_first_sentence_is_the_answer(check, answer):
    assert headline(check) == answer
    assert repr(check).startswith(answer)


def test_a_wrong_operation_in_a_loop_has_one_row_with_its_count():
    shown = repr(result(wrong(times=30), wrong("aten.exp"), checked=40, count=31))
    assert "Operations checked: 40; wrong: 31." in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("cumsum ")]
    assert row.endswith("30")


def test_what_could_not_be_compared_is_named():
    shown = repr(result(checked=1, not_comparable=["aten.linalg_eig", "quantized.linear"]))
    assert "4 operations could not be compared: linalg_eig, quantized.linear." in shown


def test_a_wrong_result_of_mps_that_is_known_has_its_issue_and_versions():
    told = known(wrong("aten.adaptive_max_pool2d", shape=(1, 2, 3, 3)), "2.13.0")
    assert told is not None
    assert told.startswith("Known: pytorch#190064 (since 2.8 or before, fixed in 2.14), where ")


@pytest.mark.parametrize(
    ("found", "version"),
    [
        (wrong("aten.adaptive_max_pool2d", device="cpu"), "2.13.0"),
        (wrong("aten.adaptive_max_pool2d", device="cuda"), "2.13.0"),
        (wrong("aten.adaptive_max_pool2d"), "2.14.0"),
        (wrong("aten.relu"), "2.13.0"),
    ],
)
def test_nothing_is_known_of_other_devices_versions_and_operations(found, version):
    assert known(found, version) is None


def test_the_kernel_behind_a_convolution_is_looked_up():
    assert "pytorch#169342" in str(known(wrong("aten.convolution", shape=(1, 2, 3, 3)), "2.13.0"))
    newest = tables.versions()[-1]
    assert f"since 2.9, not fixed in {newest}" in str(known(wrong("aten.convolution"), newest))


def test_an_operation_in_place_is_known_by_its_name_without_the_underscore():
    told = known(wrong("aten.cumsum_", shape=(2,) * 5), "2.12.0")
    assert told is None  # that issue ends the process, which is no wrong result
    assert "pytorch#188756" in str(known(wrong("aten.embedding"), "2.12.0"))
    assert "pytorch#183419" in str(known(wrong("aten.isinf_"), "2.12.0"))


def test_the_issue_follows_the_answer_and_those_of_other_operations_follow_the_table():
    first, second = wrong(known="Known: pytorch#1."), wrong("aten.exp", known="Known: pytorch#2.")
    check = result(first, second, checked=2)
    assert headline(check).endswith("at most 1e-06. Known: pytorch#1.")
    assert "Known: pytorch#2." in page_of(check).parts


def test_the_page_is_translated():
    first = wrong("aten.adaptive_max_pool2d", shape=(1, 2, 3, 3))
    first = wrong(known=known(first, "2.13.0"), where="line 3")
    check = result(first, checked=3, random=1, not_comparable=["aten.linalg_eig"], left_out=2)
    shown = text.page(in_language(page_of(check), "zh_CN"))
    for english in ("wrong", "explains", "since", "fixed", "operations"):
        assert english not in shown
