"""Collect the placement lines of TensorFlow 1 and 2: which operation went to which device."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jupyter_mlgpu.explain.logs.template import Value
from jupyter_mlgpu.record.sentence import Sentence, say, with_commas

#: The catalogue's messages with one operation's device, in the fields `operation` and `device`.
MESSAGES = frozenset(["placement-of-operation", "placement-oldest-form", "placement-of-eager-operation"])
#: The most operations that the table names; the rest is counted.
LIMIT = 200

_DEVICE = re.compile(r"(?:^|/)(?:device:)?([A-Za-z_]+):(\d+)$")
_ELSEWHERE = re.compile(r"(?:/?job:)?(?!localhost/)\w+/(?:replica|task):")


class PlacementTable:
    """The device of each operation of one cell."""

    def __init__(self) -> None:
        self._table: dict[str, str] = {}
        self._devices_after = dict[str, int]()

    def add(self, fields: Mapping[str, Value]) -> str:
        """Add one line's fields and return the device's short name."""
        operation, device = str(fields["operation"]), short_device(str(fields["device"]))
        if operation in self._table or len(self._table) < LIMIT:
            self._table[operation] = device
        else:
            self._devices_after[device] = self._devices_after.get(device, 0) + 1
        return device

    def fact(self) -> dict[str, str]:
        """Return the devices by operation; an operation placed again has its last device."""
        return self._table

    def notes(self) -> list[Sentence]:
        """Return a sentence on what the table leaves out, if anything."""
        if not self._devices_after:
            return []
        counts = with_commas(
            [
                say("{count} on {device}", count=count, device=device)
                for device, count in self._devices_after.items()
            ]
        )
        return [
            say(
                "The placement table lists the first {count} operations; messages about others: {counts}.",
                count=LIMIT,
                counts=counts,
            )
        ]


def short_device(name: str) -> str:
    """Return `gpu:0` for `/job:localhost/replica:0/task:0/device:GPU:0` or `/gpu:0`.

    Names of other machines' devices stay as they are.
    """
    found = _DEVICE.search(name)
    if found is None or _ELSEWHERE.match(name):
        return name
    return f"{found[1].lower()}:{found[2]}"
