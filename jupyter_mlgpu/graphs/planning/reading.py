"""Trace what the user has (function, concrete function, Keras model) to the graph TensorFlow would run.

This is the only module of the plan that imports TensorFlow and Keras. Nothing is run: functions are traced
with only the shapes and types of the inputs, as TensorFlow does before a first call.
"""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from typing import Any

from jupyter_mlgpu.graphs.planning import graphdef
from jupyter_mlgpu.graphs.planning.flow import BRANCHES, CALLS, ITERATORS
from jupyter_mlgpu.graphs.planning.graph import FunctionGraph
from jupyter_mlgpu.graphs.planning.simulated_gpu import simulated_gpu
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.sentence import say

#: The default number of rows of a batch in `fit`.
BATCH = 32

_TAKES = "It takes a tf.function with its inputs, a concrete function, or a built Keras model."

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NAMED = re.compile(r"[A-Za-z]\w*: ")
_CALLING = re.compile(r"(\w+: )?Exception encountered when calling ")


def read(subject: Any, inputs: tuple[Any, ...], *, gpu: bool) -> tuple[str, FunctionGraph]:
    """Return the name of the subject and its graph; with `gpu`, the graph as traced with a GPU."""
    if "tensorflow" not in sys.modules:
        # If TensorFlow is not imported, it has not made the object; importing it would take seconds for
        # nothing.
        raise PlanError(f"An object of type {type(subject).__name__} cannot be planned. {_TAKES}")
    with simulated_gpu() if gpu else nullcontext():
        function, name = _concrete(subject, inputs)
        serialised = function.graph.as_graph_def(add_shapes=True)
        if _is_model(subject) and (rows := _rows(inputs)):
            _size(serialised, rows)
    return name, graphdef.read(serialised, function.graph.name, _types())


def _types() -> graphdef.Types:
    from tensorflow.python.framework import dtypes, op_def_registry

    def size(kind: int) -> int | None:
        found = dtypes.as_dtype(kind)
        if found in (dtypes.string, dtypes.resource, dtypes.variant):
            return None
        return int(found.size)

    return graphdef.Types(op_def_registry.get, lambda kind: str(dtypes.as_dtype(kind).name), size)


def _concrete(subject: Any, inputs: tuple[Any, ...]) -> tuple[Any, str]:
    from tensorflow.python.eager.polymorphic_function import concrete_function
    from tensorflow.types.experimental import PolymorphicFunction

    if isinstance(subject, concrete_function.ConcreteFunction):
        if inputs:
            raise PlanError("A concrete function has its inputs already: leave them out.")
        return subject, str(subject.name)
    if isinstance(subject, PolymorphicFunction):
        name = str(getattr(subject, "__name__", "function"))
        return _trace(subject, inputs, name), say("tf.function {name}", name=name)
    if _is_model(subject):
        return _of_model(subject, inputs)
    if callable(subject) and hasattr(subject, "__code__"):
        raise PlanError(
            f"{subject.__name__} is a plain Python function and has no graph: wrap it in tf.function first."
        )
    raise PlanError(f"An object of type {type(subject).__name__} cannot be planned. {_TAKES}")


def _trace(function: Any, inputs: tuple[Any, ...], name: str, *, fitted: Any = None) -> Any:
    """Return the concrete function for these inputs, or for the batches of a model `fitted` to them."""
    import tensorflow as tf

    try:
        if fitted is None:
            specs = tuple(map(_spec, inputs))
        else:
            specs = (tf.data.IteratorSpec(_without_lists(_batch(fitted, inputs))),)
        return function.get_concrete_function(*specs)
    except Exception as error:  # the user's own code ran, so this may be anything
        given = f"{len(inputs)} inputs" if len(inputs) != 1 else "1 input"
        raise PlanError(
            f"{name} could not be traced with {given}: {_error_line(error)} "
            "Give the inputs it takes, or a tf.TensorSpec for each."
        ) from error


def _batch(model: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what one step of `fit` takes: arrays are cut like in Keras, a tf.TensorSpec is a batch already.

    Keras knows the number of rows of a batch if all batches are full, and keras-hub never does: it has a
    pipeline of its own, which may convert its inputs.
    """
    import keras
    import tensorflow as tf

    pipeline = getattr(model, "preprocess_samples", None)

    def one(leaf: Any) -> Any:
        spec = _spec(leaf)
        if spec is leaf or not isinstance(spec, tf.TensorSpec) or not spec.shape.rank:
            return spec
        rows = None if pipeline or spec.shape[0] % BATCH else BATCH
        kind = tf.as_dtype(keras.config.floatx()) if spec.dtype.is_floating and not pipeline else spec.dtype
        return tf.TensorSpec([rows, *spec.shape[1:]], kind)

    specs = tuple(tf.nest.map_structure(one, value) for value in inputs)
    if pipeline is None:
        return specs
    outputs = tf.function(pipeline).get_concrete_function(*specs).structured_outputs
    return tuple(_spec(value) for value in outputs)


def _rows(inputs: tuple[Any, ...]) -> int | None:
    """Return the rows of a full batch; None if a tf.TensorSpec leaves them open, or if there is no array."""
    import tensorflow as tf

    leaves = [one for one in tf.nest.flatten(list(inputs)) if hasattr(one, "shape")]
    if len(inputs) < 2 or not leaves or any(isinstance(one, tf.TypeSpec) for one in leaves):
        return None
    return min(BATCH, *(int(one.shape[0]) for one in leaves if len(one.shape)))


def _size(serialised: Any, rows: int) -> None:
    """Set the shapes of all tensors for so many rows, if the batch is open.

    TensorFlow infers them, starting at the iterator; the operations stay the same.
    """
    library = {one.signature.name: one for one in serialised.library.function}
    shapes = {node.name: node.attr["_output_shapes"].list.shape for node in serialised.node}
    for node in serialised.node:
        if node.op in ITERATORS:
            for shape in shapes[node.name]:
                if shape.dim and shape.dim[0].size < 0:
                    shape.dim[0].size = rows
        called = node.attr["f"].func.name if node.op in CALLS else ""
        if called in library:
            taken = (one.partition(":")[::2] for one in node.input if not one.startswith("^"))
            _size_function(library, called, [shapes[name][int(place or 0)] for name, place in taken])


def _size_function(library: dict[str, Any], name: str, shapes: list[Any]) -> None:
    from tensorflow.core.framework import attr_value_pb2
    from tensorflow.python.framework import function_def_to_graph

    function = library[name]
    given = attr_value_pb2.AttrValue(list={"shape": shapes})
    function.attr["_input_shapes"].CopyFrom(given)
    for place, shape in enumerate(shapes):
        if "_output_shapes" in function.arg_attr[place].attr:  # TensorFlow would use this shape instead
            function.arg_attr[place].attr["_output_shapes"].list.shape[0].CopyFrom(shape)
    graph = function_def_to_graph.function_def_to_graph(function, shapes)
    for node in function.node_def:
        operation = graph.get_operation_by_name(node.name)
        found = [tensor.shape.as_proto() for tensor in operation.outputs]
        node.attr["_output_shapes"].CopyFrom(attr_value_pb2.AttrValue(list={"shape": found}))
        first = 1 if node.op in BRANCHES else 0
        if node.op in CALLS | BRANCHES:
            for _, called in graphdef.called(node, library):
                _size_function(library, called, [one.shape.as_proto() for one in operation.inputs[first:]])


def _spec(value: Any) -> Any:
    """Return the shape and type of an input; lists and dictionaries of inputs are kept."""
    import tensorflow as tf

    def one(leaf: Any) -> Any:
        if isinstance(leaf, tf.TypeSpec):
            return leaf
        if isinstance(leaf, tf.RaggedTensor | tf.SparseTensor):
            return tf.type_spec_from_value(leaf)
        if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
            return tf.TensorSpec(leaf.shape, tf.as_dtype(getattr(leaf.dtype, "name", leaf.dtype)))
        return leaf

    return tf.nest.map_structure(one, value)


def _is_model(subject: Any) -> bool:
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(subject, keras.Model)


def _of_model(model: Any, inputs: tuple[Any, ...]) -> tuple[Any, str]:
    import keras

    name = say("Keras model {name}", name=model.name)
    if keras.backend.backend() != "tensorflow":
        raise PlanError(
            f"{name} runs on {keras.backend.backend()} here: only TensorFlow's graphs are planned."
        )
    # For a model without a `build` method of its own, Keras's `build` only sets a flag.
    if not model.built or not (model.weights or all(layer.built for layer in model.layers)):
        raise PlanError(f"{name} is not built, so its weights have no shapes: call model.build(shape) first.")
    if len(inputs) > 3:
        raise PlanError(f"{name} was given {len(inputs)} inputs: give x, or x and y, or x, y and weights.")
    if len(inputs) > 1:
        return _training_step(model, inputs, name), say("training step of {name}", name=name)
    return _forward(model, inputs, name), say("forward pass of {name}", name=name)


def _forward(model: Any, inputs: tuple[Any, ...], name: str) -> Any:
    import tensorflow as tf

    if not inputs:
        # This keeps the names of a dictionary, while `inputs` is flat; a Sequential contains a functional
        # model.
        taken = getattr(getattr(model, "_functional", model), "_inputs_struct", None)
        if taken is None:
            raise PlanError(f"{name} does not say what it takes: give an input, as plan(model, x).")
        inputs = (taken,)

    def forward(value: Any) -> Any:
        return model(value, training=False)

    return _trace(tf.function(forward, autograph=False), inputs, name)


def _training_step(model: Any, inputs: tuple[Any, ...], name: str) -> Any:
    """Return Keras's traced `multi_step_on_iterator`, which trains on a batch from an iterator."""
    if not model.compiled:
        raise PlanError(f"{name} is not compiled, so it has no training step: call model.compile(...) first.")
    if model.run_eagerly:
        raise PlanError(f"{name} is compiled with run_eagerly=True: its training step is no graph.")
    before = model.train_function, model.jit_compile
    try:
        # XLA would take the whole step as one piece, on a CPU, in which the Metal plug-in has no part.
        model.jit_compile = False
        model.make_train_function(force=True)
        step = _inner(model.train_function, "multi_step_on_iterator")
    finally:
        model.train_function, model.jit_compile = before
    if step is None:
        raise PlanError(f"{name} has a make_train_function of its own, whose graph cannot be found.")
    return _trace(step, inputs, f"The training step of {name}", fitted=model)


def _inner(function: Any, name: str) -> Any:
    """Return the function of this name from another one's closure: Keras offers no other access."""
    code = getattr(function, "__code__", None)
    if code is None or name not in code.co_freevars:
        return None
    return function.__closure__[code.co_freevars.index(name)].cell_contents


def _without_lists(value: Any) -> Any:
    """Return the value with lists as tuples: batches have tuples where `fit` is given lists."""
    if isinstance(value, list | tuple):
        return tuple(map(_without_lists, value))
    if isinstance(value, dict):
        return {key: _without_lists(one) for key, one in value.items()}
    return value


def _error_line(error: Exception) -> str:
    """Return the line that says what went wrong, without what Keras and AutoGraph write before it."""
    lines = [line.strip() for line in _COLOURS.sub("", str(error)).splitlines() if line.strip()]
    if lines and lines[0] == "in user code:":
        last = next((at for at in reversed(range(len(lines))) if lines[at].startswith("File ")), 0)
        lines = [line for line in lines[last:] if _NAMED.match(line)] or lines[-1:]
    sentences = [line for line in lines if not _CALLING.match(line)] or lines or [type(error).__name__]
    return sentences[0] if sentences[0].endswith((".", "!", "?")) else f"{sentences[0]}."
