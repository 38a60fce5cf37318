"""The program inside the sandbox, which runs a student's cells and answers the grader's questions.

    python -m jupyter_mlgpu.teach.grading.sandbox_worker LIMITS      (LIMITS: see `limits.py`, as JSON)

Each question is a line of JSON on standard input, and each answer a line on standard output with the
question's number. Nothing here is trusted: the student's code runs in the same process and can change all of
it. The grader has to check the answers.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type

from jupyter_mlgpu.record.errors import CrossingError
from jupyter_mlgpu.teach.grading import codec, limits

#: Most characters of printed text, and most outputs, that are kept of a cell.
MOST_TEXT = 100_000
MOST_OUTPUTS = 100


class _Outputs:
    """The outputs of the running cell, cut off if there are too many."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, Any]] = []
        self._left = MOST_TEXT

    def add(self, output: dict[str, Any]) -> None:
        if len(self.outputs) < MOST_OUTPUTS:
            self.outputs.append(output)

    def write(self, name: str, text: str) -> None:
        kept = text[: self._left]
        self._left -= len(kept)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(kept)
        elif kept:
            self.add({"output_type": "stream", "name": name, "text": [kept]})

    def take(self) -> list[dict[str, Any]]:
        """Return all outputs in notebook format, and clear them."""
        taken = [{**one, "text": "".join(one["text"])} if "text" in one else one for one in self.outputs]
        self.outputs, self._left = [], MOST_TEXT
        return taken


OUTPUTS = _Outputs()


class _Stream(io.TextIOBase):
    def __init__(self, name: str) -> None:
        self._name = name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        OUTPUTS.write(self._name, str(text))
        return len(text)


class _Hook(DisplayHook):
    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        OUTPUTS.add({"output_type": "execute_result", "data": _texts(format_dict)})


class _Publisher(DisplayPublisher):
    def publish(self, data: Any, *others: Any, **named: Any) -> None:
        OUTPUTS.add({"output_type": "display_data", "data": _texts(data)})


def _texts(bundle: Any) -> dict[str, str]:
    """Return the parts of a display that are texts, or bytes of a picture."""
    parts = {
        str(kind): base64.b64encode(one).decode() if isinstance(one, bytes) else one
        for kind, one in bundle.items()
    }
    return {kind: one for kind, one in parts.items() if isinstance(one, str)}


class _Shell(InteractiveShell):
    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = stb if isinstance(stb, list) else [str(stb)]
        OUTPUTS.add(
            {"output_type": "error", "ename": str(etype.__name__), "evalue": str(evalue), "traceback": lines}
        )

    def enable_gui(self, gui: Any = None) -> None:
        pass  # there is no screen

    def ask_exit(self) -> None:
        pass  # the cells below belong to the same student

    def init_history(self) -> None:
        self.config.HistoryManager.enabled = False
        super().init_history()  # type: ignore[no-untyped-call]


class SandboxWorker:
    """Answers questions until there are no more."""

    def __init__(self, questions: BinaryIO, answers: BinaryIO) -> None:
        self._questions, self._answers = questions, answers
        self._number: str | None = None
        self._shell: Any = _Shell.instance()  # IPython's shell has no types

    def serve(self) -> None:
        """Answer one question after the other."""
        answers: dict[str, Callable[..., dict[str, Any]]] = {
            "files": self._files,
            "run": self._run,
            "time": self._time,
            "names": self._names,
            "call": self._call,
        }
        while question := self._question():
            answer = answers[question.pop("do")](**question)
            self._answer(answer)

    def _question(self) -> dict[str, Any]:
        """Return the next question and keep its number for the answer; empty if there are no more."""
        line = self._questions.readline()
        question: dict[str, Any] = json.loads(line) if line else {}
        self._number = question.pop("number", None)
        return question

    def _answer(self, answer: dict[str, Any]) -> None:
        self._answers.write(codec.pack({**answer, "number": self._number}))
        self._answers.flush()

    def _files(self, files: dict[str, str]) -> dict[str, Any]:
        for name, data in files.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(data))
        return {}

    def _run(self, code: str) -> dict[str, Any]:
        result = self._shell.run_cell(code, store_history=True)
        return {"outputs": OUTPUTS.take(), "ended_well": bool(result.success)}

    def _time(self, code: str) -> dict[str, Any]:
        """Run code without the work that a notebook does around a cell; its time is measured outside."""
        try:
            exec(compile(self._shell.transform_cell(code), "<cell>", "exec"), self._shell.user_ns)
        except BaseException as error:
            return {"failed": _error_report(error)}
        finally:
            OUTPUTS.take()
        return {"failed": None}

    def _names(self, names: list[str]) -> dict[str, Any]:
        """Return the kind and value of each known name."""
        found: dict[str, Any] = {}
        for name in names:
            if name not in self._shell.user_ns:
                continue
            value = self._shell.user_ns[name]
            try:
                found[name] = ["value", codec.encode(value)]
            except CrossingError:
                found[name] = ["function"] if callable(value) else ["other", type(value).__name__]
        return {"names": found}

    def _call(self, name: str, arguments: list[Any], named: dict[str, Any]) -> dict[str, Any]:
        try:
            values = [codec.decode(one, self._of_the_grader) for one in arguments]
            others = {key: codec.decode(one, self._of_the_grader) for key, one in named.items()}
            value = self._shell.user_ns[name](*values, **others)
            return {"value": codec.encode(value), "outputs": OUTPUTS.take()}
        except BaseException as error:
            return {"raised": _error_report(error), "outputs": OUTPUTS.take()}

    def _of_the_grader(self, number: int) -> Callable[..., Any]:
        """Return a function that calls back a function of the grader."""

        def call_back(*arguments: Any, **named: Any) -> Any:
            self._answer(
                {
                    "call_back": number,
                    "arguments": [codec.encode(one) for one in arguments],
                    "named": {key: codec.encode(one) for key, one in named.items()},
                }
            )
            reply = self._question()
            if "failed" in reply:
                raise RuntimeError(reply["failed"])
            return codec.decode(reply["value"])

        return call_back


def _error_report(error: BaseException) -> dict[str, str]:
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if one.filename != __file__]
    where = "".join(traceback.format_list(own)[-20:])
    return {"kind": type(error).__name__, "said": str(error)[:2000], "where": where[-10_000:]}


def main() -> None:
    """Serve until standard input ends."""
    limits.Limits(**json.loads(sys.argv[1])).apply()
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    sys.stdout, sys.stderr = _Stream("stdout"), _Stream("stderr")
    sys.path.insert(0, os.getcwd())  # a lab's own modules are in its notebook's folder
    SandboxWorker(questions, answers).serve()


if __name__ == "__main__":
    main()
