"""Read what an object of the user's is without running its code.

`isinstance`, `hasattr`, `==` and the like ask the object, or its type: a lazy data set is then loaded, a
proxy outside its context raises, and a warning appears in the user's cell. Here types are compared by
identity, and attributes are read by the descriptors of Python's own types. All modules that see objects of
the user's go through this one (`tests/structure/test_user_objects_are_left_alone.py`).
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

#: In place of a value that is not there.
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
# A class statement gives its objects a namespace by a descriptor with these words. That of a type written in
# C may run anything: that of a proxy returns the namespace of what it stands for.
_PLAIN_WORDS = vars(_Plain)["__dict__"].__doc__
#: Types of values that are put into words without running code of the user's.
_PLAIN_VALUES = (str, int, float, bool, type(None))
#: Libraries whose types written in C keep their objects' attributes as a class statement does.
_PLAIN_LIBRARIES = frozenset(("builtins", "functools", "jaxlib"))


def is_a(value: object, *kinds: type[Kind]) -> TypeGuard[Kind]:
    """Return whether a value is of one of these types, or of a type derived from one."""
    return is_kind(type(value), *kinds)


def is_kind(kind: type, *bases: type) -> bool:
    """Return whether a type is one of these or is derived from one, by its bases alone."""
    return any(one is base for one in _MRO.__get__(kind) for base in bases)


def is_one_of(kind: type, kinds: tuple[type, ...]) -> bool:
    """Return whether a type is exactly one of these; `in` would compare types as their own types do."""
    return any(kind is one for one in kinds)


def is_module(value: object) -> TypeGuard[ModuleType]:
    """Return whether a value is a module, also a lazy one, which is not loaded by that."""
    # In C, and by the types' bases alone, for neither type has a type of the user's that could answer.
    return issubclass(type(value), ModuleType)


def module_namespace(module: ModuleType) -> dict[str, Any]:
    """Return a module's namespace; a module that is loaded lazily is not loaded."""
    found: dict[str, Any] = _NAMESPACE_OF_MODULE.__get__(module)
    return found


def type_module(kind: type) -> str:
    """Return the name of the module in which a type was made; empty where it says something else."""
    return _text(_MODULE_OF_TYPE.__get__(kind))


def type_name(kind: type) -> str:
    """Return a type's name."""
    return _text(_NAME_OF_TYPE.__get__(kind))


def type_attribute(kind: type, name: str) -> Any:
    """Return what a type or one of its bases has under a name, without binding it; else MISSING."""
    for one in _MRO.__get__(kind):
        found = _NAMESPACE_OF_TYPE.__get__(one).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def attributes(value: object) -> Mapping[str, Any]:
    """Return the attributes that an object itself has; empty where only its own code could tell them."""
    reads = type_attribute(type(value), "__dict__")
    if type(reads) is not GetSetDescriptorType:
        return {}
    root = type_module(reads.__objclass__).partition(".")[0]
    if reads.__doc__ != _PLAIN_WORDS and root not in _PLAIN_LIBRARIES:
        return {}
    found = reads.__get__(value)
    return found if type(found) is dict else {}


def defining_module(value: object) -> str | None:
    """Return the module of a function, method or class; None for any other value."""
    while type(value) is MethodType:
        value = value.__func__
    if type(value) is FunctionType or type(value) is BuiltinFunctionType:
        return _text(value.__module__) or None
    return type_module(value) or None if issubclass(type(value), type) else None  # type: ignore[arg-type]


def number_of_bytes(array: object, libraries: Container[str]) -> int | None:
    """Return the `nbytes` of an array whose type is made by one of these libraries; else None.

    A type of the user's may compute it, and load what it is the size of. An array that was given away has
    none.
    """
    if type_module(type(array)).partition(".")[0] not in libraries:
        return None
    try:
        return int(array.nbytes)  # type: ignore[attr-defined]
    except Exception:
        return None


def text_of(error: BaseException) -> str:
    """Return what an exception says; empty where its own code fails to tell.

    Only for one that came out of our own code, and is told of there: it may be one that a signal's handler of
    the user's has raised meanwhile.
    """
    try:
        return str(error)
    except Exception:
        return ""


def plain_message(record: LogRecord) -> str:
    """Return a logging record's message as a handler has formatted it, or without arguments that run code.

    To format it again would ask the arguments for their words once more than without us.
    """
    own = attributes(record)
    told, template, arguments = own.get("message"), own.get("msg"), own.get("args")
    if type(told) is str:
        return told
    if type(template) is not str:
        return type_name(type(template))
    values = arguments.values() if type(arguments) is dict else arguments if type(arguments) is tuple else ()
    if not values or not all(is_one_of(type(one), _PLAIN_VALUES) for one in values):
        return template
    return template % arguments


def plain_warning(message: Warning | str) -> str:
    """Return a warning's words; its type's name where its own code would have to tell them once more."""
    if type(message) is str:
        return message
    tells = type_attribute(type(message), "__str__")
    arguments = _ARGUMENTS.__get__(message)
    if type(tells) is WrapperDescriptorType and all(is_one_of(type(one), _PLAIN_VALUES) for one in arguments):
        return str(message)
    return type_name(type(message))


def frames_of(error: BaseException) -> Iterator[Any]:
    """Yield the frames that an exception has passed, the outermost one first."""
    at = _TRACEBACK.__get__(error)
    while at is not None:
        yield at.tb_frame
        at = at.tb_next


def _text(found: object) -> str:
    return found if type(found) is str else ""
