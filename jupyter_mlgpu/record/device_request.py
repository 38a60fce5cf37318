"""The device that a user asks for: a word that is parsed once on input and then passed on as data.

In records and in messages to browsers it is a mapping of frameworks to devices. The key `EVERY` stands for
all other frameworks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol, TypeVar, cast

from msgspec import Struct

from jupyter_mlgpu.record.errors import DeviceError, OtherGpuError, UsageError
from jupyter_mlgpu.record.option_parser import nearest
from jupyter_mlgpu.record.sentence import Sentence, say

#: The key for all frameworks that a mapping of frameworks to devices does not name.
EVERY = "*"

GpuName = Literal["mps", "metal", "cuda"]

_WORD = re.compile(r"(cpu|gpu|mps|metal|cuda)(?::([0-9]{1,9}))?|auto|any")

#: The kinds of device that the names of a GPU stand for. PyTorch calls AMD's GPUs `cuda`, too.
_KINDS: Mapping[GpuName, Collection[str]] = {
    "mps": ("metal",),
    "metal": ("metal",),
    "cuda": ("cuda", "rocm"),
}
#: What each kind of GPU is called in a sentence.
_TITLES = {"metal": "Metal", "cuda": "CUDA", "rocm": "ROCm"}


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Kinded(_Named, Protocol):
    @property
    def kind(self) -> str: ...


D = TypeVar("D", bound=_Kinded)


class DeviceWord(Struct, frozen=True):
    """A requested device: `cpu`, `gpu`, a numbered device such as `gpu:1`, or `auto` for no choice.

    `any`, ML Compute's word, is read as `auto`. `mps`, `metal` and `cuda`, which frameworks use, are read as
    `gpu`; `named` keeps them, because a GPU of another kind is refused.
    """

    kind: Literal["cpu", "gpu", "auto"]
    number: int | None = None
    named: GpuName | None = None

    @classmethod
    def parse(cls, text: str, others: Collection[str] = ()) -> DeviceWord:
        """Return the request that a word stands for. Raises UsageError with the valid words.

        `others` are further words that are valid in the same place. They are suggested if one is close to
        `text`.
        """
        match = _WORD.fullmatch(text.strip().lower())
        if match is None:
            # 0.7, so that cpu is not suggested for tpu.
            near = nearest(text.strip(), ("auto", "cpu", "gpu", "any", *_KINDS, *others), 0.7)
            meant = "".join(f"{one} " for one in near)
            raise UsageError(
                f"Unknown device {text.strip()!r}. {meant}Choose auto, cpu, gpu, or a numbered device such "
                "as cpu:1 or gpu:0; in a notebook `%mlc_device list` shows what exists."
            )
        number = int(match[2]) if match[2] else None
        if match[1] in _KINDS:
            return cls("gpu", number, cast(GpuName, match[1]))
        return cls(cast(Literal["cpu", "gpu", "auto"], match[1] or "auto"), number)

    def __str__(self) -> str:
        """Return the word for records, browsers and files, which have `gpu` for every kind of GPU."""
        return _numbered(self.kind, self.number)

    @property
    def as_typed(self) -> str:
        """The word as the user wrote it, for sentences."""
        return _numbered(self.named or self.kind, self.number)

    @property
    def needs_framework(self) -> bool:
        """True if only a framework can tell if the device exists."""
        return self.kind == "gpu" or self.number is not None

    def find(self, devices: Sequence[D], whose: Sentence | str = "") -> D:
        """Return the requested device among those that exist. Raises DeviceError with the names of these.

        Raises OtherGpuError if the device is a GPU of another kind than the one named.

        For `auto` it is the first GPU, or the first CPU if there is no GPU. A benchmark, for example, needs
        one device even if the user chose none.

        `whose` names the framework in the error if there are several.
        """
        kind: str = self.kind
        if kind == "auto":
            kind = "gpu" if any(device.name.startswith("gpu:") for device in devices) else "cpu"
        wanted = f"{kind}:{self.number or 0}"
        for device in devices:
            if device.name == wanted:
                self._refuse_another_kind(device.kind)
                return device
        raise DeviceError(
            say(
                "There is no device {word} here{whose}: found {found}. Choose one of these; nothing was "
                "changed.",
                word=wanted if self.named is None else f"{self.named}:{self.number or 0}",
                whose=whose,
                found=names(devices),
            )
        )

    def _refuse_another_kind(self, kind: str) -> None:
        if self.named is None or kind not in _TITLES or kind in _KINDS[self.named]:
            return
        raise OtherGpuError(
            say(
                "This machine's GPU is {kind}'s: use `{word}`. Nothing was changed.",
                kind=_TITLES[kind],
                word=str(self),
            )
        )


def _numbered(word: str, number: int | None) -> str:
    return word if number is None else f"{word}:{number}"


#: No choice, which is the initial request. A user can return to it.
AUTO = DeviceWord("auto")


def names(devices: Sequence[_Named]) -> str:
    """Return the devices' names for a sentence: `cpu:0, gpu:0`, or `none`."""
    return ", ".join(device.name for device in devices) or "none"


def in_words(requested: Mapping[str, str]) -> str:
    """Return the requested devices, `gpu:0` or `torch gpu:0, jax cpu:0`. Empty if none was requested."""
    return ", ".join(
        device if framework == EVERY else f"{framework} {device}" for framework, device in requested.items()
    )
