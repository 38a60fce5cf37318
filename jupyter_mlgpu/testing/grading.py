"""A student for tests of what judges: the same questions and answers, in this process, without sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from jupyter_mlgpu.record.errors import CrossingError
from jupyter_mlgpu.teach.grading import codec


class LocalStudent:
    """Runs cells in a namespace of its own; what it tells has crossed as JSON, as from a sandbox.

    `seconds` and `bytes` are what it says of a cell that is measured, by the cell's code.
    """

    def __init__(
        self,
        *cells: str,
        seconds: Mapping[str, float] | None = None,
        bytes: Mapping[str, float] | None = None,
    ) -> None:
        self.namespace: dict[str, Any] = {}
        self._seconds, self._bytes = seconds or {}, bytes or {}
        self._came: dict[str, str | None] = {}
        for code in cells:
            self.run(code)

    def run(self, code: str) -> None:
        """Run a cell; what it raises ends it, and no other."""
        self._came[code] = self._failed(code)

    def time(self, code: str) -> tuple[float, str | None]:
        """What it was told to say, and why the cell fails."""
        return self._seconds.get(code, 1.0), self._once(code)

    def paused(self) -> AbstractContextManager[None]:
        """Nothing of its cells goes on after them."""
        return nullcontext()

    def peak(self, code: str) -> tuple[float, str | None]:
        """What it was told to say, and why the cell fails."""
        return self._bytes.get(code, 1e9), self._once(code)

    def _once(self, code: str) -> str | None:
        if code not in self._came:
            self.run(code)
        return self._came[code]

    def _failed(self, code: str) -> str | None:
        try:
            exec(code, self.namespace)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def names(self, wanted: Iterable[str]) -> dict[str, tuple[str, Any]]:
        """What each name stands for."""
        found: dict[str, tuple[str, Any]] = {}
        for name in wanted:
            if name in self.namespace:
                value = self.namespace[name]
                try:
                    found[name] = ("value", codec.decode(_crossed(codec.encode(value))))
                except CrossingError:
                    found[name] = ("function", None) if callable(value) else ("other", type(value).__name__)
        return found

    def call(self, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, str]:
        """The plain result of a function, called with copies."""
        given: list[Callable[..., Any]] = []

        def naming(function: Callable[..., Any]) -> int:
            given.append(lambda *values: codec.decode(_crossed(codec.encode(function(*values)))))
            return len(given) - 1

        values = [codec.decode(_crossed(codec.encode(one, naming)), given.__getitem__) for one in arguments]
        others = {
            key: codec.decode(_crossed(codec.encode(one, naming)), given.__getitem__)
            for key, one in named.items()
        }
        return codec.decode(_crossed(codec.encode(self.namespace[name](*values, **others)))), ""


def _crossed(data: Any) -> Any:
    return codec.unpack(codec.pack({"value": data}))["value"]
