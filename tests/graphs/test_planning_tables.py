"""The packaged tables of kernels: what they hold, where it comes from, and how a kernel is found in them."""

import json
import subprocess
import sys
from importlib import resources

import pytest

from jupyter_mlgpu.graphs.planning import kernels
from jupyter_mlgpu.graphs.planning.graph import GivenTensor, Node
from jupyter_mlgpu.graphs.planning.placing import place, target
from jupyter_mlgpu.record.errors import PlanError
from tests.support import kernel_table


def node(operation, **types):
    return Node("it", operation, {name: (kind,) for name, kind in types.items()})


def where(operation, to="metal", **types):
    return place(node(operation, **types), "main", target(to)).where


def why(operation, to="metal", **types):
    return place(node(operation, **types), "main", target(to)).reason


@pytest.mark.parametrize(
    ("table", "version", "registrations", "operations"),
    [
        ("metal", "1.2.0", 561, 184),
        ("metal-community", "0.4.1", 665, 268),
        ("core", "2.21.0", 1610, 296),
        ("cuda", "2.19.1", 6185, 820),
    ],
)
def test_a_table_holds_every_registration_that_was_read(table, version, registrations, operations):
    found = kernels.load(table)
    assert (found.version, found.registrations, len(found.kernels)) == (version, registrations, operations)
    assert found.origin


# InTopK is registered twice for Apple's, so 560 different combinations make 561 registrations.
@pytest.mark.parametrize(("table", "different"), [("metal", 560), ("metal-community", 665)])
def test_a_row_of_metal_stands_for_every_combination_of_its_types(table, different):
    rows = [row for found in kernels.load(table).kernels.values() for row in found]
    combinations = 0
    for row in rows:
        product = 1
        for values in row.types.values():
            product *= len(values)
        combinations += product
    assert combinations == different


# Rows of docs/kernels.md in the plug-in's repository, which TensorFlow itself was asked for on a Mac:
# types of T or dtype, and what stays with the host.
COMMUNITYS = {
    "Abs": ("float16 float32", ""),
    "All": ("", "reduction_indices"),
    "ArgMax": ("float16 float32", "dimension"),
    "AvgPoolGrad": ("float16 float32", "orig_input_shape"),
    "BatchMatMulV3": ("", ""),
    "Betainc": ("float32", ""),
    "Bincount": ("float32 int32", "size"),
    "ConcatV2": ("float16 float32", "axis"),
    "Conj": ("complex64", ""),
    "DynamicStitch": ("float32 int32 int64", "indices"),
    "Equal": ("float16 float32 int32 int64", ""),
    "Fill": ("float16 float32", "dims"),
    "FusedBatchNormV3": ("float16 float32", ""),
}


@pytest.mark.parametrize("operation", COMMUNITYS)
def test_the_communitys_table_says_what_its_own_documentation_says(operation):
    rows = kernels.load("metal-community").of(operation, "GPU")
    types = {kind for row in rows for name in ("T", "dtype") for kind in row.types.get(name, ())}
    host = {argument for row in rows for argument in row.host}
    assert (" ".join(sorted(types)), " ".join(sorted(host))) == COMMUNITYS[operation]


def test_what_the_communitys_plug_in_leaves_to_a_released_tensorflow_is_not_in_its_table():
    found = kernels.load("metal-community").kernels
    for operation in (
        "ResourceApplyAdam",
        "ResourceGather",
        "Assign",
        "AssignSubVariableOp",
        "ParallelConcat",
    ):
        assert operation not in found


def test_the_two_plug_ins_for_metal_differ_in_what_they_have():
    for operation, types, apples, communitys in (
        ("ResourceApplyAdam", {"T": "float32"}, "metal", "cpu"),
        ("AssignSubVariableOp", {"dtype": "float32"}, "metal", "default"),
        ("MatMul", {"T": "bfloat16"}, "metal", "cpu"),
        ("Sigmoid", {"T": "float16"}, "cpu", "metal-community"),
        ("FFT", {"Tcomplex": "complex64"}, "cpu", "metal-community"),
        ("MatMul", {"T": "float32"}, "metal", "metal-community"),
    ):
        found = where(operation, **types), where(operation, "metal-community", **types)
        assert (operation, *found) == (operation, apples, communitys)
    assert (
        why("ResourceApplyAdam", "metal-community", T="float32")
        == "ResourceApplyAdam: no Metal kernel in tensorflow-metal-plugin 0.4.1"
    )


def test_ten_random_operations_need_macos_13():
    late = {name for name, rows in kernels.load("metal").kernels.items() if rows[0].min_macos == 13}
    assert len(late) == 10
    assert "StatelessRandomUniformV2" in late
    reason = why("StatelessRandomUniformV2", dtype="float32", Tseed="int32", Tshape="int32")
    assert reason == "Metal kernel, macOS 13 or later"


def normalized(operation, rank=None, to="metal", data_format=None):
    """Where a batch normalization would go whose results have so many dimensions, and why."""
    attributes = {"T": ("float32",), "U": ("float32",)}
    if data_format is not None:
        attributes["data_format"] = (data_format,)
    results = tuple(GivenTensor(name, "float32", rank=rank) for name in ("y", "x_backprop"))
    found = place(Node("it", operation, attributes, results=results), "main", target(to))
    return found.where, found.reason


NORMALIZATIONS = ("FusedBatchNormV3", "FusedBatchNormGradV3", "_FusedBatchNormEx")


@pytest.mark.parametrize("operation", NORMALIZATIONS)
def test_metal_normalizes_images_and_no_volumes(operation):
    assert normalized(operation, rank=4)[0] == "metal"
    where, reason = normalized(operation, rank=5)
    assert where == "cpu"
    assert reason == (
        f"{operation} 5-D: Metal's kernel takes only 4-D tensors and fails there, unless the code requests "
        "the CPU"
    )


@pytest.mark.parametrize("operation", NORMALIZATIONS)
def test_where_the_shape_is_not_known_the_data_format_says_how_many_dimensions_there_are(operation):
    for data_format, where in {"NHWC": "metal", "NCHW": "metal", "NDHWC": "cpu", "NCDHW": "cpu"}.items():
        assert normalized(operation, data_format=data_format)[0] == where
    assert normalized(operation)[0] == "metal"


def test_other_targets_normalize_volumes():
    assert normalized("FusedBatchNormV3", rank=5, to="cuda")[0] == "cuda"
    assert normalized("FusedBatchNormV3", rank=5, to="metal-community")[0] == "metal-community"


def test_a_type_that_no_kernel_has_is_told_before_the_dimensions():
    results = (GivenTensor("y", "float64", rank=5),)
    attributes = {"T": ("float64",), "U": ("float64",)}
    found = place(Node("it", "FusedBatchNormV3", attributes, results=results), "main", target("metal"))
    assert found.reason.startswith("FusedBatchNormV3 float64: Metal")


def test_every_layer_of_ml_compute_says_where_its_name_was_read():
    text = resources.files("jupyter_mlgpu.graphs.planning").joinpath("tables", "mlcompute.json").read_text()
    rows = [row for found in json.loads(text)["kernels"].values() for row in found]
    assert all(row["layer"].startswith("MLC") and row["source"].startswith("MLC") for row in rows)


def test_metal_comes_before_the_core_kernels_for_a_gpu_and_these_before_those_for_any_device():
    assert where("MatMul", T="float32") == "metal"
    assert where("Identity", T="float32") == "core"
    assert where("If") == "default"
    assert where("AddV2", T="int32") == "default"
    assert where("Einsum", T="float32") == "cpu"


def test_without_a_metal_kernel_the_reason_names_the_operation_and_the_plug_ins_version():
    assert why("Einsum", T="float32") == "Einsum: no Metal kernel in tensorflow-metal 1.2.0"


def test_with_kernels_for_other_types_the_reason_names_them():
    assert why("Sigmoid", T="float16") == "Sigmoid float16: Metal supports only float32"
    assert why("AddV2", T="float64") == "AddV2 float64: Metal supports only bfloat16, float16, float32"


def test_a_type_that_only_tensorflow_itself_could_serve_is_said_so():
    assert why("If", cond="x") == "TensorFlow's own kernel for any device"
    assert why("Const", dtype="string") == (
        "Const string: no Metal kernel; TensorFlow's own kernel supports only other types"
    )


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_in_top_k_never_matches_for_its_definition_allows_no_float(kind):
    assert where("InTopK", T=kind) == "cpu"


def test_a_kernel_with_a_label_is_found_only_by_operations_that_ask_for_it():
    labelled = kernels.from_json(
        {
            "name": "n",
            "version": "v",
            "origin": "o",
            "kernels": {"Op": [{"device": "GPU", "types": {}, "registrations": 1, "label": "host"}]},
        }
    )
    assert labelled.find(Node("a", "Op"), "GPU") is None
    assert labelled.find(Node("a", "Op", {"_kernel": ("host",)}), "GPU") is not None


def test_the_kernel_with_the_higher_priority_is_taken():
    rows = [
        {"device": "GPU", "types": {}, "registrations": 1, "host": ["low"]},
        {"device": "GPU", "types": {}, "registrations": 1, "host": ["high"], "priority": 1},
    ]
    table = kernels.from_json({"name": "n", "version": "v", "origin": "o", "kernels": {"Op": rows}})
    assert table.find(Node("a", "Op"), "GPU").host == {"high"}


def test_a_list_of_types_has_a_kernel_when_each_of_them_has():
    row = {"device": "GPU", "types": {"T": ["float32", "int32"]}, "registrations": 1}
    table = kernels.from_json({"name": "n", "version": "v", "origin": "o", "kernels": {"Op": [row]}})
    assert table.find(Node("a", "Op", {"T": ("float32", "int32")}), "GPU")
    assert not table.find(Node("a", "Op", {"T": ("float32", "string")}), "GPU")
    assert not table.find(Node("a", "Op"), "GPU")


def test_an_operation_that_the_code_puts_on_the_cpu_stays_there():
    pinned = Node("it", "MatMul", {"T": ("float32",)}, requested_device="/device:CPU:0")
    placed = place(pinned, "main", target("metal"))
    assert (placed.where, placed.reason) == ("cpu", "MatMul: the code requests the CPU")


def test_a_plan_for_metal_says_whose_core_kernels_stand_in_for_a_macs():
    core = kernels.load("core")
    assert any(core.title in caveat for caveat in target("metal").caveats)


def test_cuda_has_kernels_where_metal_has_none():
    assert where("Einsum", "cuda", T="float32") == "cuda"
    assert where("AddV2", "cuda", T="float64") == "cuda"
    assert where("If", "cuda") == "default"
    assert where("NoSuchOperation", "cuda") == "cpu"


def test_ml_compute_has_layers_and_beside_them_only_what_holds_tensors():
    assert where("Conv2D", "mlcompute", T="float32") == "mlcompute"
    assert why("Conv2D", "mlcompute", T="float32") == "ML Compute layer MLCConvolutionLayer"
    assert where("Conv2D", "mlcompute", T="float64") == "cpu"
    assert why("ReadVariableOp", "mlcompute") == "MLCTensorParameter: holds or passes on a tensor"
    assert where("ReadVariableOp", "mlcompute") == "default"
    assert why("Square", "mlcompute") == "Square: no ML Compute layer in pyobjc-framework-MLCompute 12.2.2"
    assert any("not known" in caveat for caveat in target("mlcompute").caveats)


def test_a_target_that_does_not_exist_is_refused():
    with pytest.raises(PlanError, match=r"no target .tpu.\. Choose metal, .*, mlcompute or mps"):
        target("tpu")


def test_tables_are_read_only_when_they_are_asked_for():
    code = (
        "from jupyter_mlgpu.graphs.planning import kernels, forecast;"
        "print(kernels.load.cache_info().currsize); kernels.load('metal'); kernels.load('metal');"
        "print(kernels.load.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"]


def registration(host=(), **types):
    row = {"device": "GPU", "types": {name: list(values) for name, values in types.items()}}
    return {**row, "registrations": 1, **({"host": list(host)} if host else {})}


def test_a_made_table_merges_rows_that_differ_in_one_attribute_alone():
    rows = [("Op", registration(T=[kind], I=[index])) for kind in ("a", "b") for index in ("x", "y")]
    (merged,) = kernel_table.compact(rows)["Op"]
    assert merged == {"device": "GPU", "types": {"T": ["a", "b"], "I": ["x", "y"]}, "registrations": 4}


def test_a_made_table_keeps_apart_what_no_list_could_hold():
    crossed = [("Op", registration(T=["a"], I=["x"])), ("Op", registration(T=["b"], I=["y"]))]
    assert len(kernel_table.compact(crossed)["Op"]) == 2
    hosts = [("Op", registration(T=["a"])), ("Op", registration(T=["b"], host=["n"]))]
    assert len(kernel_table.compact(hosts)["Op"]) == 2
    free = [("Op", registration(T=["a"])), ("Op", registration())]
    assert len(kernel_table.compact(free)["Op"]) == 2


def test_a_made_table_is_read_back_as_it_was_written(tmp_path):
    path = tmp_path / "table.json"
    head = {"name": "n", "version": "1", "origin": "here"}
    kernel_table.write(path, head, [("Op", registration(T=["a"])), ("Op", registration(T=["b"]))])
    table = kernels.from_json(json.loads(path.read_text()))
    assert (table.title, table.registrations, len(table.kernels["Op"])) == ("n 1", 2, 1)
