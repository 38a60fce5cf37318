"""Reads what a user's object is without running the user's code.

`isinstance`, `hasattr`, `==` and the like call methods of the object or its type: a lazy data set would be
loaded, a proxy outside its context would raise, and a warning would appear in the user's cell. Here types are
compared by identity, and attributes are read by the descriptors of Python's own types. All modules that
handle objects of the user use this one (`tests/structure/test_user_objects_are_left_alone.py`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from logging import LogRecord
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, TypeGuard, TypeVar

#: Stands for a value that does not exist.
MISSING: Final = object()


Kind = TypeVar("Kind")


class _Plain:
    pass


_MRO: Any = vars(type)["__mro__"]
_NAMESPACE_OF_TYPE: Any = vars(type)["__dict__"]
_NAMESPACE_OF_MODULE: Any = vars(ModuleType)["__dict__"]
_MODULE_OF_TYPE: Any = vars(type)["__module__"]
_NAME_OF_TYPE: Any = vars(type)["__name__"]
_ARGUMENTS: Any = vars(BaseException)["args"]
_TRACEBACK: Any = vars(BaseException)["__traceback__"]
# A class statement gives its objects a namespace by a descriptor with this docstring. The descriptor of a
# type written in C may run anything: a proxy's returns the namespace of the object behind it.
_PLAIN_WORDS = vars(_Plain)["__dict__"].__doc__
#: Types whose values can be formatted without running user code.
_PLAIN_VALUES = (str, int, float, bool, type(None))
#: Libraries whose types written in C store attributes as a class statement does.
_PLAIN_LIBRARIES = frozenset(("builtins", "functools", "jaxlib"))


def is_a(value: object, *kinds: type[Kind]) -> TypeGuard[Kind]:
    """Return True if a value is of one of these types, or of a type derived from one."""
    return is_kind(type(value), *kinds)


def is_kind(kind: type, *bases: type) -> bool:
    """Return True if a type is one of these or is derived from one, judged by its bases alone."""
    return any(kind_or_base is base for kind_or_base in _MRO.__get__(kind) for base in bases)


def is_one_of(kind: type, kinds: tuple[type, ...]) -> bool:
    """Return True if a type is exactly one of these; `in` would call the types' own comparison."""
    return any(kind is candidate for candidate in kinds)


def is_module(value: object) -> TypeGuard[ModuleType]:
    """Return True if a value is a module. A lazy module is not loaded by that."""
    # In C, by the bases alone: neither type has a metaclass of the user's whose code could run.
    return issubclass(type(value), ModuleType)


def module_namespace(module: ModuleType) -> dict[str, Any]:
    """Return a module's namespace without loading a lazy module."""
    namespace: dict[str, Any] = _NAMESPACE_OF_MODULE.__get__(module)
    return namespace


def type_module(kind: type) -> str:
    """Return the name of the module that defines a type, empty if that is no text."""
    return _text(_MODULE_OF_TYPE.__get__(kind))


def type_name(kind: type) -> str:
    """Return a type's name."""
    return _text(_NAME_OF_TYPE.__get__(kind))


def type_attribute(kind: type, name: str) -> Any:
    """Return what a type or one of its bases has under a name, without binding it, or MISSING."""
    for base in _MRO.__get__(kind):
        found = _NAMESPACE_OF_TYPE.__get__(base).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def bases(kind: type) -> tuple[type, ...]:
    """Return a type and those from which it inherits, in the order in which attributes are looked up."""
    found: tuple[type, ...] = _MRO.__get__(kind)
    return found


def own_attribute(kind: type, name: str) -> Any:
    """Return what a type itself, and none of its bases, has under a name, or MISSING."""
    return _NAMESPACE_OF_TYPE.__get__(kind).get(name, MISSING)


def attributes(value: object) -> Mapping[str, Any]:
    """Return an object's own attributes, empty if reading them would run its code."""
    descriptor = type_attribute(type(value), "__dict__")
    if type(descriptor) is not GetSetDescriptorType:
        return {}
    root = type_module(descriptor.__objclass__).partition(".")[0]
    if descriptor.__doc__ != _PLAIN_WORDS and root not in _PLAIN_LIBRARIES:
        return {}
    namespace = descriptor.__get__(value)
    return namespace if type(namespace) is dict else {}


def defining_module(value: object) -> str | None:
    """Return the module of a function, method or class; None for any other value."""
    while type(value) is MethodType:
        value = value.__func__
    if type(value) is FunctionType or type(value) is BuiltinFunctionType or _is_of_nanobind(value):
        return _text(value.__module__) or None
    return type_module(value) or None if issubclass(type(value), type) else None  # type: ignore[arg-type]


def _is_of_nanobind(value: object) -> bool:
    """Return True for a function that nanobind has made of C++, such as those of MLX."""
    return type_module(type(value)) == "nanobind" and type_name(type(value)) in ("nb_func", "nb_method")


def number_of_bytes(array: object, libraries: Container[str]) -> int | None:
    """Return the `nbytes` of an array whose type one of these libraries defines, else None.

    A user's type may compute it, or load the data for it. An array that was donated has none.
    """
    if type_module(type(array)).partition(".")[0] not in libraries:
        return None
    try:
        return int(array.nbytes)  # type: ignore[attr-defined]
    except Exception:
        return None


def text_of(error: BaseException) -> str:
    """Return the text of an exception, empty if its own code fails.

    Use this only for an exception that this package's code caught and reports: a signal handler of the user's
    may have raised it.
    """
    try:
        return str(error)
    except Exception:
        return ""


def plain_message(record: LogRecord) -> str:
    """Return a logging record's message as a handler formatted it.

    If none has, returns its template with plain arguments filled in, or else the template alone: to format
    other arguments would run their code once more than without this package.
    """
    own = attributes(record)
    formatted, template, arguments = own.get("message"), own.get("msg"), own.get("args")
    if type(formatted) is str:
        return formatted
    if type(template) is not str:
        return type_name(type(template))
    values = arguments.values() if type(arguments) is dict else arguments if type(arguments) is tuple else ()
    if not values or not all(is_one_of(type(argument), _PLAIN_VALUES) for argument in values):
        return template
    return template % arguments


def plain_warning(message: Warning | str) -> str:
    """Return a warning's text, or its type's name if its own code would have to run once more for it."""
    if type(message) is str:
        return message
    return _plain_text(message) or type_name(type(message))


def plain_exception(error: BaseException) -> str:
    """Return an exception as in the last line of a traceback, without its text if its own code has to run."""
    text = _plain_text(error)
    return f"{type_name(type(error))}: {text}" if text else type_name(type(error))


def _plain_text(error: BaseException | str) -> str:
    to_text = type_attribute(type(error), "__str__")
    arguments = _ARGUMENTS.__get__(error)
    plain = all(is_one_of(type(argument), _PLAIN_VALUES) for argument in arguments)
    return str(error) if type(to_text) is WrapperDescriptorType and plain else ""


def frames_of(error: BaseException) -> Iterator[Any]:
    """Yield the frames that an exception has passed, the outermost one first."""
    at = _TRACEBACK.__get__(error)
    while at is not None:
        yield at.tb_frame
        at = at.tb_next


def _text(value: object) -> str:
    return value if type(value) is str else ""
