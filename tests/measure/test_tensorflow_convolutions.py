"""What convolutions have to do is counted from shapes and from the graphs' strides, and never guessed."""

import pytest

from jupyter_mlgpu.measure.frameworks.tensorflow.convolutions import Convolutions, Moves
from jupyter_mlgpu.measure.frameworks.tensorflow.profile_reader import derived_fields

pytestmark = pytest.mark.small

PLAIN = Moves((1, 1), (1, 1), same=False)
STRIDED = Moves((2, 2), (1, 1), same=True)
IMAGES, FILTER = [32, 28, 28, 3], [5, 5, 3, 16]


def counted(path, kind, *sizes, graphs, ran=()):
    return Convolutions(graphs, ran).flops(path, kind, sizes)


@pytest.mark.parametrize(
    ("moves", "outputs"),
    [
        (PLAIN, 24 * 24),
        (STRIDED, 14 * 14),
        (Moves((2, 3), (1, 1), same=False), 12 * 8),
        (Moves((1, 1), (2, 2), same=False), 20 * 20),
        (Moves((1, 1), (2, 2), same=True), 28 * 28),
    ],
)
def test_a_filter_is_applied_once_for_each_number_that_comes_out(moves, outputs):
    whole = 2 * 32 * outputs * 16 * 5 * 5 * 3
    assert counted("a/conv", "Conv2D", IMAGES, FILTER, graphs={"a/conv": moves}) == whole


def test_a_depthwise_one_sums_over_no_channels():
    found = counted("d", "DepthwiseConv2dNative", IMAGES, [5, 5, 3, 2], graphs={"d": PLAIN})
    assert found == 2 * 32 * 24 * 24 * 6 * 5 * 5


def test_channels_may_stand_first_as_on_a_gpu():
    assert counted("a", "Conv2D", [32, 3, 28, 28], FILTER, graphs={"a": PLAIN}) == counted(
        "a", "Conv2D", IMAGES, FILTER, graphs={"a": PLAIN}
    )


def test_a_fused_one_has_another_name_and_is_the_only_one_beside_it():
    graphs = {"model/conv/convolution": PLAIN, "model/other/convolution": STRIDED}
    path, kind = "StatefulPartitionedCall/model/conv/Relu", "_MklNativeFusedConv2D"
    assert counted(path, kind, IMAGES, FILTER, graphs=graphs) == 2 * 32 * 24 * 24 * 16 * 5 * 5 * 3
    two = {"Conv2D": PLAIN, "Conv2D_1": STRIDED}
    assert counted("Relu", kind, IMAGES, FILTER, graphs=two) is None
    assert counted("Conv2D_1", "Conv2D", IMAGES, FILTER, graphs=two) == 2 * 32 * 14 * 14 * 16 * 5 * 5 * 3


@pytest.mark.parametrize(
    ("path", "sizes", "graphs"),
    [
        ("a", (IMAGES, FILTER), {}),
        ("a", (IMAGES, FILTER), {"a": None}),
        ("b/a", (IMAGES, FILTER), {"a": PLAIN}),
        ("b", (IMAGES, FILTER), {"a": PLAIN}),
        ("a", ([32, 3, 28, 3], FILTER), {"a": PLAIN}),
        ("a", ([32, 28, 28, 6], FILTER), {"a": PLAIN}),
        ("a", (IMAGES,), {"a": PLAIN}),
        ("a", (IMAGES, [5, 5, 5, 3, 16]), {"a": PLAIN}),
    ],
    ids=[
        "no graph",
        "graphs differ",
        "another scope",
        "another name",
        "height as channels",
        "groups",
        "no filter",
        "3d",
    ],
)
def test_what_is_not_certain_is_not_counted(path, sizes, graphs):
    assert counted(path, "Conv2D", *sizes, graphs=graphs) is None


def test_gradients_have_as_much_to_do_as_what_they_are_of():
    graphs = {"m/c/convolution": PLAIN}
    ran = [("StatefulPartitionedCall/m/c/Relu", "_FusedConv2D", (IMAGES, FILTER))]
    whole = counted(*ran[0][:2], IMAGES, FILTER, graphs=graphs)
    back, path = [32, 24, 24, 16], "StatefulPartitionedCall/gradient_tape/m/c/convolution/Conv2DBackprop"
    assert counted(f"{path}Input", "Conv2DBackpropInput", [4], FILTER, back, graphs=graphs) == whole
    of_filter = f"{path}Filter", "Conv2DBackpropFilter", IMAGES, [4], back
    assert counted(*of_filter, graphs=graphs, ran=ran) == whole
    assert counted(*of_filter, graphs=graphs) is None, "nobody tells the filter's size"
    another = ("m/c/Relu", "_FusedConv2D", (IMAGES, [3, 3, 3, 16]))
    assert counted(*of_filter, graphs=graphs, ran=[*ran, another]) is None, "two calls differ"


@pytest.mark.parametrize("kind", ["MatMul", "_MklMatMul", "_FusedMatMul", "_MklNativeFusedMatMul"])
def test_a_product_is_one_also_where_it_was_fused(kind):
    assert (
        derived_fields("m/dense/Relu", kind, "(float[32,64];float[64,10];float[10])")["flops"]
        == 2 * 32 * 64 * 10
    )


def test_where_products_are_worked_out_in_tf32_convolutions_are_so_too():
    found = Convolutions({"c": PLAIN}, ())
    told = derived_fields("c", "Conv2D", "(float[32,28,28,3];float[5,5,3,16])", True, found)
    assert (told["number_type"], told["shapes"]) == ("tf32", "32x28x28x3, 5x5x3x16")
    assert told["flops"] == 2 * 32 * 24 * 24 * 16 * 5 * 5 * 3
