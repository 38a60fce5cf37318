"""The forecast of single operations says what people reported of them, version by version."""

from __future__ import annotations

import mps_single_operations as single
import pytest

from jupyter_mlgpu.graphs.mps import composites, tables

pytestmark = pytest.mark.needs("torch")


@pytest.mark.parametrize(
    ("report", "version"),
    [(report, version) for report in single.reports() for version in report.expected],
    ids=lambda one: one if isinstance(one, str) else one.name,
)
def test_the_forecast_says_what_is_known_of_a_version(report, version):
    assert single.verdict(report, version) == report.expected[version]


@pytest.mark.parametrize(
    "report",
    [one for one in single.reports() if one.call and "missing" in one.expected.values()],
    ids=lambda one: one.name,
)
def test_a_call_raises_because_of_the_operation_that_people_named(report):
    version = next(version for version, kind in report.expected.items() if kind == "missing")
    raising = single.raising(report, version)
    names = {*raising, *(called for name in raising for called in composites.calls(name))}
    if "linalg_eig" in names:
        names.add("_linalg_eigvals")  # taken for eigenvalues alone, but not for tensors without values
    assert bare(report.name) in map(bare, names)


def bare(name: str) -> str:
    """The name without its overload and the mark of an inner function."""
    return name.partition(".")[0].removeprefix("_")


# Each is made of the operation beside it, by the code of PyTorch 2.13.
@pytest.mark.parametrize(
    ("call", "hidden"),
    [
        ("torch.linalg.svdvals(square())", "_linalg_svd"),
        ("torch.linalg.matrix_rank(square())", "_linalg_svd"),
        ("torch.linalg.matrix_rank(square(), hermitian=True)", "_linalg_eigh"),
        ("torch.linalg.cond(square())", "_linalg_svd"),
        ("torch.linalg.norm(square(), 2)", "_linalg_svd"),
        ("torch.norm(square(), p='nuc')", "_linalg_svd"),
        ("torch.nuclear_norm(square())", "_linalg_svd"),
        ("torch.linalg.eigvalsh(square())", "_linalg_eigh"),
        ("torch.lobpcg(torch.eye(9), k=2)", "_linalg_eigh"),
        ("torch.linalg.lu_solve(*torch.linalg.lu_factor(square()), square())", "linalg_lu_solve"),
        ("torch.linalg.lstsq(square(), square())", "linalg_lstsq"),
        ("torch.vmap(torch.linalg.svdvals)(torch.randn(2, 3, 3))", "_linalg_svd"),
    ],
)
def test_linear_algebra_that_hides_a_missing_operation_raises_until_2_14(call, hidden):
    report = single.Report(call, 0, "", "", call)
    assert hidden in single.raising(report, "2.13")
    assert single.verdict(report, "2.14") == "gpu"


@pytest.mark.parametrize("call", ["torch.linalg.pinv(square())", "torch.svd_lowrank(square(), 2)"])
def test_linear_algebra_that_calls_svd_falls_back_by_itself_until_2_14(call):
    report = single.Report(call, 0, "", "", call)
    assert single.verdict(report, "2.13") == "fallback"
    assert single.verdict(report, "2.14") == "gpu"


@pytest.mark.parametrize(
    "call",
    ["torch.linalg.lu_factor(square())", "torch.linalg.norm(square())", "torch.linalg.cond(square(), 1)"],
)
def test_linear_algebra_without_them_runs_on_the_gpu(call):
    assert single.verdict(single.Report(call, 0, "", "", call), "2.8") == "gpu"


def test_the_three_threads_and_sixty_operations_are_covered():
    known = [one for one in single.reports() if one.expected]
    assert {one.issue for one in known} >= set(single.THREADS)
    assert len(known) >= 60
    assert {version for one in known for version in one.expected} <= set(tables.versions())


def test_the_page_has_these_tables():
    text = single.PAGE.read_text("utf-8")
    assert single.page(text) == text
