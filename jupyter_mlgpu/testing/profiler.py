"""A fake profiler of a framework, with a profile of your choice."""

from __future__ import annotations

from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.measure.ops.profiler import Refused
from jupyter_mlgpu.record.sentence import Sentence


class FakeProfiler:
    """A profiler that returns the given events, refuses to start, or fails when it stops.

    `on` is True while it is on, `shapes` is True if shapes were requested.
    """

    def __init__(
        self,
        events: tuple[Event, ...] = (),
        *,
        framework: str = "fake",
        refused: Refused | None = None,
        fail: BaseException | None = None,
        whole: bool = True,
        left_out: int = 0,
    ) -> None:
        self.framework = framework
        self.on = False
        self.shapes = False
        self._profile = Profile(
            framework,
            Sentence("fake profiler"),
            events,
            0,
            0,
            left_out,
            Sentence("the fake was told to") if left_out else None,
            whole=whole,
        )
        self._refused = refused
        self._fail = fail

    def start(self, shapes: bool = False) -> FakeSession | Refused:
        """Begin a session, or refuse."""
        if self._refused is not None:
            return self._refused
        self.on = True
        self.shapes = shapes
        return FakeSession(self, self._profile, self._fail)


class FakeSession:
    """A session that ends with the given profile."""

    def __init__(self, profiler: FakeProfiler, profile: Profile, fail: BaseException | None) -> None:
        self._profiler = profiler
        self._profile = profile
        self._fail = fail

    def turn_off(self) -> None:
        """End the session."""
        self._profiler.on = False

    def stop(self) -> Profile:
        """End the session and return the profile."""
        self._profiler.on = False
        if self._fail is not None:
            raise self._fail
        return self._profile

    def abandon(self) -> None:
        """End the session without reading it."""
        self._profiler.on = False
