"""A fake student for tests of the judge: the same questions and answers, in this process without sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from jupyter_mlgpu.record.errors import CrossingError
from jupyter_mlgpu.teach.grading import codec


class LocalStudent:
    """Runs cells in a namespace of its own. Its results are passed through JSON, as from a sandbox.

    `seconds` and `bytes` are the results for measured cells, by the cell's code.
    """

    def __init__(
        self,
        *cells: str,
        seconds: Mapping[str, float] | None = None,
        bytes: Mapping[str, float] | None = None,
    ) -> None:
        self.namespace: dict[str, Any] = {}
        self._seconds, self._bytes = seconds or {}, bytes or {}
        self._errors: dict[str, str | None] = {}
        for code in cells:
            self.run(code)

    def run(self, code: str) -> None:
        """Run a cell. An exception ends this cell only."""
        self._errors[code] = self._failed(code)

    def time(self, code: str) -> tuple[float, str | None]:
        """Return the given seconds, and the error of the cell, if any."""
        return self._seconds.get(code, 1.0), self._once(code)

    def paused(self) -> AbstractContextManager[None]:
        """Do nothing: its cells leave nothing running."""
        return nullcontext()

    def peak(self, code: str) -> tuple[float, str | None]:
        """Return the given bytes, and the error of the cell, if any."""
        return self._bytes.get(code, 1e9), self._once(code)

    def _once(self, code: str) -> str | None:
        if code not in self._errors:
            self.run(code)
        return self._errors[code]

    def _failed(self, code: str) -> str | None:
        try:
            exec(code, self.namespace)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def names(self, wanted: Iterable[str]) -> dict[str, tuple[str, Any]]:
        """Return the kind and value of each name."""
        found: dict[str, tuple[str, Any]] = {}
        for name in wanted:
            if name in self.namespace:
                value = self.namespace[name]
                try:
                    found[name] = ("value", codec.decode(_through_json(codec.encode(value))))
                except CrossingError:
                    found[name] = ("function", None) if callable(value) else ("other", type(value).__name__)
        return found

    def call(self, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, str]:
        """Return the plain result of a function, called with copies."""
        functions: list[Callable[..., Any]] = []

        def naming(function: Callable[..., Any]) -> int:
            functions.append(lambda *values: codec.decode(_through_json(codec.encode(function(*values)))))
            return len(functions) - 1

        values = [
            codec.decode(_through_json(codec.encode(argument, naming)), functions.__getitem__)
            for argument in arguments
        ]
        others = {
            key: codec.decode(_through_json(codec.encode(argument, naming)), functions.__getitem__)
            for key, argument in named.items()
        }
        return codec.decode(_through_json(codec.encode(self.namespace[name](*values, **others)))), ""


def _through_json(data: Any) -> Any:
    return codec.unpack(codec.pack({"value": data}))["value"]
