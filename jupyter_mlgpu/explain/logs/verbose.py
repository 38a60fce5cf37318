"""`%mlc_trace verbose WORDS`: make the frameworks say more, or less.

Frameworks read most variables once, while they are imported. So a variable is set only while its framework
is not imported yet; afterwards the student is told to restart, and given the cell to run first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Container, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from jupyter_mlgpu.explain.logs.knobs import FRAMEWORKS, KNOBS, Knob
from jupyter_mlgpu.record.errors import RestartNeededError, UsageError
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: What a word sets. A level takes the place of the one before.
LEVELS: Mapping[str, Mapping[str, str]] = {
    "on": {"TF_CPP_VMODULE": "execute=1,placer=1"},
    "all": {"TF_CPP_MAX_VLOG_LEVEL": "1"},
    "mlc": {"TF_MLC_LOGGING": "1", "TF_NUM_INTEROP_THREADS": "1"},
}

# Seen with TensorFlow 2.19.1: from 1 on it hides the very lines that TF_CPP_VMODULE asks for.
_HIDES = "TF_CPP_MIN_LOG_LEVEL"
_SAID_OF: Mapping[str, Sentence] = {
    "on": say("TensorFlow then says where each operation runs: 2,200 lines in a 20-step fit."),
    "all": say(
        "Careful: TensorFlow then says everything, 55,000 lines in a 20-step fit that takes 12 "
        "times as long; `%mlc_trace verbose on` is the usable mode."
    ),
    "mlc": say(
        "Apple's fork never runs in this kernel, for it needs Python 3.8: this is for programs "
        "started from here, such as `!python3.8 mlcompute_fork.py script.py`. TensorFlow, once "
        "imported here, will run one operation at a time too."
    ),
}


@dataclass(frozen=True, slots=True)
class EnvironmentChanges:
    """What one command does: `changes` to make in the environment (None: remove), and what to print.

    `before` is what `off` has to put back after these changes.
    """

    changes: Mapping[str, str | None]
    before: Mapping[str, str | None]
    text: str


@cache
def of_this_process() -> Verbose:
    """The one of this process and its environment."""
    return Verbose(os.environ)


@dataclass(slots=True)
class Verbose:
    """`%mlc_trace verbose WORDS`: one a kernel; remembers what it changed in `environ`.

    `in_time` holds what it set before the framework that reads it was imported.
    """

    environ: MutableMapping[str, str]
    before: dict[str, str | None] = field(default_factory=dict)
    in_time: dict[str, str] = field(default_factory=dict)

    def command(self, words: str, modules: Container[str]) -> str:
        """Do what the words say and return what to print; `modules` is `sys.modules`.

        Raises UsageError, in one sentence, for words it does not know, and RestartNeededError for what
        a framework has read already; then nothing has changed.
        """
        loaded = imported(modules)
        result = plan(words, self.environ, loaded, self.before, self.in_time)
        self._apply(result.changes)
        for name, value in result.changes.items():
            if KNOBS[name].framework not in loaded:
                self.in_time.pop(name, None)
                if value is not None:
                    self.in_time[name] = value
        self.before = dict(result.before)
        return result.text

    def restore(self) -> None:
        """Put the environment back as it was found: what `%unload_ext jupyter_mlgpu` needs."""
        self._apply(self.before)
        self.before = {}

    def _apply(self, changes: Mapping[str, str | None]) -> None:
        for name, value in changes.items():
            if value is None:
                self.environ.pop(name, None)
            else:
                self.environ[name] = value


def imported(modules: Container[str]) -> frozenset[str]:
    """The frameworks of `FRAMEWORKS` that this program has imported, or begun to."""
    return frozenset(name for name in ("tensorflow", "torch", "jax") if name in modules)


def plan(
    words: str,
    environ: Mapping[str, str],
    loaded: Collection[str],
    before: Mapping[str, str | None],
    in_time: Mapping[str, str] = MappingProxyType({}),
) -> EnvironmentChanges:
    """What `%mlc_trace verbose WORDS` changes, and what it says. Changes nothing itself.

    `loaded` holds the frameworks imported already, `before` what earlier commands have changed, and
    `in_time` what they had set when a framework read it. Raises RestartNeededError where it is too late.
    """
    words = words.strip()
    name, equals, value = words.partition("=")
    name = name.strip()
    if words in ("", "status"):
        return EnvironmentChanges({}, before, _status(environ, loaded, before))
    if words == "off":
        return _off(loaded, before)
    if words in LEVELS:
        found = _found(environ, before)
        wanted = dict(LEVELS[words])
        if words != "mlc" and found.get(_HIDES, "0") != "0":
            wanted[_HIDES] = "0"
        return _set(words, wanted, found, loaded, before, in_time, start_over=True)
    if name not in KNOBS:
        raise UsageError(
            f"Unknown words {words!r} after %mlc_trace verbose: choose {', '.join(LEVELS)}, off or status, "
            "or set a variable as in `%mlc_trace verbose TF_CPP_VMODULE=execute=1` "
            f"(known: {', '.join(KNOBS)})."
        )
    if not equals:
        return EnvironmentChanges({}, before, explain(KNOBS[name]))
    value = value.strip()
    if not re.fullmatch(KNOBS[name].pattern, value):
        raise UsageError(
            f"{name} cannot be {value!r}: it takes {KNOBS[name].values}, "
            f"for example `%mlc_trace verbose {name}={KNOBS[name].example}`."
        )
    return _set(words, {name: value}, environ, loaded, before, in_time, start_over=False)


def explain(knob: Knob) -> str:
    """What a variable does, what it takes, and when it is read."""
    reader = FRAMEWORKS[knob.framework] + (f" and {FRAMEWORKS[knob.also]}" if knob.also else "")
    when = {
        "import": "once, while it is imported",
        "first use": "once, at the first use",
        "always": "each time it is needed",
    }[knob.read]
    instead = f" Later: `{knob.instead}`." if knob.instead else ""
    return (
        f"{knob.name} {knob.does}. It takes {knob.values}; `%mlc_trace verbose {knob.name}={knob.example}` "
        f"sets it. Read by {reader} {when}.{instead} Source: {knob.source}."
    )


def first_cell(settings: Mapping[str, str]) -> str:
    """The cell to run first after a restart."""
    lines = [f"os.environ[{name!r}] = {value!r}" for name, value in settings.items()]
    return "\n".join(["import os", *lines, "%load_ext jupyter_mlgpu"])


def _set(
    words: str,
    wanted: Mapping[str, str],
    environ: Mapping[str, str],
    loaded: Collection[str],
    before: Mapping[str, str | None],
    in_time: Mapping[str, str],
    *,
    start_over: bool,
) -> EnvironmentChanges:
    """Set variables, or say that it is too late. `start_over`: what was changed before is put back first."""
    knobs = [KNOBS[name] for name in wanted]
    late = [
        knob
        for knob in knobs
        if knob.framework in loaded and knob.read == "import" and in_time.get(knob.name) != wanted[knob.name]
    ]
    if late:
        raise _too_late(words, wanted, late)
    changes: dict[str, str | None] = {**before, **wanted} if start_over else dict(wanted)
    kept = {} if start_over else dict(before)
    for name in wanted:
        kept.setdefault(name, environ.get(name))
    lines = [
        f"Set {_listed(wanted)}. {_SAID_OF.get(words, '')}".rstrip(),
        *_when_read(knobs, loaded),
        "`%mlc_trace verbose off` puts it back.",
    ]
    return EnvironmentChanges(changes, kept, "\n".join(lines))


def _too_late(words: str, wanted: Mapping[str, str], late: Iterable[Knob]) -> RestartNeededError:
    late = list(late)
    names = " and ".join(sorted({FRAMEWORKS[knob.framework] for knob in late}))
    why = say("{names} is imported already and has read its settings, so nothing was changed.", names=names)
    if words in _SAID_OF:
        why = joined(why, _SAID_OF[words])
    for knob in late:
        if knob.instead:
            why = say("{why}\nWithout a restart: `{code}`", why=why, code=knob.instead)
    return RestartNeededError(
        why,
        say(
            "Restart the kernel, run this cell first and then the others up to here:\n\n{code}",
            code=first_cell(wanted),
        ),
        verbose=words,
    )


def _when_read(knobs: Iterable[Knob], loaded: Collection[str]) -> list[str]:
    """What has to be known of variables that were set, in sentences."""
    lines = []
    for knob in knobs:
        if knob.also in loaded:
            lines.append(
                f"{FRAMEWORKS[knob.also]} is imported already and keeps its {knob.name} until a restart."
            )
        if knob.framework == "fork":
            lines.append(f"{knob.name} is read by Apple's fork alone, in the Python 3.8 that runs it.")
        elif knob.read == "first use" and (knob.framework in loaded or knob.framework == "nccl"):
            reader = FRAMEWORKS[knob.framework]
            lines.append(
                f"{reader} reads {knob.name} at its first use: if it has been used, restart the kernel."
            )
    return lines


def _off(loaded: Collection[str], before: Mapping[str, str | None]) -> EnvironmentChanges:
    if not before:
        return EnvironmentChanges(
            {}, {}, "Nothing was set by %mlc_trace verbose, so there is nothing to put back."
        )
    kept = sorted(
        {
            FRAMEWORKS[reader]
            for name in before
            for reader in (KNOBS[name].framework, KNOBS[name].also)
            if reader in loaded and KNOBS[name].read != "always"
        }
    )
    more = (
        f" {' and '.join(kept)} may have read them already and then keeps them until the kernel restarts."
        if kept
        else ""
    )
    return EnvironmentChanges(before, {}, f"Put back as it was: {', '.join(before)}.{more}")


def _status(environ: Mapping[str, str], loaded: Collection[str], before: Mapping[str, str | None]) -> str:
    known = {name: environ[name] for name in KNOBS if name in environ}
    shown = [f"{name}={value}" + (" (set here)" if name in before else "") for name, value in known.items()]
    lines = [f"Set in this kernel: {', '.join(shown)}." if shown else "No variable about logs is set."]
    names = " and ".join(FRAMEWORKS[name] for name in sorted(loaded))
    if names:
        lines.append(f"Imported already, so that a change needs a restart of the kernel: {names}.")
    lines.append(
        "`%mlc_trace verbose on`, `all` or `mlc` make the frameworks say more, `off` puts it back, and "
        "`%mlc_trace verbose TF_CPP_VMODULE` explains a variable."
    )
    return "\n".join(lines)


def _found(environ: Mapping[str, str], before: Mapping[str, str | None]) -> dict[str, str]:
    """The environment as it was before this kernel's first `verbose`."""
    found = {**environ, **before}
    return {name: value for name, value in found.items() if value is not None}


def _listed(settings: Mapping[str, str]) -> str:
    return " and ".join(f"{name}={value}" for name, value in settings.items())
