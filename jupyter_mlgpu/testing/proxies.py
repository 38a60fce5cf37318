"""Objects that log each access, to test that this package never runs code of the user's.

A lazy data set, a proxy of an object that exists only inside a request, or a weak reference to a deleted
object runs code to answer for its class, its attributes and its comparisons. So does its type if that has a
metaclass. Each object here logs the name of what ran, and the package that called it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple
from weakref import proxy

#: Names of the methods that an operator, a built-in function or an array library calls.
_WORDS = (
    "repr str format bytes bool hash len length_hint iter next reversed contains getitem setitem delitem "
    "call int float index complex eq ne lt le gt ge add radd sub mul neg abs round and or enter exit await "
    "aiter anext dir sizeof reduce reduce_ex copy deepcopy getattr setattr delattr fspath array get set"
)
SPECIAL = tuple(f"__{word}__" for word in _WORDS.split())
#: Names of attributes that are properties, for code that bypasses `__getattribute__`.
PROPERTIES = (
    "__class__",
    "__dict__",
    "__wrapped__",
    "__array_interface__",
    "shape",
    "nbytes",
    "dtype",
    "_handle",
)
#: Names of methods of a metaclass that answer questions about a type or its objects.
OF_TYPES = ("__instancecheck__", "__subclasscheck__", "__getattribute__", "__hash__", "__eq__", "__repr__")


class Touch(NamedTuple):
    """The name of what ran of an object, and the package that called it (`__main__`: a cell)."""

    name: str
    package: str


class TouchLog:
    """All touches of the objects made with it; each of them raises `error`, if given."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.touches: list[Touch] = []
        self._error = error

    def by(self, package: str = "jupyter_mlgpu") -> list[str]:
        """Return the names of what a package ran."""
        return [touch.name for touch in self.touches if touch.package == package]

    def note(self, name: str) -> None:
        """Log a touch."""
        self.touches.append(Touch(name, _caller(sys._getframe(1))))
        if self._error is not None:
            raise self._error


def touchable(log: TouchLog, base: type = object, *, quiet_type: bool = False) -> type:
    """Return a class, derived from `base`, whose objects log each touch.

    Its type logs touches as well, except for a `quiet_type`: that is for exceptions that IPython shows.
    """
    kind = type(base) if quiet_type else _logging_type(log, type(base))
    methods: dict[str, Any] = {name: _method(log, name) for name in SPECIAL}
    methods |= {name: property(_method(log, name)) for name in PROPERTIES}
    methods["__getattribute__"] = _attribute(log)
    touchable_class: type = kind("Touchable", (base,), {**methods, "__module__": "lazy"})
    return touchable_class


def touchable_object(log: TouchLog) -> object:
    """Return an object that logs each touch."""
    return object.__new__(touchable(log))


def touchable_error(log: TouchLog) -> BaseException:
    """Return an exception that logs each touch."""
    kind = touchable(log, Exception, quiet_type=True)
    error: BaseException = BaseException.__new__(kind, "told")
    return error


def dead_reference() -> object:
    """Return a weak reference to a deleted object, which raises ReferenceError when used."""

    class Gone:
        pass

    return proxy(Gone())


def _logging_type(log: TouchLog, base: type) -> Any:
    methods = {name: _method(log, f"type.{name}") for name in OF_TYPES if name != "__getattribute__"}
    return type("TouchableType", (base,), {**methods, "__getattribute__": _attribute_of_type(log)})


def _method(log: TouchLog, name: str) -> Callable[..., Any]:
    def touched(self: object, *arguments: object) -> Any:
        log.note(name)
        return _ANSWERS.get(name.removeprefix("type."), NotImplemented)

    return touched


def _attribute(log: TouchLog) -> Callable[[object, str], object]:
    def touched(self: object, name: str) -> object:
        log.note(name)
        if name in _ANSWERS:
            return _ANSWERS[name]
        raise AttributeError(name)

    return touched


def _attribute_of_type(log: TouchLog) -> Callable[[type, str], Any]:
    def touched(self: type, name: str) -> Any:
        log.note(f"type.{name}")
        return type.__getattribute__(self, name)

    return touched


#: Results that hide no caller behind an exception.
_ANSWERS: dict[str, Any] = {
    **dict.fromkeys(("__repr__", "__str__", "__format__"), "touched"),
    **dict.fromkeys(("__bool__", "__eq__", "__instancecheck__", "__subclasscheck__", "__contains__"), False),
    **dict.fromkeys(("__hash__", "__len__", "__int__", "__index__", "nbytes", "__sizeof__"), 1),
    "__class__": int,
    "__dict__": {},
    "shape": (1,),
}


def _caller(frame: FrameType | None) -> str:
    """Return the package of the innermost frame outside this module and Python's library."""
    while frame is not None:
        name = frame.f_globals.get("__name__")
        root = name.partition(".")[0] if type(name) is str else ""
        if frame.f_code.co_filename.startswith("<cell"):
            return "__main__"
        if name != __name__ and root not in sys.stdlib_module_names:
            return root
        frame = frame.f_back
    return ""
