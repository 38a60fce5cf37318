"""One captured descriptor: its pipe, the file that stores output, and the echo that passes it on.

Two offsets in the file are kept: up to where it has been read, and up to where it has been echoed. A slow
terminal delays only the echo.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from msgspec import Struct

from jupyter_mlgpu.measure.capture.echo import DescriptorEcho, Echo
from jupyter_mlgpu.measure.capture.reader import Pipe, Reader
from jupyter_mlgpu.measure.capture.storage import LogFile, above_standard
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record.clock import real_time

#: Bytes of a file kept for `%mlc_trace logs --raw`. Older ones are returned to the system.
KEPT_BYTES = 64 * 1024**2
_CHUNK = 1024**2
#: Seconds for which a pipe is emptied in this process at a time.
_RELAYED = 0.5

NAMES = {1: "stdout", 2: "stderr"}

#: Called with a stream's name and bytes written to it.
OnData = Callable[[str, bytes], None]
#: Makes the echo of a descriptor from its number and a copy of the original. None: do not capture it.
MakeEcho = Callable[[int, int], Echo | None]


def plain_echo(descriptor: int, before: int) -> Echo:
    """Return an echo to where the descriptor led before."""
    return DescriptorEcho(before)


class CapturedStream(Struct, eq=False):
    """A descriptor from `take` to `put_back`; `before` is a copy of the original, `number` counts from 0."""

    number: int
    descriptor: int
    file: LogFile
    pipe: Pipe
    before: int
    echo: Echo
    read_to: int = 0
    echoed_to: int = 0
    #: Returns True if something was written and not echoed, according to the reader.
    is_behind: Callable[[], bool] = lambda: False

    @classmethod
    def of(cls, number: int, descriptor: int, make_echo: MakeEcho) -> CapturedStream | None:
        """Return a stream that has not taken its descriptor yet; None if that is closed or left alone.

        Raises OSError.
        """
        with contextlib.ExitStack() as undo:
            before = _copy(descriptor)
            if before is None:
                return None
            undo.callback(os.close, before)
            echo = make_echo(descriptor, before)
            if echo is None:
                return None
            file = undo.enter_context(contextlib.closing(LogFile(NAMES[descriptor])))
            pipe = undo.enter_context(contextlib.closing(Pipe.new()))
            os.set_blocking(pipe.read, False)
            stream = cls(number, descriptor, file, pipe, before, echo)
            undo.pop_all()
        return stream

    @property
    def name(self) -> str:
        """`stdout` or `stderr`."""
        return NAMES[self.descriptor]

    def take(self) -> None:
        """Redirect the descriptor into the pipe."""
        os.dup2(self.pipe.write, self.descriptor)

    def leads_here(self, descriptor: int | None = None) -> bool:
        """Return True if the descriptor, or another one, is our pipe: the user may have replaced it."""
        try:
            status = os.fstat(descriptor or self.descriptor)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self.pipe.identity

    def put_back(self, descriptors: Sequence[int]) -> None:
        """Restore each descriptor that is our pipe to our original; the user may have copied it: `2>&1`."""
        for descriptor in descriptors:
            if self.leads_here(descriptor):
                os.dup2(self.before, descriptor)

    def close(self) -> None:
        """Close all our descriptors."""
        self.file.close()
        self.pipe.close()
        os.close(self.before)

    def pass_on(self, reader: Reader, on_data: OnData) -> None:
        """Read and echo what is stored. A Ctrl-C takes effect between two pieces."""
        while self.echoed_to < self.read_to and self._echo_on():
            pass
        reader.set_shown(self.number, self.echoed_to)
        end = reader.stored(self.number)
        while self.read_to < end and self._pass_one_on(end, on_data):
            self.file.forget(self.echoed_to - KEPT_BYTES)
            reader.set_shown(self.number, self.echoed_to)

    def relay(self) -> None:
        """Echo what is in the pipe, if no process stores it. It ends even if a child writes on for ever."""
        until = real_time.monotonic() + _RELAYED
        with contextlib.suppress(OSError):  # the pipe is empty
            while self._relay_one() and real_time.monotonic() < until:
                pass

    def tail(self, most: int, since: int) -> bytes:
        """Return the last stored bytes, read or not: at most `most`, and only after the offset `since`."""
        end = self.file.size()
        start = max(since if since <= end else 0, end - most)
        return self.file.read(start, end) if start < end else b""

    def raw(self, start: int, end: int) -> tuple[bytes, int]:
        """Return the bytes between two offsets, and how many more were dropped."""
        kept = max(start, min(end, self.file.forgotten))
        return self.file.read(kept, end), kept - start

    def _echo_on(self) -> bool:
        """Go on with an echo that was held up. Returns True if it took all of this piece."""
        with Uninterrupted():
            data = self.file.read(self.echoed_to, min(self.read_to, self.echoed_to + _CHUNK))
            done = self.echo.write(data)
            self.echoed_to += done
            return 0 < len(data) == done

    def _pass_one_on(self, end: int, on_data: OnData) -> bool:
        """Read and echo one piece. Returns True if there was one."""
        with Uninterrupted():
            data = self.file.read(self.read_to, min(end, self.read_to + _CHUNK))
            self.read_to += len(data)
            if data:
                on_data(self.name, data)
                if self.echoed_to == self.read_to - len(data):
                    self.echoed_to += self.echo.write(data)
            return bool(data)

    def _relay_one(self) -> bool:
        """Echo one piece of what is in the pipe. Returns True if more may come. Raises OSError if empty."""
        with Uninterrupted():
            rest = data = os.read(self.pipe.read, _CHUNK)
            while rest and self.echo.ready(1.0):
                rest = rest[self.echo.write(rest) :]
            return bool(data)


def _copy(descriptor: int) -> int | None:
    try:
        return above_standard(os.dup(descriptor))
    except OSError:  # closed
        return None
