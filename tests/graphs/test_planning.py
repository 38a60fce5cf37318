"""The plan of small graphs in plain data: placements, subgraphs, bytes, and what is shown. No framework."""

import base64
import html
import itertools
import json
import random
import re
from dataclasses import replace

import pytest

from jupyter_mlgpu.graphs.planning.forecast import of_graph
from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, GivenTensor, Node, Operand
from jupyter_mlgpu.graphs.planning.placing import target
from jupyter_mlgpu.graphs.planning.subgraphs import divide
from jupyter_mlgpu.record.errors import PlanError


def node(name, operation, *takes, kind="float32", size=None, after=(), attribute="T", arguments=()):
    """An operation of one result; it takes the first result of each node named."""
    names = [*arguments, *[f"in{place}" for place in range(len(arguments), len(takes))]]
    result = GivenTensor("out", kind, size, "" if size is not None else "its shape is not known")
    return Node(
        name,
        operation,
        {attribute: (kind,)},
        tuple(Operand(take, 0, argument) for take, argument in zip(takes, names, strict=True)),
        tuple(after),
        (result,),
    )


def plan(*nodes, to="metal", **more):
    return of_graph(FunctionGraph((Body("main", nodes, **more),)), target(to), "a graph")


def groups(*nodes, cpu=()):
    """The device's groups and the CPU's, as sets of names."""
    found = divide(Body("main", nodes), {one.name: one.name not in cpu for one in nodes})
    device = {frozenset(one.nodes) for one in found if one.on_device}
    return device, {frozenset(one.nodes) for one in found if not one.on_device}


def link(name, *takes, after=()):
    return node(name, "Relu", *takes, after=after)


def names(*texts):
    return {frozenset(text) for text in texts}


# x -> MatMul -> Einsum -> Relu -> Softmax: the Einsum in the middle cuts the device's work in two.
SANDWICH = (
    node("x", "Placeholder", attribute="dtype", size=400),
    node("product", "MatMul", "x", size=800),
    node("sum", "Einsum", "product", size=1600),
    node("relu", "Relu", "sum", size=1600),
    node("probabilities", "Softmax", "relu", size=1600),
)


def test_each_operation_is_placed():
    placed = {one.node: one.where for one in plan(*SANDWICH).placements}
    assert placed == {
        "x": "default",
        "product": "metal",
        "sum": "cpu",
        "relu": "metal",
        "probabilities": "metal",
    }


def test_an_operation_on_the_cpu_in_the_middle_makes_two_subgraphs():
    found = plan(*SANDWICH).subgraphs
    assert {one.nodes for one in found} == {("x", "product"), ("relu", "probabilities")}
    assert [(one.operations, one.own) for one in found] == [(2, 1), (2, 2)]


def test_what_goes_around_the_cpu_is_not_joined_for_that_would_make_a_cycle():
    # a -> b -> c with b on the CPU, and a -> c directly: a and c cannot run as one piece.
    nodes = (link("a"), link("b", "a"), link("c", "b", "a"))
    assert groups(*nodes, cpu="b") == (names("a", "c"), names("b"))


def test_two_branches_that_never_leave_the_device_stay_with_what_they_come_from():
    nodes = (link("a"), link("b", "a"), link("c", "a"), link("d", "b", "c"))
    assert groups(*nodes) == (names("abcd"), set())


def test_an_operation_that_waits_for_the_cpu_alone_does_not_cut_its_reader_from_the_rest():
    # c (CPU) depends on nothing, so it can run first and leave a, b, d in one piece.
    nodes = (link("a"), link("b", "a"), link("c"), link("d", "b", "c"))
    assert groups(*nodes, cpu="c") == (names("abd"), names("c"))


def test_a_ladder_that_goes_back_and_forth_falls_into_as_many_pieces_as_it_has_steps():
    nodes = [link("0")] + [link(str(place), str(place - 1)) for place in range(1, 9)]
    device, cpu = groups(*nodes, cpu="1357")
    assert (len(device), len(cpu)) == (5, 4)


def test_joining_two_pairs_that_cross_would_make_a_cycle_so_one_pair_stays_apart():
    # a -> d and c -> b on the device; a -> x -> b and c -> y -> d by way of the CPU.
    nodes = (
        link("a"),
        link("c"),
        link("x", "a"),
        link("y", "c"),
        link("d", "a", "y"),
        link("b", "c", "x"),
    )
    device, _ = groups(*nodes, cpu="xy")
    assert len(device) == 3
    assert device in (names("ad", "c", "b"), names("a", "d", "cb"))


def test_control_dependencies_hold_pieces_together_and_apart_like_data():
    nodes = (link("a"), link("b", after="a"), link("c", "a", after="b"))
    assert groups(*nodes)[0] == names("abc")
    assert groups(*nodes, cpu="b")[0] == names("a", "c")


def test_operations_may_stand_in_any_order():
    nodes = (link("c", "b"), link("b", "a"), link("a"))
    assert groups(*nodes) == (names("abc"), set())


def test_a_loop_of_tensorflow_1_is_refused():
    with pytest.raises(PlanError, match="loop of TensorFlow 1"):
        groups(link("a", "b"), link("b", "a"))


def test_a_group_of_nothing_but_tensorflows_own_operations_is_no_subgraph():
    found = plan(node("x", "Placeholder", attribute="dtype"), node("sum", "Einsum", "x"))
    assert found.subgraphs == ()
    assert "No subgraph would run on the device." in found.summary()


def test_bytes_are_counted_on_the_way_to_the_cpu_and_back():
    found = plan(*SANDWICH)
    assert [(one.tensor, one.to, one.bytes) for one in found.crossings] == [
        ("product:0", "host", 800),
        ("sum:0", "device", 1600),
    ]
    assert found.known_bytes == 2400


def test_a_tensor_read_twice_on_the_cpu_is_copied_once():
    readers = (node("one", "Einsum", "x"), node("two", "Einsum", "x"))
    found = plan(node("x", "Placeholder", attribute="dtype", size=8), *readers)
    assert [one.tensor for one in found.crossings] == ["x:0"]


def test_an_unknown_size_is_none_with_its_reason():
    found = plan(node("x", "Placeholder", attribute="dtype"), node("sum", "Einsum", "x"))
    (copied,) = found.crossings
    assert (copied.bytes, copied.why_missing) == (None, "its shape is not known")
    assert "1 more of unknown size: its shape is not known." in found.summary()


def test_arguments_in_host_memory_are_read_there_although_the_kernel_is_metals():
    # Sum takes its axes from the host's memory; a float tensor in their place would be copied.
    axes = node("axes", "Placeholder", kind="int64", attribute="dtype", size=8)
    total = Node(
        "total",
        "Sum",
        {"T": ("float32",), "Tidx": ("int64",)},
        (Operand("x", 0, "input"), Operand("axes", 0, "reduction_indices")),
        results=(GivenTensor("output", "float32", 4),),
    )
    found = plan(node("x", "Placeholder", attribute="dtype", size=8), axes, total)
    assert [(one.tensor, one.to) for one in found.crossings] == [("axes:0", "host")]
    # Of constants TensorFlow makes int32 alone in the host's memory.
    for kind, copied in (("int64", ["axes:0"]), ("int32", [])):
        constant = node("axes", "Const", kind=kind, attribute="dtype")
        constant = replace(constant, results=(GivenTensor("output", kind, 8),))
        reader = replace(total, attributes={"T": ("float32",), "Tidx": (kind,)})
        found = plan(node("x", "Placeholder", attribute="dtype", size=8), constant, reader)
        assert [one.tensor for one in found.crossings] == copied


def test_what_a_function_is_given_and_gives_back_lies_on_the_device_but_for_small_integers():
    inner = Body(
        "inner",
        (node("sum", "Einsum", "x", size=4), node("count", "Einsum", "n", kind="int32", size=4)),
        {"x": GivenTensor("x", "float32", 16), "n": GivenTensor("n", "int32", 4)},
        (Operand("sum", 0, "y"), Operand("count", 0, "m")),
    )
    found = of_graph(FunctionGraph((inner,)), target("metal"), "f")
    assert [(one.tensor, one.to, one.bytes) for one in found.crossings] == [
        ("x:0", "host", 16),
        ("sum:0", "device", 4),
    ]


def test_handles_are_never_copied():
    variable = node("v", "Placeholder", kind="resource", attribute="dtype")
    read = node("read", "NoSuchOperation", "v", size=4)
    assert plan(variable, read).crossings == ()


def test_fallbacks_are_grouped_by_reason_the_most_frequent_first():
    nodes = [node(f"e{place}", "Einsum") for place in range(3)] + [node("s", "Sigmoid", kind="float16")]
    found = plan(*nodes).fallbacks
    assert [(one.count, one.reason) for one in found] == [
        (3, "Einsum: no Metal kernel in tensorflow-metal 1.2.0"),
        (1, "Sigmoid float16: Metal supports only float32"),
    ]
    assert found[0].nodes == ("e0", "e1", "e2")


def test_the_summary_says_it_in_words():
    text = plan(*SANDWICH).summary()
    assert "a graph: 5 operations, planned for Metal using tensorflow-metal 1.2.0." in text
    assert (
        "3 have a Metal kernel, 1 can use one of TensorFlow's own kernels, and 1 would fall back to the CPU."
    ) in text
    assert "2 device subgraphs, of 2, 2 operations; fewer, larger subgraphs run better." in text
    assert "2,400 bytes in 2 tensors would be copied between host and device." in text
    assert re.search(r"Einsum +1  Einsum: no Metal kernel in tensorflow-metal 1.2.0", text)


@pytest.mark.parametrize(
    ("nodes", "to", "words"),
    [
        (SANDWICH, "metal", "a Mac: 4 of 5 operations would run on the GPU; 1 stays on the CPU (Einsum)."),
        (SANDWICH[:2], "metal", "a Mac: all 2 operations would run on the GPU."),
        (SANDWICH[:1], "cuda", "CUDA: the only operation would run on the GPU."),
        (SANDWICH[2:3], "metal", "a Mac: none of the 1 operations would run on the GPU (Einsum)."),
        ((), "cuda", "CUDA: no operation to place."),
        (SANDWICH[:2], "mlcompute", "a Mac with ML Compute: all 2 operations could run in ML Compute."),
    ],
)
def test_the_headline_says_for_which_machine_it_is_and_what_stays_on_the_cpu(nodes, to, words):
    found = plan(*nodes, to=to)
    assert repr(found).splitlines()[0] == f"Planned for {words}"
    assert f"<strong>Planned for {words}</strong>" in found._repr_html_()


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("metal", "TensorFlow's placer would put them before graph optimizers run"),
        ("metal-community", "TensorFlow's placer would put them before graph optimizers run"),
        ("metal-community", "TensorFlow's own kernels update them on the CPU"),
        ("cuda", "TensorFlow's placer would put them before graph optimizers run"),
        ("mlcompute", "eligibility, not placement"),
    ],
)
def test_every_output_says_how_far_it_goes(to, words):
    found = plan(*SANDWICH, to=to)
    outputs = [found.summary(), repr(found), html.unescape(found._repr_html_()), json.dumps(found.to_json())]
    assert all(words in one for one in outputs)


def test_the_communitys_plug_in_is_named_with_the_tensorflow_that_it_is_for():
    found = plan(*SANDWICH, to="metal-community")
    text = found.summary()
    assert "planned for Metal using tensorflow-metal-plugin 0.4.1." in text
    assert re.search(r"Einsum +1  Einsum: no Metal kernel in tensorflow-metal-plugin 0.4.1", text)
    assert "community plug-in" in text
    assert "only for TensorFlow 2.21" in text
    assert found.counts == {"metal-community": 3, "core": 0, "default": 1, "cpu": 1, "beside": 0}
    assert found.to_json()["target"] == "metal-community"
    assert "community" not in plan(*SANDWICH).summary()


def test_json_holds_everything_and_is_plain():
    data = plan(*SANDWICH).to_json()
    assert json.loads(json.dumps(data)) == data
    assert data["counts"] == {"metal": 3, "core": 0, "default": 1, "cpu": 1, "beside": 0}
    assert data["crossing"]["known_bytes"] == 2400
    assert len(data["placements"]) == 5
    assert any("emulator" in table for table in data["tables"])


def test_hostile_names_are_escaped():
    found = plan(node("<script>alert(1)</script>", "<img src=x onerror=alert(1)>"))
    page = found._repr_html_()
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "<script" not in found.picture().svg


def test_the_picture_is_an_image_with_its_words_boxed_and_coloured_by_device():
    page = plan(*SANDWICH).picture()._repr_html_()
    svg = base64.b64decode(re.search(r"base64,([^\"]+)", page).group(1)).decode()
    assert 'alt="main, all 5 operations: 3 with a Metal kernel (green)' in page
    assert svg.count('class="group"') == 3  # two on the device, one on the CPU
    assert [svg.count(f'<rect class="{kind}"') for kind in ("own", "shared", "cpu")] == [3, 1, 1]


def test_boxes_of_groups_do_not_overlap():
    svg = plan(*SANDWICH).picture().svg
    frames = re.findall(r'class="group" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', svg)
    spans = sorted((int(x), int(x) + int(width)) for x, _, width, _ in frames)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


def test_a_picture_of_many_operations_says_that_it_is_cut():
    nodes = [node("0", "Relu")]
    nodes += [
        node(str(place), "Einsum" if place % 5 == 0 else "Relu", str(place - 1)) for place in range(1, 200)
    ]
    drawn = plan(*nodes).picture()
    # Forty groups (of five, then of four), and 39 single Einsums between them: 8 and 6 are drawn, in short.
    assert repr(drawn).startswith("main, 39 of 200 operations in 14 of 79 groups, the largest on either side")
    assert drawn.svg.count('class="group"') == 14
    assert [drawn.svg.count(f'<rect class="{kind}"') for kind in ("own", "cpu")] == [8, 6]
    assert ">4 of them<" in drawn.svg


def test_a_graph_without_operations_is_planned_and_drawn():
    empty = plan()
    assert "0 operations" in empty.summary()
    assert "<img" in empty._repr_html_()


def reachable(start, edges):
    found, todo = set(), [start]
    while todo:
        for after in edges.get(todo.pop(), ()):
            if after not in found:
                found.add(after)
                todo.append(after)
    return found


@pytest.mark.parametrize("seed", range(100))
def test_groups_never_wait_for_one_another_and_no_two_of_them_could_still_be_joined(seed):
    draw = random.Random(seed)
    count = draw.randint(2, 24)
    takes = {
        place: draw.sample(range(place), min(place, draw.choice([0, 1, 1, 2, 3]))) for place in range(count)
    }
    nodes = [link(str(place), *map(str, takes[place])) for place in range(count)]
    on_device = {str(place): draw.random() < 0.7 for place in range(count)}
    found = divide(Body("main", tuple(nodes)), on_device)
    group_of = {name: place for place, group in enumerate(found) for name in group.nodes}
    assert sorted(group_of, key=int) == [str(place) for place in range(count)]

    edges = {}
    for one in nodes:
        for source in one.sources:
            if group_of[source] != group_of[one.name]:
                edges.setdefault(group_of[source], set()).add(group_of[one.name])
    for place, group in enumerate(found):
        assert all(on_device[name] is group.on_device for name in group.nodes)
        assert place not in reachable(place, edges)
        assert all(after > place for after in edges.get(place, ()))  # an order in which they could run
        for after in edges.get(place, ()):
            if found[after].on_device and group.on_device:
                others = {one: edges.get(one, set()) - ({after} if one == place else set()) for one in edges}
                assert after in reachable(place, others)
