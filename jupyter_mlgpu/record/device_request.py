"""The device that somebody asks for: one word, parsed once where it comes in, and passed on as data.

In records, and told to browsers, it is a mapping of frameworks to devices, `EVERY` for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, cast

from jupyter_mlgpu.record.errors import DeviceError, UsageError
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.words import nearest

#: The key of a mapping framework -> device under which the device of every other framework stands.
EVERY = "*"

_WORD = re.compile(r"(cpu|gpu)(?::([0-9]{1,9}))?|auto|any")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


D = TypeVar("D", bound=_Named)


@dataclass(frozen=True, slots=True)
class DeviceWord:
    """`cpu`, `gpu`, a numbered `gpu:1`, or `auto`: no choice. `any`, as ML Compute has it, is `auto` too."""

    kind: Literal["cpu", "gpu", "auto"]
    number: int | None = None

    @classmethod
    def parse(cls, text: str, others: Collection[str] = ()) -> DeviceWord:
        """The word that somebody wrote; raises UsageError with the valid words.

        `others` are words that may stand there instead, and may be meant.
        """
        match = _WORD.fullmatch(text.strip().lower())
        if match is None:
            near = nearest(text.strip(), ("auto", "cpu", "gpu", "any", *others), 0.7)  # a TPU is no CPU
            meant = "".join(f"{one} " for one in near)
            raise UsageError(
                f"Unknown device {text.strip()!r}. {meant}Choose auto, cpu, gpu, or a numbered device such "
                "as cpu:1 or gpu:0; in a notebook `%mlc_device list` shows what exists."
            )
        kind = cast(Literal["cpu", "gpu", "auto"], match[1] or "auto")
        return cls(kind, int(match[2]) if match[2] else None)

    def __str__(self) -> str:
        return self.kind if self.number is None else f"{self.kind}:{self.number}"

    @property
    def needs_framework(self) -> bool:
        """Whether only a framework can tell if the device exists."""
        return self.kind == "gpu" or self.number is not None

    def find(self, devices: Sequence[D], whose: Sentence | str = "") -> D:
        """The device that is meant among those that exist; raises DeviceError naming these.

        Where nothing was chosen and one device is needed, by a benchmark for example, it is the first GPU,
        else the first CPU.

        `whose` names the framework in the error, where there are several.
        """
        kind: str = self.kind
        if kind == "auto":
            kind = "gpu" if any(device.name.startswith("gpu:") for device in devices) else "cpu"
        wanted = f"{kind}:{self.number or 0}"
        for device in devices:
            if device.name == wanted:
                return device
        raise DeviceError(
            say(
                "There is no device {word} here{whose}: found {found}. Choose one of these; nothing was "
                "changed.",
                word=wanted,
                whose=whose,
                found=names(devices),
            )
        )


#: No choice: what holds before any was made, and can be made again.
AUTO = DeviceWord("auto")


def names(devices: Sequence[_Named]) -> str:
    """Devices in a sentence: `cpu:0, gpu:0`, or `none`."""
    return ", ".join(device.name for device in devices) or "none"


def in_words(requested: Mapping[str, str]) -> str:
    """The devices asked for: `gpu:0`, or `torch gpu:0, jax cpu:0`; empty where none was."""
    return ", ".join(
        device if framework == EVERY else f"{framework} {device}" for framework, device in requested.items()
    )
