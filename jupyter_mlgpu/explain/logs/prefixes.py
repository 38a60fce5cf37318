"""Read the prefixes of messages: the forms in which libraries print time, level and origin.

`read` reads a prefix at the start of a line. `split_inside` finds where another message begins in the middle
of a line (interleaved writers, or a progress bar without a line end).
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Prefix(NamedTuple):
    """The content of a prefix, and the position at which the message's body begins."""

    level: str | None
    origin: str | None
    end: int
    #: Printed by native code or a logging library: lines without a prefix may follow and belong to it.
    native: bool


_LEVELS = {
    "D": "DEBUG",
    "V": "DEBUG",
    "I": "INFO",
    "W": "WARNING",
    "E": "ERROR",
    "F": "FATAL",
    "C": "FATAL",
    "WARN": "WARNING",
    "CRITICAL": "FATAL",
    "STAGE": "INFO",
}

_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"\d\d:\d\d:\d\d[.,]\d{3,9}"
_STAMP = rf"{_DATE}[ T]{_TIME}"
# The length is bounded, because otherwise a long word takes long to be rejected.
_FILE = r"(?:[A-Za-z]:)?[\w./+\\@-]{0,300}?(?P<origin>[\w+-]{1,100}\.\w{1,4})"
_LEVEL = r"(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)"

# Decorations that launchers, terminals and the Markdown of bug reports put before lines.
_DECORATION = re.compile(
    r"(?:> ?|[`*]{1,3}(?=[^\s`*])|\[(?:rank)?\d+(?:,\d+)?\](?:<std(?:err|out)>)?: ?"
    r"|\((?:[\w.-]+ )?pid=\d+(?:, ip=[\d.]+)?\) "
    r"|[ \t]+(?=(?:/|~|[A-Za-z]:\\)[^\s:]*\.py:\d+: [A-Z]\w*Warning: ))+"
)

_DECORATED = (">", "`", "*", "[", "(", " ", "\t")

# TensorFlow 1 and 2: "2021-06-14 09:32:11.123456: I tensorflow/core/x.cc:12] ", also without the time.
_TENSORFLOW = rf"(?:\.\.\. )?(?:{_STAMP}: )?(?P<level>[DIWEF]) {_FILE}:\d+\] ?"
# glog and absl: "I0000 00:00:1755238054.678694   12345 file.cc:99] ", "I0308 09:32:11.4418 12 train.py:55] ".
# torch._logging adds labels: "[0/0] [__recompiles] ".
_GLOG = (
    rf"(?P<level>[DVIWEFC])(?:\d{{4}}|\d{{8}}) \d\d:\d\d:\d+\.\d+(?:\s+\d+)+ {_FILE}:\d+\] ?"
    r"(?:\[(?:\d+/\d+(?:_\d+)?|__\w+)\] ?)*"
)
# The same, pasted without its beginning: "stream_executor/cuda/cuda_driver.cc:859] ", "581 placer.cc:177] ".
_CUT = r"(?:\d+ |(?=[\w.+-]+/))[\w./+-]{0,300}?(?P<origin>[\w+-]{1,100}\.(?:cc|cpp|cu|h|mm)):\d+\] "
# PyTorch's c10: "[W Module.cpp:513] Warning: ", "[W1225 12:00:00.123456789 file.cpp:77] Warning: ". The month
# has one digit from January to September.
_C10 = (
    rf"(?:\[rank\d+\]:)?\[(?P<level>[DIWEF])(?:\d{{3,4}} \d\d:\d\d:\d\d\.\d+)? {_FILE}:\d+\] "
    r"(?:\[(?:PG|Rank)[^\]]*\] ?)?(?:Warning: )?"
)
# PyTorch's profiler: "STAGE:2023-11-17 11:25:32 12340:12340 ActivityProfilerController.cpp:312] ".
_KINETO = rf"(?P<level>STAGE|INFO|WARNING|ERROR):{_DATE} \d\d:\d\d:\d\d \d+:\d+ {_FILE}:\d+\] "
# Protocol Buffers: "[libprotobuf FATAL google/protobuf/message_lite.cc:353] ".
_PROTOBUF = rf"\[libprotobuf {_LEVEL} {_FILE}:\d+\] "
# Apple's NSLog: "2021-06-14 09:32:11.123 Python[123:456] ".
_NSLOG = rf"{_STAMP}(?:[+-]\d{{4}})? [\w.+-]+\[\d+:\d+\] "
# Python's logging in its default form: "WARNING:tensorflow:". JAX's own: "WARNING:2025-12-26
# 18:33:48,117:jax._src.xla_bridge:881: ".
_LOGGING_TIMED = rf"{_LEVEL}:{_DATE} {_TIME}:(?P<origin>[\w.]+):\d+: "
_LOGGING = rf"{_LEVEL}:(?: (?=tensorflow:|absl:))?(?P<origin>[A-Za-z_][\w.]*):"
# Formats that programs often give to logging.
_DASHED = rf"{_STAMP} - (?P<origin>[\w.]+) - {_LEVEL} - "
_HYDRA = rf"\[{_STAMP}\]\[(?P<origin>[\w.]+)\]\[{_LEVEL}\] - "
_TRANSFORMERS = rf"\[{_LEVEL}\|(?P<origin>[\w.]+):\d+\] {_STAMP} >> "
# vLLM: "ERROR 04-01 23:46:56 [engine.py:160] ".
_DATED = rf"{_LEVEL} \d\d-\d\d \d\d:\d\d:\d\d \[{_FILE}:\d+\] "
# Jupyter and tornado: "[W 2024-01-01 09:32:11.123 ServerApp] ".
_JUPYTER = (
    rf"\[(?P<level>[DIWEC]) (?:{_DATE} )?\d\d:\d\d:\d\d(?:[.,]\d+)?(?: (?P<origin>[\w.]+)(?::\d+)?)?\] "
)
_NCCL = r"[\w.-]+:\d+:\d+ \[\d+\] (?:\d+\.\d+ )?(?:\S+:\d+ )?(?P<origin>NCCL) (?P<level>INFO|WARN) "
# Python's warnings, with or without the file; exceptions, with or without their module.
_WARNING = r"(?:\S[^:]*(?::[^\s\d:][^:]*)?:\d+: )?(?:[A-Za-z_]\w*\.)*(?P<origin>[A-Z]\w*Warning): "
_EXCEPTION = (
    r"(?:(?:[A-Za-z_]\w*\.)+(?P<dotted>_?[A-Z]\w*)|(?P<plain>[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration)"
    r"|Exception)): "
)

_NATIVE_FORMS = [
    re.compile(form)
    for form in (
        _TENSORFLOW,
        _GLOG,
        _CUT,
        _C10,
        _KINETO,
        _PROTOBUF,
        _NSLOG,
        _LOGGING_TIMED,
        _LOGGING,
        _DASHED,
        _HYDRA,
        _TRANSFORMERS,
        _DATED,
        _JUPYTER,
        _NCCL,
    )
]
_WARNING_FORM = re.compile(_WARNING)
_EXCEPTION_FORM = re.compile(_EXCEPTION)
#: All forms in one expression, because most lines have none.
_ANY_FORM = re.compile(
    re.sub(
        r"\(\?P<\w+>",
        "(?:",
        "|".join(form.pattern for form in (*_NATIVE_FORMS, _WARNING_FORM, _EXCEPTION_FORM)),
    )
)

# Only forms that no sentence has: a time or a path with a slash before the bracket, or a known logger.
_EMBEDDED = re.compile(
    "|".join(
        (
            rf"{_STAMP}: [DIWEF] [\w./+-]+:\d+\] ",
            r"[DIWEF]\d{4} \d\d:\d\d:\d+\.\d+\s+\d+ [\w./+-]+\.\w{1,4}:\d+\] ",
            r"[DIWEF] (?:\./)?(?:tensorflow|external|xla|third_party)/[\w./+-]+:\d+\] ",
            rf"{_STAMP}(?:[+-]\d{{4}})? [\w.+-]+\[\d+:\d+\] ",
            r"(?:INFO|WARNING|ERROR):(?:tensorflow|absl):",
            r"\[[DIWEF](?:\d{3,4} \d\d:\d\d:\d\d\.\d+)? [\w.+-]+\.(?:cpp|h|mm|cc):\d+\] ",
            r"Traceback \(most recent call last\):$",
            r"(?<=\])(?:/|~|[A-Za-z]:\\)[^\s:]+\.py:\d+: [A-Z]\w*Warning: ",
        )
    ).replace("?P<level>", "?:")
)


_EMBEDDED_MARKS = ("] ", "tensorflow:", "absl:", "Traceback (", "Warning: ")


def undecorated(line: str) -> int:
    """Return the position at which the line begins, after what a launcher or Markdown put before it."""
    found = _DECORATION.match(line) if line.startswith(_DECORATED) else None
    return found.end() if found else 0


def read(line: str, start: int = 0) -> Prefix | None:
    """Return the prefix that begins at `start`, or None if there is none."""
    if line[start : start + 1].isspace() or not _ANY_FORM.match(line, start):
        return None
    for form in _NATIVE_FORMS:
        found = form.match(line, start)
        if found:
            groups = found.groupdict()
            level = groups.get("level")
            return Prefix(
                _LEVELS.get(level, level) if level else None, groups.get("origin"), found.end(), True
            )
    found = _WARNING_FORM.match(line, start)
    if found:
        return Prefix("WARNING", found["origin"], found.end(), False)
    found = _EXCEPTION_FORM.match(line, start)
    if found:
        return Prefix("ERROR", found["dotted"] or found["plain"], found.end(), False)
    return None


def split_inside(line: str, start: int) -> int:
    """Return the position, at `start` or later, at which another message begins in the line, or 0."""
    if not any(line.find(mark, start) >= 0 for mark in _EMBEDDED_MARKS):
        return 0
    found = _EMBEDDED.search(line, start)
    return found.start() if found else 0
