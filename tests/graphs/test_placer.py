"""Where TensorFlow's placer would put the operations of small graphs, and what is copied. No framework."""

from dataclasses import replace

import pytest

from jupyter_mlgpu.graphs.planning.forecast import of_graph
from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, GivenTensor, Node, Operand
from jupyter_mlgpu.graphs.planning.placing import target


def node(name, operation, *takes, kind="float32", size=4, attributes=None, after=(), **more):
    """An operation that takes the first result of each node named, `x:1` the second of x, and gives one."""
    operands = tuple(
        Operand(take.partition(":")[0], int(take.partition(":")[2] or 0), f"in{place}")
        for place, take in enumerate(takes)
    )
    given = {"T": (kind,)} if attributes is None else attributes
    return Node(name, operation, given, operands, after, (GivenTensor("output", kind, size),), **more)


def const(name, *, kind="float32", **more):
    return node(name, "Const", kind=kind, attributes={"dtype": (kind,)}, **more)


def given(name, *, kind="float32"):
    return node(name, "Placeholder", kind=kind, attributes={"dtype": (kind,)})


def call(name, operation, *takes, calls, results=("float32",), arguments=()):
    """An operation that calls functions, by the attributes that name them."""
    operands = tuple(
        Operand(take, 0, argument)
        for take, argument in zip(
            takes, arguments or [f"in{place}" for place in range(len(takes))], strict=True
        )
    )
    return Node(
        name,
        operation,
        {},
        operands,
        (),
        tuple(GivenTensor("output", one, 4) for one in results),
        "",
        (),
        calls,
    )


def function(name, *nodes, takes, gives):
    arguments = {one: GivenTensor(one, kind, 4) for one, kind in takes.items()}
    return Body(name, nodes, arguments, tuple(Operand(one, 0, one) for one in gives))


def plan(*bodies, to="metal"):
    return of_graph(FunctionGraph(bodies), target(to), "a graph")


def placed(found):
    return {one.node: "device" if one.on_device else "cpu" for one in found.placements}


def reasons(found):
    """Why operations that have a kernel would still run on the CPU."""
    return [one.reason for one in found.placements if one.where == "beside"]


def copied(found):
    return [(one.tensor, one.to) for one in found.crossings]


def batches(*readers):
    """A function that takes a batch from an iterator."""
    iterator = given("iterator", kind="resource")
    return Body("main", (iterator, node("batch", "IteratorGetNext", "iterator", size=128), *readers))


def test_a_batch_comes_from_the_cpu_and_is_copied_in_each_step():
    found = plan(batches(node("relu", "Relu", "batch")))
    assert placed(found) == {"iterator": "cpu", "batch": "cpu", "relu": "device"}
    assert [(one.tensor, one.to, one.bytes) for one in found.crossings] == [("batch:0", "device", 128)]
    assert "IteratorGetNext: dataset iterators are on the CPU" in reasons(found)


@pytest.mark.parametrize("operation", ["Size", "Shape", "Rank", "Identity"])
def test_what_looks_at_a_shape_or_hands_a_tensor_on_stands_where_the_tensor_is(operation):
    looking = node("looking", operation, "batch", attributes={"T": ("float32",), "out_type": ("int32",)})
    found = plan(batches(looking))
    assert placed(found)["looking"] == "cpu"
    assert f"{operation}: its input tensor is on the CPU" in reasons(found)
    on_device = plan(Body("main", (given("batch"), node("relu", "Relu", "batch"), replace_source(looking))))
    assert placed(on_device)["looking"] == "device"


def replace_source(one):
    return replace(one, operands=(Operand("relu", 0, "in0"),))


def test_a_constant_stands_with_its_readers_where_they_are_on_one_side():
    nodes = (const("c"), node("sum", "Einsum", "c"))
    found = plan(Body("main", nodes))
    assert placed(found) == {"c": "cpu", "sum": "cpu"}
    assert found.crossings == ()
    assert "Const: all operations that depend on it are on the CPU" in reasons(found)
    both = plan(Body("main", (*nodes, node("relu", "Relu", "c"))))
    assert placed(both) == {"c": "device", "sum": "cpu", "relu": "device"}
    assert copied(both) == [("c:0", "host")]


def test_what_only_stands_beside_others_on_the_cpu_is_no_fallback():
    found = plan(Body("main", (const("c"), node("sum", "Einsum", "c"), node("relu", "Relu", "sum"))))
    assert [one.operation for one in found.fallbacks] == ["Einsum"]
    assert (found.counts["cpu"], found.counts["beside"]) == (1, 1)
    assert "1 would fall back to the CPU, where 1 more would run beside them." in found.summary()


def test_a_constant_of_int32_lies_with_the_host_and_is_copied_to_a_kernel_of_the_device():
    types = {"SrcT": ("int32",), "DstT": ("float32",)}
    found = plan(Body("main", (const("c", kind="int32"), node("cast", "Cast", "c", attributes=types))))
    assert placed(found) == {"c": "device", "cast": "device"}
    assert copied(found) == [("c:0", "device")]


def test_an_operation_that_waits_for_a_constant_counts_as_its_reader():
    waiting = node("relu", "Relu", "x", after=("c",))
    found = plan(Body("main", (given("x"), const("c"), node("sum", "Einsum", "c"), waiting)))
    assert placed(found)["c"] == "device"


def test_operations_on_one_handle_stand_together_in_functions_too():
    types = {"dtype": ("float32",)}
    reading = node("read", "ReadVariableOp", "v", attributes=types)
    inner = function(
        "inner", reading, node("odd", "NoSuchOperation", "v"), takes={"v": "resource"}, gives=["read"]
    )
    outer = Body(
        "main",
        (
            given("variable", kind="resource"),
            call("call", "PartitionedCall", "variable", calls=(("f", "inner"),)),
        ),
    )
    found = plan(outer, inner)
    assert placed(found) == {"variable": "cpu", "call": "device", "read": "cpu", "odd": "cpu"}
    assert "ReadVariableOp: colocated with NoSuchOperation, which is on the CPU" in reasons(found)


def test_operations_that_are_asked_to_stand_together_do():
    found = plan(
        Body(
            "main",
            (given("x"), node("sum", "Einsum", "x"), node("relu", "Relu", "x", colocated_with=("sum",))),
        )
    )
    assert placed(found)["relu"] == "cpu"


def test_a_tensor_is_followed_into_a_function_and_out_of_it():
    inner = function("inner", node("relu", "Relu", "y"), takes={"y": "float32"}, gives=["relu"])
    nodes = (
        given("x"),
        node("sum", "Einsum", "x"),
        call("call", "PartitionedCall", "sum", calls=(("f", "inner"),)),
        node("last", "Einsum", "call"),
    )
    # There and back and there again: nothing more for the call itself.
    assert copied(plan(Body("main", nodes), inner)) == [
        ("x:0", "host"),
        ("relu:0", "host"),
        ("sum:0", "device"),
    ]


def test_both_ways_of_a_branch_count_and_each_has_the_tensor_copied_that_it_reads():
    yes = function("yes", node("a", "Relu", "y"), takes={"y": "float32"}, gives=["a"])
    no = function("no", node("b", "Softmax", "y"), takes={"y": "float32"}, gives=["b"])
    nodes = (
        given("choice", kind="bool"),
        given("x"),
        node("sum", "Einsum", "x"),
        call(
            "if",
            "If",
            "choice",
            "sum",
            calls=(("else_branch", "no"), ("then_branch", "yes")),
            arguments=("cond", "input"),
        ),
    )
    found = copied(plan(Body("main", nodes), yes, no))
    assert found.count(("sum:0", "device")) == 2
    assert found.count(("choice:0", "host")) == 1  # it is the host that chooses


def test_whether_a_loop_goes_on_is_copied_to_the_host():
    goes_on = function(
        "goes_on",
        node("more", "Greater", "y", "y", kind="bool", attributes={"T": ("float32",)}),
        takes={"y": "float32"},
        gives=["more"],
    )
    body = function("body", node("relu", "Relu", "y"), takes={"y": "float32"}, gives=["relu"])
    loop = call("loop", "While", "x", calls=(("body", "body"), ("cond", "goes_on")))
    found = plan(Body("main", (given("x"), loop)), goes_on, body)
    assert copied(found) == [("more:0", "host")]


def test_a_tensor_that_the_cpu_and_a_host_argument_read_is_copied_for_each():
    # Reshape takes its shape from the host's memory, an operation on the CPU takes it there as well.
    types = {"Tidx": ("int32",)}
    shape = node("shape", "Range", "a", "a", "a", kind="int32", attributes=types)
    reshaped = Node(
        "reshaped",
        "Reshape",
        {"T": ("float32",), "Tshape": ("int32",)},
        (Operand("x", 0, "tensor"), Operand("shape", 0, "shape")),
        (),
        (GivenTensor("output", "float32", 4),),
    )
    nodes = (
        given("a", kind="int32"),
        given("x"),
        shape,
        reshaped,
        node("sum", "Einsum", "shape", kind="int32"),
    )
    found = plan(Body("main", nodes))
    assert copied(found).count(("shape:0", "host")) == 2


def test_ml_compute_has_no_placer_of_tensorflows():
    found = plan(batches(node("relu", "Relu", "batch")), to="mlcompute")
    assert all("iterator" not in one.reason for one in found.placements)
