"""Arrows of drawings run around boxes: none crosses one that is not its end, whatever the graph."""

import itertools
import random
import re

import pytest

from jupyter_mlgpu.graphs.planning.forecast import of_graph, plan
from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, GivenTensor, Node, Operand
from jupyter_mlgpu.graphs.planning.layout import Box, areas, key
from jupyter_mlgpu.graphs.planning.placing import target
from jupyter_mlgpu.graphs.planning.routes import routes
from jupyter_mlgpu.show.planning import drawing, live
from jupyter_mlgpu.show.planning.downwards import draw_down
from jupyter_mlgpu.show.planning.svg import draw

_NUMBERS = re.compile(r"-?[\d.]+")


def pieces(path):
    """A path of M, H, V and C commands, each piece as a row of points: what a browser draws of it."""
    at = None
    for command, told in re.findall(r"([MHVC])([^MHVC]*)", path):
        numbers = [float(one) for one in _NUMBERS.findall(told)]
        if command == "M":
            at = tuple(numbers)
            continue
        points = [at]
        if command == "H":
            points.append((numbers[0], at[1]))
        elif command == "V":
            points.append((at[0], numbers[0]))
        else:
            corners = [at, *zip(numbers[::2], numbers[1::2], strict=True)]
            for t in (step / 24 for step in range(1, 25)):
                weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
                points.append(
                    tuple(
                        sum(w * one[axis] for w, one in zip(weights, corners, strict=True)) for axis in (0, 1)
                    )
                )
        at = points[-1]
        yield points


def apart(points, area):
    """Whether all points lie on one side of a box: most do, and that is quick to see."""
    x, y, width, height = area
    across, down = zip(*points, strict=True)
    return max(across) <= x or min(across) >= x + width or max(down) <= y or min(down) >= y + height


def crosses(start, end, area):
    """Whether a line from point to point has a piece inside a box: clipped at its sides (Liang, Barsky)."""
    x, y, width, height = area
    low, high = 0.0, 1.0
    for at, by, least, most in (
        (start[0], end[0] - start[0], x, x + width),
        (start[1], end[1] - start[1], y, y + height),
    ):
        if by == 0:
            if not least < at < most:
                return False
            continue
        enter, leave = sorted(((least - at) / by, (most - at) / by))
        low, high = max(low, enter), min(high, leave)
    return high - low > 1e-9


def crossed(boxes, arrows, paths):
    """The boxes that an arrow crosses and that are not its ends."""
    return [
        (start, end, name)
        for (start, end), path in zip(arrows, paths, strict=True)
        for points in pieces(path)
        for name, area in boxes.items()
        if name not in (start, end) and not apart(points, area)
        for one, other in itertools.pairwise(points)
        if crosses(one, other, area)
    ]


def paths_of(svg):
    return re.findall(r'<path d="([^"]+)"', svg)


def check(planned):
    """No arrow of any function crosses a box, drawn for a file or for our own view."""
    for body in planned.graph.bodies:
        for most in (drawing.MOST, live.DRAWN):
            scene = drawing.scene(body, planned.placements, planned.groups, planned.target, most)
            places = areas(scene.frames, scene.arrows, 16, 48)
            names = [key(frame, number) for number, frame in enumerate(scene.frames)]
            if not scene.by_frame:
                names = [box.name for frame in scene.frames for box in frame.boxes]
            paths = paths_of(draw(scene).svg)
            assert crossed({one: places[one] for one in names}, scene.arrows, paths) == []


def node(name, operation, *takes):
    operands = tuple(Operand(take, 0, f"in{place}") for place, take in enumerate(takes))
    return Node(name, operation, {"T": ("float32",)}, operands, (), (GivenTensor("out", "float32", 4),))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [12, 60, 150])
def test_no_arrow_of_a_graph_by_chance_crosses_a_box(seed, count):
    chance = random.Random(seed)
    takes = [chance.sample(range(place), k=min(place, chance.randint(0, 3))) for place in range(count)]
    nodes = [
        node(f"n{place}", chance.choice(["Relu", "Relu", "Einsum"]), *(f"n{one}" for one in takes[place]))
        for place in range(count)
    ]
    check(of_graph(FunctionGraph((Body("main", tuple(nodes)),)), target("metal"), "by chance"))


def test_an_arrow_that_skips_a_box_would_cross_it_if_it_ran_straight():
    # What the other tests hold would hold of anything if `crosses` saw nothing.
    boxes = {name: (place * 100, 0, 50, 20) for place, name in enumerate("abc")}
    assert crossed(boxes, [("a", "c")], ["M50 10H200"]) == [("a", "c", "b")]
    (way,) = routes(boxes, [("a", "c")])
    assert len(way) > 2


@pytest.mark.parametrize("arrow", [("c", "a"), ("b", "a"), ("a", "a"), ("d", "b")])
def test_an_arrow_back_runs_around_all_boxes_too(arrow):
    boxes = {name: (place * 100, 0, 50, 20) for place, name in enumerate("abc")} | {"d": (100, 30, 50, 20)}
    (way,) = routes(boxes, [arrow])
    path = f"M{way[0][0]} {way[0][1]}" + "".join(
        f"H{x}" if y == before[1] else f"V{y}" if x == before[0] else f"C{x} {y} {x} {y} {x} {y}"
        for before, (x, y) in itertools.pairwise(way)
    )
    assert crossed(boxes, [arrow], [path]) == []
    assert (way[0], way[-1]) == (
        (boxes[arrow[0]][0] + 50, boxes[arrow[0]][1] + 10),
        (boxes[arrow[1]][0], boxes[arrow[1]][1] + 10),
    )


def test_layers_from_top_to_bottom_have_arrows_around_boxes_as_well():
    before = {
        "x": [],
        "a": ["x"],
        "b": ["a"],
        "c": ["b", "a"],
        "d": ["c", "x"],
        "w": [],
        "e": ["d", "w", "a"],
    }
    made = draw_down("A graph. Words.", [Box(one, one, one, "own", one) for one in before], before)
    boxes = {
        name: tuple(int(one) for one in area)
        for name, *area in re.findall(
            r'<title>(\w)</title><rect class="own" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', made.svg
        )
    }
    arrows = [(one, name) for name, sources in before.items() for one in sources]
    assert len(boxes) == len(before)
    assert crossed(boxes, arrows, paths_of(made.svg)) == []


@pytest.mark.needs("tensorflow")
@pytest.mark.parametrize(
    "kind",
    [
        "attention",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("dense", "residual", "cnn", "lstm")),
    ],
)
def test_no_arrow_of_a_real_graph_crosses_a_box(kind):
    tf = pytest.importorskip("tensorflow")
    keras, layers = tf.keras, tf.keras.layers
    shape = {"cnn": (8, 8, 3), "lstm": (5, 3), "attention": (6, 8)}.get(kind, (4,))
    x = keras.Input(shape)
    if kind == "dense":
        y = layers.Dense(2)(layers.Dense(8, activation="relu")(x))
    elif kind == "residual":
        a = layers.Dense(8)(x)
        b = layers.Dense(8, activation="relu")(a)
        y = layers.Dense(1)(layers.Add()([a, layers.LayerNormalization()(layers.Dense(8)(b))]))
    elif kind == "cnn":
        y = layers.Dense(2)(
            layers.Flatten()(layers.MaxPooling2D()(layers.Conv2D(4, 3, activation="relu")(x)))
        )
    elif kind == "lstm":
        y = layers.Dense(1)(layers.LSTM(4)(x))
    else:
        y = layers.Dense(1)(layers.MultiHeadAttention(2, 4)(x, x))
    model = keras.Model(x, y)
    model.compile("adam", "mse", jit_compile=False)
    given = tf.TensorSpec((8, *shape)), tf.TensorSpec((8, *y.shape[1:]))
    for planned in (plan(model, given[0]), plan(model, *given), plan(model, *given, target="mlcompute")):
        check(planned)
