"""A fake of macOS's registry of devices and drivers, with GPUs of your choice, in the format of `ioreg`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import count
from typing import Any

#: The head of an entry, indented by its depth: `| +-o GPU  <class GPU, id 0x1>`.
_HEAD = re.compile(r"^(?P<depth>[ |]*)\+-o (?P<name>.*?)\s+<class (?P<kind>\w+)(?:, id (?P<id>0x[0-9a-f]+))?")
_PROPERTY = re.compile(r'^[ |]*"(?P<name>[^"]+)" = (?P<value>.+)$')
_TOKEN = re.compile(
    r'"(?P<text>[^"]*)"|<"(?P<letters>[^"]*)">|<(?P<data>[0-9a-f]*)>|(?P<word>[^\s,(){}=<>"]+)|(?P<mark>[(){},=])'
)


@dataclass
class FakeEntry:
    """A service of a driver, or a client of one: its class, its properties, and the entries below it."""

    kind: str
    number: int
    properties: dict[str, Any] = field(default_factory=dict)
    below: list[FakeEntry] = field(default_factory=list)

    def client(self, pid: int, name: str = "python3.12") -> FakeEntry | None:
        """Return the first client below that the process has made."""
        creator = f"pid {pid}, {name}"
        return next(
            (client for client in self.below if client.properties.get("IOUserClientCreator") == creator), None
        )


class FakeRegistry:
    """A fake of `jupyter_mlgpu.measure.gpu.ioregistry.Registry`.

    `text` is the output of `ioreg`. Without it, the registry has one GPU of Apple's that is not in use. Set
    `error` to have every call raise it. `walks` counts searches for clients, `reads` the properties read.
    """

    def __init__(self, text: str | None = None) -> None:
        self._numbers = count(0x200000001)
        self.services_found = (
            [FakeEntry("AGXAcceleratorG15X", next(self._numbers))] if text is None else parse_ioreg(text)
        )
        self.error: OSError | None = None
        self.walks = 0
        self.reads = 0
        self._entries: dict[int, FakeEntry] = {}
        self._given: dict[int, int] = {}

    @property
    def gpu(self) -> FakeEntry:
        """The first GPU."""
        return self.services_found[0]

    def open(self, pid: int, name: str = "python3.12", gpu: int = 0) -> FakeEntry:
        """Have a process open a GPU as a client that has not used it yet."""
        properties = {"IOUserClientCreator": f"pid {pid}, {name[:16]}", "AppUsage": []}
        client = FakeEntry("AGXDeviceUserClient", next(self._numbers), properties)
        self.services_found[gpu].below.append(client)
        return client

    def work(self, client: FakeEntry, seconds: float) -> None:
        """Have the driver count so much more time for a client."""
        usage = client.properties["AppUsage"]
        if not usage:
            usage.append({"API": "Metal", "lastSubmittedTime": 0, "accumulatedGPUTime": 0})
        usage[0]["accumulatedGPUTime"] += round(seconds * 1e9)

    def end(self, client: FakeEntry) -> None:
        """Have a client close its GPU."""
        for service in self.services_found:
            service.below = [entry for entry in service.below if entry is not client]
        client.properties = {}

    def services(self, name: str) -> list[int]:
        """Return all services for the class IOAccelerator, none for other classes."""
        return self._give(self.services_found if name == "IOAccelerator" else [])

    def below(self, entry: int) -> list[int]:
        """Return all entries below one."""
        self.walks += 1
        found, rest = [], list(self._entry(entry).below)
        while rest:
            next_entry = rest.pop(0)
            found.append(next_entry)
            rest = [*next_entry.below, *rest]
        return self._give(found)

    def entry_id(self, entry: int) -> int:
        """Return the number after `id` in the output of `ioreg`."""
        return self._entry(entry).number

    def read(self, entry: int, name: str) -> Any:
        """Return a property, None if there is none."""
        self.reads += 1
        return self._entry(entry).properties.get(name)

    def release(self, entry: int) -> None:
        """Release one reference."""
        self._entry(entry)
        self._given[entry] -= 1

    def references(self) -> int:
        """Return how many references were given out and not released."""
        return sum(self._given.values())

    def _give(self, entries: list[FakeEntry]) -> list[int]:
        if self.error is not None:
            raise self.error
        # An entry that is given out twice has the same name both times, like Mach's ports.
        names = []
        for entry in entries:
            name = entry.number & 0xFFFFFFFF
            self._entries[name] = entry
            self._given[name] = self._given.get(name, 0) + 1
            names.append(name)
        return names

    def _entry(self, name: int) -> FakeEntry:
        if self.error is not None:
            raise self.error
        assert self._given.get(name, 0) > 0, "an entry was used after it was released"
        return self._entries[name]


def parse_ioreg(text: str) -> list[FakeEntry]:
    """Return the outermost entries in the output of `ioreg -l -w 0`."""
    roots: list[FakeEntry] = []
    open_entries: list[tuple[int, FakeEntry]] = []
    numbers = count(0x100000001)
    for line in text.splitlines():
        head, property_line = _HEAD.match(line), _PROPERTY.match(line)
        if head is not None:
            depth = len(head["depth"])
            number = int(head["id"], 16) if head["id"] else next(numbers)
            entry = FakeEntry(head["kind"], number)
            while open_entries and open_entries[-1][0] >= depth:
                open_entries.pop()
            (open_entries[-1][1].below if open_entries else roots).append(entry)
            open_entries.append((depth, entry))
        elif property_line is not None and open_entries:
            tokens = list(_TOKEN.finditer(property_line["value"]))
            open_entries[-1][1].properties[property_line["name"]] = _value(tokens)
    return roots


def _value(tokens: list[re.Match[str]]) -> Any:
    """Parse a value from the tokens: a number, a text, bytes, a list `(...)` or a dictionary `{"a"=1}`."""
    first = tokens.pop(0)
    if first["text"] is not None:
        return first["text"]
    if first["letters"] is not None:
        return first["letters"].encode() + b"\0"
    if first["data"] is not None:
        return bytes.fromhex(first["data"])
    if first["word"] is not None:
        word = first["word"]
        return {"Yes": True, "No": False}.get(word, _number(word))
    values: list[Any] = []
    pairs: dict[str, Any] = {}
    while tokens[0]["mark"] not in (")", "}"):
        if tokens[0]["mark"] == ",":
            tokens.pop(0)
            continue
        value = _value(tokens)
        if first["mark"] == "{":
            tokens.pop(0)
            pairs[value] = _value(tokens)
        else:
            values.append(value)
    tokens.pop(0)
    return pairs if first["mark"] == "{" else values


def _number(word: str) -> Any:
    try:
        return int(word)
    except ValueError:
        return word
