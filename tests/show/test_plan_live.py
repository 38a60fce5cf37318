"""The graph of a plan as the browser gets it: bounded, deterministic, and every name cut to its size."""

import itertools
import json
import random
import re

from IPython.core.formatters import DisplayFormatter

from jupyter_mlgpu.graphs.planning.forecast import of_graph
from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, GivenTensor, Node, Operand
from jupyter_mlgpu.graphs.planning.placing import target
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.rendering import bundle_of
from jupyter_mlgpu.show.planning import live
from tests.support.reading import as_read


def node(name, operation, *takes, size=4):
    operands = tuple(Operand(take, 0, f"in{place}") for place, take in enumerate(takes))
    return Node(name, operation, {"T": ("float32",)}, operands, (), (GivenTensor("out", "float32", size),))


def body(count, name="main"):
    """A chain with an operation for the CPU at every fifth place."""
    kinds = ["Einsum" if place % 5 == 0 else "Relu" for place in range(count)]
    takes = [() if place == 0 else (f"{name}/{place - 1}",) for place in range(count)]
    return Body(name, tuple(node(f"{name}/{place}", kinds[place], *takes[place]) for place in range(count)))


def plan(*bodies):
    return of_graph(FunctionGraph(bodies), target("metal"), "a graph")


def data_of(*bodies):
    return as_read(decoding.to_json(live.graph(plan(*bodies)).data))


def tables(*bodies):
    """The rows of a plan's page by the name of their table, each with how many there are more."""
    page = as_read(bundle_of(plan(*bodies))[view.MIME_TYPE])
    found = [one for one in (*page["parts"], *page["details"]) if isinstance(one, dict) and "rows" in one]
    more = [int((re.match(r"[\d,]+", one["below"]) or ["0"])[0]) for one in found]
    return {
        one["caption"] or one["summary"]: (one["rows"], left) for one, left in zip(found, more, strict=True)
    }


def stored(data):
    """Bytes in a notebook file, which has a line an item."""
    return len(json.dumps(data, indent=1, ensure_ascii=False).encode())


def test_every_operation_has_its_box_with_kind_and_reason():
    (drawn,) = data_of(body(6))["drawings"]
    assert (drawn["operations"], drawn["shown"], drawn["whole"]) == (6, 6, True)
    first, second, *_ = drawn["boxes"]
    assert first[2:5] == ["Einsum", "main/0", "cpu"]
    assert second[2:5] == ["Relu", "main/1", "own"]
    assert drawn["reasons"][first[5]] == "Einsum: no Metal kernel in tensorflow-metal 1.2.0"
    corners = [tuple(map(int, one.split())) for one in drawn["arrows"]]
    wide, high = drawn["box"]
    right_sides = [(x + wide, y + high // 2) for x, y, *_ in drawn["boxes"]]
    left_sides = [(x, y + high // 2) for x, y, *_ in drawn["boxes"]]
    assert [one[:2] for one in corners] == right_sides[:-1]
    assert [one[-2:] for one in corners] == left_sides[1:]


def test_boxes_lie_within_their_frame_and_frames_apart_and_within_the_drawing():
    (drawn,) = data_of(body(30))["drawings"]
    wide, high = drawn["box"]
    spans = sorted((x, x + width) for x, _, width, *_ in drawn["frames"])
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    assert spans[-1][1] == drawn["size"][0]
    for x, y, *_ in drawn["boxes"]:
        assert any(
            left <= x and x + wide <= left + width and top <= y and y + high <= top + height
            for left, top, width, height, *_ in drawn["frames"]
        )
    assert sum(frame[4] for frame in drawn["frames"]) == 30


def test_a_function_too_large_is_drawn_by_its_groups_and_says_how_many_operations_those_are():
    (drawn,) = data_of(body(live.DRAWN + 1))["drawings"]
    assert drawn["operations"] == live.DRAWN + 1
    assert not drawn["whole"]
    assert drawn["shown"] == sum(frame[4] for frame in drawn["frames"]) == 38
    assert drawn["groups"] == 81
    assert sum(box[6] for box in drawn["boxes"]) + sum(frame[5] for frame in drawn["frames"]) == 38
    begins = {(x + wide, y + high // 2) for x, y, wide, high, *_ in drawn["frames"]}
    assert {tuple(map(int, one.split()[:2])) for one in drawn["arrows"]} <= begins


def test_further_functions_are_drawn_while_there_is_room_and_the_others_counted():
    data = data_of(body(150, "large"), body(40, "small"), body(60, "middle"), body(5, "tiny"), Body("no", ()))
    assert [one["function"] for one in data["drawings"]] == ["large", "small", "tiny"]
    assert data["more_functions"] == 1


def test_rows_that_are_too_many_are_counted():
    nodes = [node(f"n{place}", f"NoSuchOperation{place}") for place in range(100)]
    rows, more = tables(Body("main", tuple(nodes)))["Falls back to the CPU"]
    assert len(rows) + more == 100
    assert data_of(Body("main", tuple(nodes)))["counts"] == {"own": 0, "shared": 0, "cpu": 100}
    apart = [
        one
        for place in range(100)
        for one in (
            node(f"x{place}", "Placeholder", size=place),
            node(f"r{place}", "Relu", f"x{place}", size=place),
            node(f"e{place}", "Einsum", f"r{place}"),
        )
    ]
    found = tables(Body("main", tuple(apart)))
    rows, more = found["Subgraphs on the device"]
    assert len(rows) + more == 100
    rows, more = found["Copied between host and device"]
    assert len(rows) + more == 100
    assert [row[2] for row in rows] == [str(size) for size in range(99, 99 - len(rows), -1)]  # the largest


def test_whatever_the_graph_the_notebook_grows_by_half_a_megabyte_at_most():
    chance = random.Random(1)
    long = "\u4e00\U0001f600" * 5_000
    for count in (live.DRAWN, 3_000):
        takes = [chance.choices(range(place), k=3) if place else [] for place in range(count)]
        names = [f"{place}{long}" for place in range(count)]
        nodes = [
            node(names[place], names[place], *map(names.__getitem__, takes[place])) for place in range(count)
        ]
        planned = of_graph(FunctionGraph((Body(long, tuple(nodes)),)), target("metal"), long)
        assert stored(bundle_of(planned)) < 500_000
        (drawn,) = decoding.to_json(live.graph(planned).data)["drawings"]
        assert len(drawn["boxes"]) <= live.DRAWN
        assert len(drawn["arrows"]) <= live.ARROWS
        assert drawn["more_arrows"] == (len(set(flat(takes))) - live.ARROWS if count == live.DRAWN else 0)


def flat(takes):
    return [(source, place) for place, sources in enumerate(takes) for source in sources]


def test_a_plain_graph_of_as_many_operations_as_are_drawn_takes_less_than_50_kilobytes():
    assert stored(data_of(body(live.DRAWN))) < 50_000


def test_the_same_graph_gives_the_same_data():
    assert json.dumps(data_of(body(40))) == json.dumps(data_of(body(40)))


def test_hostile_names_stay_text():
    hostile = "<img src=x onerror=alert(1)>"
    data = data_of(Body(hostile, (node(hostile, hostile), node("frame 0", "Relu", hostile))))
    assert data["drawings"][0]["boxes"][0][2] == hostile
    assert json.loads(json.dumps(data)) == data


def test_one_operation_is_said_in_the_singular():
    said = repr(plan(Body("main", (node("one", "Relu"),))))
    assert "1 device subgraph, of 1 operation." in said
    assert "1 operations" not in said


def test_an_empty_graph_has_no_drawing():
    data = data_of(Body("main", ()))
    assert (sum(data["counts"].values()), data["drawings"]) == (0, [])


def test_the_picture_comes_before_all_that_is_said_below_the_answer():
    made, _ = DisplayFormatter().format(plan(body(6)))
    first, *others = as_read(made[view.MIME_TYPE])["parts"]
    assert first["kind"] == "graph"
    assert any("A forecast: nothing was run" in one for one in others)
    html = made["text/html"]
    assert html.index("<strong>") < html.index("<img ") < html.index("A forecast: nothing was run")


def test_a_notebook_gets_it_beside_html_and_plain_text_and_how_far_it_goes_is_said():
    made, _ = DisplayFormatter().format(plan(body(6)))
    assert set(made) == {view.MIME_TYPE, "text/html", "text/plain"}
    assert any("before graph optimizers run" in note for note in as_read(made[view.MIME_TYPE])["notes"])
    assert any("A forecast: nothing was run" in one for one in made[view.MIME_TYPE]["parts"])
