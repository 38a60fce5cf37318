"""Finds what the package's sources say: every text of several words, f-strings as templates with `{}`.

It does not follow what a text becomes a part of: each that stands in a module's code is found, be it a
sentence or a piece of one. Left out are docstrings, annotations and what the caller names.
tests/unit/test_kernel_sentences.py compares what is found with the catalogue of jupyter_mlgpu/sentences.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Iterator
from functools import cache

#: Of a text with choices in it (`{'s' if many else ''}`), so many forms at most.
_FORMS = 16
_WORD = re.compile(r"[A-Za-z]{2,}")
#: What annotations are called in the syntax tree.
_TYPES = {"annotation", "returns"}


def texts(
    source: str, *, words: int = 2, but: Collection[str] = (), raised: Collection[str] = ()
) -> dict[str, int]:
    """The templates of at least so many words in a module's source, blanks at their ends cut, and the lines.

    `but` names functions, classes, constants, calls and arguments whose texts are left out, `raised` such
    errors.
    """
    found: dict[str, int] = {}
    for node in _outermost(_tree(source), but, raised):
        for form in itertools.islice(_forms(node), _FORMS):
            text = plain(form)
            if len(_WORD.findall(text)) >= words and text.count(" ") >= words - 1:
                found.setdefault(text, node.lineno)
    return found


def plain(template: str) -> str:
    """A template with its fields as `{}`, several that touch as one, and no blanks at its ends."""
    return re.sub(r"(\{\})+", "{}", re.sub(r"\{[^{}]*\}", "{}", template)).strip()


@cache  # the same sources are asked for with other things left out
def _tree(source: str) -> ast.Module:
    return ast.parse(source)


def _outermost(tree: ast.AST, but: Collection[str], raised: Collection[str]) -> Iterator[ast.expr]:
    """The texts of a module, and those that are put into them."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_answer = isinstance(node, ast.Raise) and _name(node.exc) in raised
        if is_docstring or is_answer or _name(node) in but:
            continue
        if isinstance(node, ast.expr) and _is_text(node):
            yield node
            waiting += [part for part in _parts(node) if not _is_text(part)]
            continue
        for name, value in ast.iter_fields(node):
            if name not in _TYPES:
                waiting += [one for one in (value if isinstance(value, list) else [value]) if _is_node(one)]


def _is_node(value: object) -> bool:
    return isinstance(value, ast.AST)


def _name(node: ast.AST | None) -> str | None:
    """A function's, class's or argument's name, the first of a constant's, or that of what is called."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.keyword(arg=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name), *_])]) | ast.Call(func=ast.Name(id=name)):
            return name
    return None


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or _literal(node) is not None


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _parts(node: ast.expr) -> list[ast.expr]:
    """The literal pieces of a text, and the expressions between them."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_text(node):
        return [*_parts(node.left), *_parts(node.right)]
    if isinstance(node, ast.JoinedStr):
        return [one.value if isinstance(one, ast.FormattedValue) else one for one in node.values]
    return [node]


def _forms(node: ast.expr) -> Iterator[str]:
    """Every way a text can read where it chooses between literal pieces."""
    return map("".join, itertools.product(*map(_choices, _parts(node))))


def _choices(part: ast.expr) -> list[str]:
    """What a part can read: itself, either side of `'a' if … else 'b'`, or a field."""
    sides = [part.body, part.orelse] if isinstance(part, ast.IfExp) else [part]
    literals = [one for one in map(_literal, sides) if one is not None]
    return literals if len(literals) == len(sides) else ["{}"]
