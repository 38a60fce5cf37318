"""Objects that note who touches them: for tests that nothing here runs code of the user's.

A lazy data set, a proxy of what exists only inside a request, or a weak reference to what is gone answers for
its class, its attributes and its comparisons by running code. So must its type, where that has a type of its
own. Each object here notes the name of what ran, and the package that asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple
from weakref import proxy

#: Names of the methods that an operator, a built-in function or a library of arrays calls.
_WORDS = (
    "repr str format bytes bool hash len length_hint iter next reversed contains getitem setitem delitem "
    "call int float index complex eq ne lt le gt ge add radd sub mul neg abs round and or enter exit await "
    "aiter anext dir sizeof reduce reduce_ex copy deepcopy getattr setattr delattr fspath array get set"
)
SPECIAL = tuple(f"__{word}__" for word in _WORDS.split())
#: Names of attributes that are properties, for whoever reads them past `__getattribute__`.
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
#: Names of the methods of a type that ask about it or its objects.
OF_TYPES = ("__instancecheck__", "__subclasscheck__", "__getattribute__", "__hash__", "__eq__", "__repr__")


class Touch(NamedTuple):
    """What ran of an object, and the package whose code asked for it (`__main__`: a cell's)."""

    name: str
    package: str


class TouchLog:
    """All touches of the objects that were made with it; `error`, if given, is what each of them raises."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.touches: list[Touch] = []
        self._error = error

    def by(self, package: str = "jupyter_mlgpu") -> list[str]:
        """The names of what a package ran."""
        return [one.name for one in self.touches if one.package == package]

    def note(self, name: str) -> None:
        """Note a touch."""
        self.touches.append(Touch(name, _asking(sys._getframe(1))))
        if self._error is not None:
            raise self._error


def touchable(log: TouchLog, base: type = object, *, quiet_type: bool = False) -> type:
    """Return a class, derived from `base`, whose objects note each touch.

    Its type notes touches as well, but for a `quiet_type`: for exceptions that IPython is to show.
    """
    kind = type(base) if quiet_type else _noting_type(log, type(base))
    methods: dict[str, Any] = {name: _method(log, name) for name in SPECIAL}
    methods |= {name: property(_method(log, name)) for name in PROPERTIES}
    methods["__getattribute__"] = _attribute(log)
    made: type = kind("Touchable", (base,), {**methods, "__module__": "lazy"})
    return made


def touchable_object(log: TouchLog) -> object:
    """Return an object that notes each touch."""
    return object.__new__(touchable(log))


def touchable_error(log: TouchLog) -> BaseException:
    """Return an exception that notes each touch."""
    kind = touchable(log, Exception, quiet_type=True)
    made: BaseException = BaseException.__new__(kind, "told")
    return made


def dead_reference() -> object:
    """Return a weak reference to an object that is gone, which raises ReferenceError when it is asked."""

    class Gone:
        pass

    return proxy(Gone())


def _noting_type(log: TouchLog, base: type) -> Any:
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


#: What may be returned without an exception that hides who asked.
_ANSWERS: dict[str, Any] = {
    **dict.fromkeys(("__repr__", "__str__", "__format__"), "touched"),
    **dict.fromkeys(("__bool__", "__eq__", "__instancecheck__", "__subclasscheck__", "__contains__"), False),
    **dict.fromkeys(("__hash__", "__len__", "__int__", "__index__", "nbytes", "__sizeof__"), 1),
    "__class__": int,
    "__dict__": {},
    "shape": (1,),
}


def _asking(frame: FrameType | None) -> str:
    """The package of the innermost frame that belongs neither to this module nor to Python's library."""
    while frame is not None:
        name = frame.f_globals.get("__name__")
        root = name.partition(".")[0] if type(name) is str else ""
        if frame.f_code.co_filename.startswith("<cell"):
            return "__main__"
        if name != __name__ and root not in sys.stdlib_module_names:
            return root
        frame = frame.f_back
    return ""
