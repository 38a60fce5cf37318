"""What the tables say of PyTorch's operations on a Mac's GPU, by version, type, rank and known fault."""

from importlib import resources

import pytest

from jupyter_mlgpu.graphs.mps import composites, limits, tables, wrong
from jupyter_mlgpu.graphs.mps.spans import holds, number
from jupyter_mlgpu.record.errors import PlanError

NONE: frozenset[str] = frozenset()
FLOAT = frozenset({"float32"})


def verdict(operation, version="2.13", dtypes=FLOAT, ranks=()):
    return tables.load(version).verdict(operation, frozenset(dtypes), frozenset(ranks))


def kinds(operation, **given):
    """The verdicts of all versions, as `missing gpu`, each kind once for the versions in a row."""
    found = [verdict(operation, version, **given).kind for version in tables.versions()]
    return " ".join(kind for at, kind in enumerate(found) if at == 0 or kind != found[at - 1])


def test_there_is_a_table_for_each_version_from_2_8_to_2_15():
    assert tables.versions() == ("2.8", "2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "2.15")


# Counted beside it in the symbols of the wheels for macOS.
@pytest.mark.parametrize(("version", "registered"), [("2.13", 890), ("2.15", 928)])
def test_the_table_has_every_registration_of_the_wheel(version, registered):
    table = tables.load(version)
    # MPSFallback.mm registers for MPS what is not registered in the yaml.
    assert sum(kind == "gpu" for kind in table.kinds.values()) == registered


def test_each_table_names_the_wheel_that_it_was_read_from():
    for version in tables.versions():
        build = tables.load(version).build
        assert build.name.startswith(f"torch-{build.version}-")
        assert "macosx" in build.name
        assert (len(build.sha256), len(build.commit)) == (64, 40)


# Operations that people missed in pytorch#77764, #141287 and #151874, with the version that brought each.
@pytest.mark.parametrize(
    ("operation", "since"),
    [
        ("_embedding_bag", "2.10"),
        ("max_pool3d_with_indices", "2.9"),
        ("grid_sampler_2d_backward", "2.13"),
        ("linalg_qr.out", "2.12"),
        ("logspace.out", "2.15"),
        ("_linalg_eigh.eigenvalues", "2.14"),
        ("_linalg_svd", "2.14"),
        ("linalg_lu_solve", "2.14"),
        ("linalg_matrix_exp", "2.14"),
        ("_ctc_loss", "2.14"),
        ("poisson", "2.14"),
        ("_upsample_bicubic2d_aa_backward", "2.14"),
    ],
)
def test_an_operation_that_people_missed_is_missing_until_the_version_that_brought_it(operation, since):
    for version in tables.versions():
        expected = "gpu" if number(version) >= number(since) else "missing"
        assert (version, verdict(operation, version).kind) == (version, expected)
    assert tables.changes(operation) == f"has a kernel since {since}"


@pytest.mark.parametrize(
    "operation",
    [
        "linalg_eig",
        "mode",
        "quantize_per_tensor",
        "adaptive_max_pool3d",
        "fractional_max_pool2d",
        "channel_shuffle",
    ],
)
def test_what_no_version_has_is_missing_in_all_of_them(operation):
    assert kinds(operation) == "missing"
    assert tables.changes(operation) is None


@pytest.mark.parametrize(
    "operation",
    [
        "_linalg_solve_ex.result",
        "linalg_cholesky_ex.L",
        "upsample_linear1d.out",
        "_fft_r2c",
        "angle",
        "__rshift__.Tensor",
        "add.Tensor",
    ],
)
def test_what_people_missed_before_2_8_runs_on_the_gpu_now(operation):
    assert kinds(operation) == "gpu"


def test_the_source_names_the_file_and_the_release():
    assert verdict("mode").source == "native_functions.yaml of PyTorch 2.13.0: not registered for MPS"
    assert verdict("cos", "2.15").source == "native_functions.yaml of PyTorch 2.15.0: registered for MPS"
    assert verdict("embedding_renorm_").source == "MPSFallback.mm of PyTorch 2.13.0: sent to the CPU"


def test_what_the_fallback_list_has_always_runs_on_the_cpu():
    assert kinds("embedding_renorm_") == "fallback"
    assert kinds("linalg_svd") == "fallback composite"
    assert tables.changes("linalg_svd") == "has a kernel since 2.14"


def test_the_svd_that_is_missing_says_that_the_users_own_call_runs_on_the_cpu():
    found = verdict("_linalg_svd")
    assert found.kind == "missing"
    assert found.note == "Where `linalg_svd` calls it, that one runs on the CPU."


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("linalg_svdvals", "missing composite"),
        ("linalg_pinv.atol_rtol_tensor", "fallback composite"),
        ("linalg_eigvals", "missing"),
        ("linalg_eigh", "missing composite"),
        ("linalg_cholesky", "composite"),
        ("linalg_inv", "composite"),
        ("mode.values", "missing"),
        ("ctc_loss.IntList", "missing composite"),
        ("convolution", "composite"),
        ("gru.input", "composite"),
    ],
)
def test_a_composite_operation_is_as_good_as_what_it_calls(operation, expected):
    assert kinds(operation) == expected


def test_a_composite_operation_names_what_decides():
    assert verdict("linalg_eigvals").note.startswith("On MPS it calls `linalg_eig`.")


@pytest.mark.parametrize("operation", composites.INSTEAD)
def test_what_a_trace_on_a_cpu_shows_is_judged_by_what_a_mac_would_run(operation):
    assert verdict(operation, "2.15").kind == "composite"


def test_each_operation_that_decides_is_in_every_table():
    for called in (*composites.CALLS.values(), *composites.INSTEAD.values()):
        for operation in called:
            for version in tables.versions():
                assert verdict(operation, version).kind != "unknown", operation


@pytest.mark.parametrize("dtype", ["float64", "complex128", "quint8"])
@pytest.mark.parametrize("operation", ["add.Tensor", "convolution", "_to_copy"])
def test_a_type_that_the_gpu_has_not_is_refused_everywhere(operation, dtype):
    assert kinds(operation, dtypes={"float32", dtype}) == "type"


def test_a_refused_type_quotes_the_error():
    source = verdict("add.Tensor", dtypes={"float64"}).source
    assert source.startswith("error text of PyTorch 2.13.0: Cannot convert a MPS Tensor to float64 dtype")


def test_integers_are_multiplied_from_2_9_on_but_not_by_linear():
    assert kinds("addmm", dtypes={"int64"}) == "type gpu"
    assert kinds("linear", dtypes={"int64"}) == "type"


def test_a_tensor_has_at_most_16_dimensions():
    assert verdict("add.Tensor", ranks={16}).kind == "gpu"
    assert verdict("add.Tensor", ranks={17}).kind == "type"


def test_a_transposed_convolution_of_volumes_takes_no_16_bits():
    assert verdict("_mps_convolution_transpose", dtypes={"float16"}, ranks={5}).kind == "type"
    assert verdict("_mps_convolution_transpose", dtypes={"float16"}, ranks={4}).kind == "gpu"


def test_a_limit_that_depends_on_more_than_types_is_a_note():
    found = verdict("grid_sampler_2d", "2.8")
    assert found.kind == "gpu"
    assert "Fails where the interpolation is bicubic." in found.note
    assert verdict("grid_sampler_2d", "2.11").note is None


@pytest.mark.parametrize("text", dict.fromkeys(row.text for row in limits.ROWS), ids=lambda text: text[:40])
def test_the_error_text_of_a_limit_stands_in_the_wheels_of_its_versions_and_in_no_other(text):
    rows = [row for row in limits.ROWS if row.text == text]
    for version in tables.versions():
        held = any(holds(row.versions, version) for row in rows)
        assert (version, text in tables.refusals(version)) == (version, held)


def test_8_bit_floats_are_refused_until_the_version_that_has_them():
    assert kinds("_to_copy", dtypes={"float32", "float8_e4m3fn"}) == "type composite"
    assert verdict("_to_copy", "2.14", {"float8_e4m3fn"}).kind == "type"
    assert kinds("_to_copy", dtypes={"float32", "float8_e5m2"}) == "type"


@pytest.mark.parametrize(
    ("operation", "since"),
    [("frexp.Tensor", "2.15"), ("kthvalue", "2.9"), ("logcumsumexp", "2.9"), ("put", "2.15")],
)
def test_what_hides_a_missing_operation_is_missing_with_it(operation, since):
    assert kinds(operation) == "missing composite"
    assert tables.changes(operation) == f"has a kernel since {since}"


def test_a_usual_fault_is_named_with_its_issue_until_the_release_that_fixed_it():
    assert kinds("adaptive_max_pool2d") == "wrong gpu"
    found = verdict("adaptive_max_pool2d", "2.13")
    assert found.source == "pytorch#190064"
    assert "no multiple" in found.note


def test_a_fault_of_16_bits_is_none_of_32():
    attention = "_scaled_dot_product_attention_math_for_mps"
    assert verdict(attention, "2.12", {"float16"}).source == "pytorch#195910"
    assert verdict(attention, "2.12", {"float32"}).kind == "gpu"
    assert verdict(attention, "2.13", {"float16"}).kind == "gpu"
    assert verdict("_scaled_dot_product_flash_attention_for_cpu", "2.12", {"float16"}).kind == "wrong"


def test_a_rare_fault_is_a_note():
    found = verdict("bmm", "2.15")
    assert found.kind == "gpu"
    assert "pytorch#197636" in found.note


def test_a_fault_that_ends_the_process_says_so():
    found = verdict("cumsum", "2.12", ranks={5})
    assert found.kind == "gpu"
    assert found.note.startswith("Known to end the process where more than four dimensions")
    assert verdict("cumsum", "2.12", ranks={4}).note is None


def test_a_kernel_that_computes_on_the_cpu_says_so():
    found = verdict("_linalg_svd", "2.15")
    assert found.kind == "gpu"
    assert found.note.startswith(
        "Its kernel computes on the CPU where there is one matrix, or a batch of fewer"
    )
    assert "Known to raise an error where a batch" in verdict("linalg_lstsq.out", "2.14").note
    assert "CPU where" in verdict("linalg_svdvals", "2.15").note


def test_faults_are_of_operations_that_the_tables_have():
    for row in wrong.ROWS:
        for operation in row.operations:
            names = {name.partition(".")[0] for name in tables.load(row.versions.split("-")[0]).kinds}
            assert operation in names, operation


def test_an_operation_of_another_library_is_unknown():
    found = verdict("torchvision::nms")
    assert (found.kind, found.source) == ("unknown", "It is no operation of PyTorch's own.")


def test_an_operation_that_a_version_does_not_have_is_unknown_there():
    assert verdict("no_such_operation").source == "PyTorch 2.13 has no such operation."
    assert kinds("_scaled_mm_v2") == "unknown missing gpu"


def test_the_namespace_of_pytorch_may_be_named():
    assert verdict("aten::addmm").kind == "gpu"


@pytest.mark.parametrize(
    ("asked", "used"),
    [("2.7.1", "2.8"), ("1.13", "2.8"), ("2.16.0a0+git1234", "2.15"), ("3.0", "2.15")],
)
def test_a_version_without_a_table_says_which_one_is_used(asked, used):
    table = tables.load(asked)
    assert table.version == used
    assert table.instead == f"There is no table for PyTorch {asked}; that of {used} is used."


@pytest.mark.parametrize("asked", ["2.13", "2.13.0", "2.13.1+cpu"])
def test_any_release_of_a_version_has_the_table_of_the_version(asked):
    table = tables.load(asked)
    assert (table.version, table.instead) == ("2.13", None)


def test_what_is_no_version_is_refused():
    with pytest.raises(PlanError, match="nightly is no version"):
        tables.load("nightly")


def test_the_tables_stay_small():
    data = resources.files("jupyter_mlgpu.graphs.mps").joinpath("operations.json").read_bytes()
    assert len(data) < 150_000
