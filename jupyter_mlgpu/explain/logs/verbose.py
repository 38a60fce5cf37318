"""`%mlc_trace verbose WORDS`: make the frameworks log more, or less.

Frameworks read most variables once, while they are imported. So a variable is set only before its framework
is imported. Afterwards the command asks for a restart and shows the cell to run first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache

from jupyter_mlgpu.explain.logs.knobs import FRAMEWORKS, KNOBS, Knob
from jupyter_mlgpu.record.errors import RestartNeededError, UsageError
from jupyter_mlgpu.record.option_parser import nearest
from jupyter_mlgpu.record.sentence import Sentence, below, joined, listed, say, with_commas

#: The variables that each level sets. A level replaces the one before.
LEVELS: Mapping[str, Mapping[str, str]] = {
    "on": {"TF_CPP_VMODULE": "execute=1,placer=1"},
    "all": {"TF_CPP_MAX_VLOG_LEVEL": "1"},
    "mlc": {"TF_MLC_LOGGING": "1", "TF_NUM_INTEROP_THREADS": "1"},
}

# Observed with TensorFlow 2.19.1: from 1 on it hides the very lines that TF_CPP_VMODULE enables.
_HIDES = "TF_CPP_MIN_LOG_LEVEL"
_LEVEL_NOTES: Mapping[str, Sentence] = {
    "on": say("TensorFlow then logs where each operation runs: 2,200 lines in a 20-step fit."),
    "all": say(
        "Careful: TensorFlow then logs everything, 55,000 lines in a 20-step fit that takes "
        "12 times as long; `%mlc_trace verbose on` is the usable mode."
    ),
    "mlc": say(
        "Apple's fork never runs in this kernel because it needs Python 3.8: this is for "
        "programs started from here, such as `!python3.8 mlcompute_fork.py script.py`. "
        "TensorFlow imported here will also run one operation at a time."
    ),
}


@cache
def of_this_process() -> Verbose:
    """Return the object for this process and its environment."""
    return Verbose(os.environ)


@dataclass(slots=True)
class Verbose:
    """The state of `%mlc_trace verbose` in one kernel, which remembers what it changed in `environ`.

    `before` has the values that `off` restores. `in_time` holds what was set before the framework that reads
    it was imported.
    """

    environ: MutableMapping[str, str]
    before: dict[str, str | None] = field(default_factory=dict)
    in_time: dict[str, str] = field(default_factory=dict)

    def command(self, words: str, modules: Container[str]) -> Sentence:
        """Run the command and return what to print; `modules` is `sys.modules`.

        Raises UsageError, in one sentence, for unknown words, and RestartNeededError for a variable that a
        framework has already read; then nothing has changed.
        """
        loaded = imported(modules)
        words = words.strip()
        if words in ("", "status"):
            return self._status(loaded)
        if words == "off":
            return self._off(loaded)
        if words in LEVELS:
            return self._set_level(words, loaded)
        name, equals, value = (one.strip() for one in words.partition("="))
        if name not in KNOBS:
            wrong = say(
                "Unknown words {words} after `%mlc_trace verbose`: choose {levels}, off or "
                "status, or set a variable as in `%mlc_trace verbose "
                "TF_CPP_VMODULE=execute=1` (known: {known}).",
                words=repr(words),
                levels=", ".join(LEVELS),
                known=", ".join(KNOBS),
            )
            raise UsageError(joined(wrong, *nearest(name, (*LEVELS, "off", "status", *KNOBS))))
        if not equals:
            return explain(KNOBS[name])
        if not re.fullmatch(KNOBS[name].pattern, value):
            raise UsageError(
                say(
                    "{name} cannot be {value}: it takes {values}, for example "
                    "`%mlc_trace verbose {name}={example}`.",
                    name=name,
                    value=repr(value),
                    values=KNOBS[name].values,
                    example=KNOBS[name].example,
                )
            )
        _refuse_too_late(words, {name: value}, loaded, self.in_time)
        self.before.setdefault(name, self.environ.get(name))
        self._change({name: value}, loaded)
        return _setting_note(words, {name: value}, loaded)

    def restore(self) -> None:
        """Restore the environment, for `%unload_ext jupyter_mlgpu`."""
        self._change(self.before, frozenset(FRAMEWORKS))
        self.before = {}

    def _set_level(self, level: str, loaded: frozenset[str]) -> Sentence:
        """Set the variables of a level, after restoring what was changed before."""
        found = {**self.environ, **self.before}
        wanted = dict(LEVELS[level])
        if level != "mlc" and (found.get(_HIDES) or "0") != "0":
            wanted[_HIDES] = "0"
        _refuse_too_late(level, wanted, loaded, self.in_time)
        self._change({**self.before, **wanted}, loaded)
        self.before = {name: found.get(name) for name in wanted}
        return _setting_note(level, wanted, loaded)

    def _off(self, loaded: frozenset[str]) -> Sentence:
        if not self.before:
            return say("`%mlc_trace verbose` has set nothing, so there is nothing to undo.")
        back = say("Restored: {names}.", names=", ".join(self.before))
        knobs = [KNOBS[name] for name in self.before if KNOBS[name].read != "always"]
        readers = {reader for knob in knobs for reader in (knob.framework, knob.also)} & loaded
        self._change(self.before, loaded)
        self.before = {}
        if not readers:
            return back
        more = say(
            "{names} may already have read them and then keeps them until the kernel restarts.",
            names=_titles(readers),
        )
        return joined(back, more)

    def _status(self, loaded: frozenset[str]) -> Sentence:
        known = [(name, f"{name}={self.environ[name]}") for name in KNOBS if name in self.environ]
        settings = [
            say("{setting} (set here)", setting=one) if name in self.before else one for name, one in known
        ]
        lines = [say("No logging variable is set.")]
        if settings:
            lines = [say("Set in this kernel: {settings}.", settings=with_commas(settings))]
        if loaded:
            lines.append(
                say(
                    "Already imported, so changes need a kernel restart: {names}.",
                    names=_titles(loaded),
                )
            )
        lines.append(
            say(
                "`%mlc_trace verbose on`, `all` or `mlc` makes the frameworks log more, "
                "`off` undoes this, and `%mlc_trace verbose TF_CPP_VMODULE` explains a "
                "variable."
            )
        )
        return below(*lines)

    def _change(self, changes: Mapping[str, str | None], loaded: frozenset[str]) -> None:
        """Set variables, and remove those whose value is None."""
        for name, value in changes.items():
            if KNOBS[name].framework not in loaded:
                self.in_time.pop(name, None)
            if value is None:
                self.environ.pop(name, None)
                continue
            self.environ[name] = value
            if KNOBS[name].framework not in loaded:
                self.in_time[name] = value


def imported(modules: Container[str]) -> frozenset[str]:
    """Return the frameworks of `FRAMEWORKS` whose import has begun in this process."""
    return frozenset(name for name in ("tensorflow", "torch", "jax") if name in modules)


def explain(knob: Knob) -> Sentence:
    """Return a variable's effect, its values, and when it is read."""
    when = {
        "import": say("once, during import"),
        "first use": say("once, at first use"),
        "always": say("whenever it is needed"),
    }[knob.read]
    readers = [FRAMEWORKS[knob.framework], *([FRAMEWORKS[knob.also]] if knob.also else [])]
    return joined(
        say(
            "{name} {does}. It takes {values}; `%mlc_trace verbose {name}={example}` sets it. Read by "
            "{readers} {when}.",
            name=knob.name,
            does=knob.does,
            values=knob.values,
            example=knob.example,
            readers=listed(readers),
            when=when,
        ),
        *([say("Later: `{code}`.", code=knob.instead)] if knob.instead else []),
        say("Source: {source}.", source=knob.source),
    )


def first_cell(settings: Mapping[str, str]) -> str:
    """Return the cell to run first after a restart."""
    lines = [f"os.environ[{name!r}] = {value!r}" for name, value in settings.items()]
    return "\n".join(["import os", *lines, "%load_ext jupyter_mlgpu"])


def _refuse_too_late(
    words: str, wanted: Mapping[str, str], loaded: frozenset[str], in_time: Mapping[str, str]
) -> None:
    """Raise RestartNeededError if a framework has already read a variable, with another value."""
    knobs = [KNOBS[name] for name, value in wanted.items() if in_time.get(name) != value]
    late = [knob for knob in knobs if knob.framework in loaded and knob.read == "import"]
    if not late:
        return
    names = _titles({knob.framework for knob in late})
    why = say("{names} is already imported and has read its settings, so nothing was changed.", names=names)
    if words in _LEVEL_NOTES:
        why = joined(why, _LEVEL_NOTES[words])
    for knob in late:
        if knob.instead:
            why = say("{why}\nWithout a restart: `{code}`", why=why, code=knob.instead)
    raise RestartNeededError(
        why,
        say(
            "Restart the kernel, run this cell first and then the others up to here:\n\n{code}",
            code=first_cell(wanted),
        ),
        verbose=words,
    )


def _setting_note(words: str, wanted: Mapping[str, str], loaded: frozenset[str]) -> Sentence:
    settings = say("Set {settings}.", settings=listed([f"{name}={value}" for name, value in wanted.items()]))
    return below(
        joined(settings, _LEVEL_NOTES[words]) if words in _LEVEL_NOTES else settings,
        *_when_read([KNOBS[name] for name in wanted], loaded),
        say("`%mlc_trace verbose off` undoes this."),
    )


def _when_read(knobs: Iterable[Knob], loaded: frozenset[str]) -> list[Sentence]:
    """Return sentences on when the variables that were set will be read."""
    lines = []
    for knob in knobs:
        if knob.also in loaded:
            lines.append(
                say(
                    "{framework} is already imported and keeps its {name} until a restart.",
                    framework=FRAMEWORKS[knob.also],
                    name=knob.name,
                )
            )
        if knob.framework == "fork":
            lines.append(
                say("Only Apple's fork reads {name}, in the Python 3.8 that runs it.", name=knob.name)
            )
        elif knob.read == "first use" and (knob.framework in loaded or knob.framework == "nccl"):
            lines.append(
                say(
                    "{framework} reads {name} at its first use: if it has been used, restart the kernel.",
                    framework=FRAMEWORKS[knob.framework],
                    name=knob.name,
                )
            )
    return lines


def _titles(frameworks: Iterable[str]) -> Sentence:
    return listed(sorted(FRAMEWORKS[name] for name in frameworks))
