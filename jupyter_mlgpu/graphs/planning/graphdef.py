"""Convert TensorFlow's serialized graphs, given as protocol buffers, to plain ones, without any import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, GivenTensor, Node, Operand
from jupyter_mlgpu.record.sentence import say

NO_SHAPE = say("the shape is not known until it runs")


@dataclass(frozen=True)
class Types:
    """Facts that only the framework knows: an operation's definition, a type's name, the bytes of a value."""

    definition: Callable[[str], Any]
    named: Callable[[int], str]
    size: Callable[[int], int | None]


def read(graph_def: Any, name: str, types: Types) -> FunctionGraph:
    """Return the graph with those functions of its library that it can reach, each once."""
    library = {function.signature.name: function for function in graph_def.library.function}
    bodies = [_main(graph_def, name, types, library)]
    waiting, seen = list(graph_def.node), set()
    while waiting:
        for _, inner in called(waiting.pop(), library):
            if inner not in seen:
                seen.add(inner)
                bodies.append(_function(library[inner], types, library))
                waiting += library[inner].node_def
    return FunctionGraph(tuple(bodies))


def called(node: Any, library: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the functions an operation calls, each with the attribute that names it.

    The attribute is "" if the operation itself is a function.
    """
    if node.op in library:
        yield "", node.op
    for name, value in sorted(node.attr.items()):
        for function in (value.func, *value.list.func):
            if function.name in library:
                yield name, function.name


def _main(graph_def: Any, name: str, types: Types, library: Mapping[str, Any]) -> Body:
    return Body(name, tuple(_node(one, types, library, _plain_name) for one in graph_def.node))


def _function(function: Any, types: Types, library: Mapping[str, Any]) -> Body:
    starts = {one.name: _starts(one, _definition(one, types, library)) for one in function.node_def}
    shapes = list(function.attr["_input_shapes"].list.shape) if "_input_shapes" in function.attr else []
    arguments = {
        argument.name: _result(argument.name, argument.type, shapes[place : place + 1], types)
        for place, argument in enumerate(function.signature.input_arg)
    }

    def operand(text: str) -> tuple[str, int]:
        name, argument, place = [*text.split(":"), "", ""][:3]
        return (name, starts[name][argument] + int(place)) if name in starts else (name, 0)

    nodes = tuple(_node(one, types, library, operand) for one in function.node_def)
    given = tuple(
        Operand(*operand(function.ret[one.name]), one.name) for one in function.signature.output_arg
    )
    return Body(function.signature.name, nodes, arguments, given)


def _plain_name(text: str) -> tuple[str, int]:
    name, _, place = text.partition(":")
    return name, int(place or 0)


def _definition(node: Any, types: Types, library: Mapping[str, Any]) -> Any:
    return library[node.op].signature if node.op in library else types.definition(node.op)


def _node(
    node: Any, types: Types, library: Mapping[str, Any], named: Callable[[str], tuple[str, int]]
) -> Node:
    definition = _definition(node, types, library)
    takes = [named(one) for one in node.input if not one.startswith("^")]
    arguments = [name for name, _ in _expanded(node, definition.input_arg)] if definition else []
    arguments += [""] * (len(takes) - len(arguments))
    return Node(
        node.name,
        node.op,
        {name: values for name, value in sorted(node.attr.items()) if (values := _words(name, value, types))},
        tuple(Operand(*tensor, argument) for tensor, argument in zip(takes, arguments, strict=False)),
        tuple(one[1:] for one in node.input if one.startswith("^")),
        tuple(_results(node, definition, types)) if definition else (),
        node.device,
        tuple(_colocated_with(node)),
        tuple(called(node, library)),
    )


def _colocated_with(node: Any) -> Iterator[str]:
    if "_class" in node.attr:  # reading a missing attribute would create it
        for group in node.attr["_class"].list.s:
            if group.startswith(b"loc:@"):
                yield group[5:].decode()


def _words(name: str, value: Any, types: Types) -> tuple[str, ...]:
    """Return what a kernel may require of an attribute: types and the few words that tables have."""
    if value.type:
        return (types.named(value.type),)
    if value.list.type:
        return tuple(types.named(one) for one in value.list.type)
    if name == "_kernel" or name in ("data_format", "bad_indices_policy"):
        return (value.s.decode(),)
    return ()


def _results(node: Any, definition: Any, types: Types) -> Iterator[GivenTensor]:
    shapes = list(node.attr["_output_shapes"].list.shape) if "_output_shapes" in node.attr else []
    for place, (argument, kind) in enumerate(_expanded(node, definition.output_arg)):
        yield _result(argument, kind, shapes[place : place + 1], types)


def _result(argument: str, kind: int, shape: list[Any], types: Types) -> GivenTensor:
    size = types.size(kind)
    rank = len(shape[0].dim) if shape and not shape[0].unknown_rank else None
    if size is None:
        return GivenTensor(
            argument,
            types.named(kind),
            None,
            say("the size of {name} is not known until it runs", name=types.named(kind)),
            rank,
        )
    if rank is None or any(dim.size < 0 for dim in shape[0].dim):
        return GivenTensor(argument, types.named(kind), None, NO_SHAPE, rank)
    for dim in shape[0].dim:
        size *= dim.size
    return GivenTensor(argument, types.named(kind), size, rank=rank)


def _expanded(node: Any, arguments: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Yield each tensor of an operation's arguments with its type: one argument may stand for several."""
    for argument in arguments:
        if argument.type_list_attr:
            kinds = list(node.attr[argument.type_list_attr].list.type)
        else:
            kind = argument.type or node.attr[argument.type_attr].type
            kinds = [kind] * (node.attr[argument.number_attr].i if argument.number_attr else 1)
        for kind in kinds:
            yield argument.name, kind


def _starts(node: Any, definition: Any) -> dict[str, int]:
    """Return the place of the first tensor of each result."""
    found: dict[str, int] = {}
    if definition:
        for place, (name, _) in enumerate(_expanded(node, definition.output_arg)):
            found.setdefault(name, place)
    return found
