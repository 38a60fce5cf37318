"""A table of versions that do not work together, and the code that judges them.

Each row of PAIRS is a check with its own id and title, as the modules in `checks/` are. It judges versions of
packages, and of the programs that `_version` names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from jupyter_mlgpu.explain.doctor.check import (
    Cause,
    Confidence,
    Facts,
    Finding,
    Fine,
    Skipped,
    Verdict,
    installed,
    known,
    known_or,
)
from jupyter_mlgpu.explain.doctor.maybe import NotKnownError, Unknown
from jupyter_mlgpu.explain.doctor.metal import APPLES, communitys
from jupyter_mlgpu.explain.doctor.remedies import NOTHING, Remedy, as_written, run
from jupyter_mlgpu.explain.doctor.versions import minor, older, within
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Titles of packages in sentences, if different from their names.
_TITLES = {"keras": "Keras", "numpy": "NumPy", "tensorflow": "TensorFlow", "torch": "PyTorch"}
_FRONT_END = "The front end"


@dataclass(frozen=True, slots=True)
class Clash:
    """Two versions that do not work together, such as `protobuf>=4` and `tensorflow<2.12`.

    In `part` and `install`, {version} and {minor} stand for the version of `other` and its first two numbers,
    {least} for the oldest `part` that `other` requires. `install` lists what pip should install, `note` is
    the end of the evidence.
    """

    part: str
    other: str
    install: tuple[str, ...] = ()
    confidence: Confidence = "sure"
    note: Sentence | None = None

    def find_pair(self, facts: Facts) -> InstalledPair:
        """Return both installed versions and if they clash; raises NotKnownError if one is not known."""
        name, other_name = _name(self.part), _name(self.other)
        other, part = _version(facts, other_name), _version(facts, name)
        values = {"version": other, "minor": minor(other), "least": _least(facts, name, other_name)}
        evidence = say(
            "{part} is installed alongside {other}.",
            part=f"{_TITLES.get(name, name)} {part}",
            other=f"{_TITLES.get(other_name, other_name)} {other}",
        )
        clash = within(other, self.other) and within(part, self.part.format(**values))
        return InstalledPair(self, clash, evidence, [one.format(**values) for one in self.install])


class InstalledPair(NamedTuple):
    """Two installed versions, and the result of comparing them with a rule."""

    rule: Clash
    clash: bool
    evidence: Sentence
    install: Sequence[str]


@dataclass(frozen=True, slots=True)
class VersionPair:
    """A check of the table.

    `about` is its paragraph in the documentation. `title` is true if all is well, `wrong` if versions clash.
    `remedy` follows the installation by pip. `skip` may return a reason to skip a machine. `adapt` may change
    a finding, given the names of the parts that clash.
    """

    id: str
    about: str
    title: Sentence
    wrong: Sentence
    clashes: tuple[Clash, ...]
    remedy: Remedy = NOTHING
    cause: Cause = Cause.PACKAGES
    skip: Callable[[Facts], Sentence | None] | None = None
    adapt: Callable[[Facts, Finding, Sequence[str]], Finding] | None = None

    def judge(self, facts: Facts) -> Verdict:
        """Return one finding with all clashes; raises NotKnownError if no two versions are known."""
        if self.skip is not None and (reason := self.skip(facts)) is not None:
            return Skipped(reason)
        pairs: list[InstalledPair] = []
        for clash in self.clashes:
            try:
                pairs.append(clash.find_pair(facts))
            except NotKnownError as error:
                missing = error
        if not pairs:
            raise missing
        wrong = [pair for pair in pairs if pair.clash]
        if not wrong:
            return Fine(joined(*(pair.evidence for pair in pairs)))
        notes = [pair.rule.note for pair in wrong if pair.rule.note is not None]
        install = dict.fromkeys(requirement for pair in wrong for requirement in pair.install)
        finding = Finding(
            title=self.wrong,
            evidence=joined(*(pair.evidence for pair in wrong), *notes),
            remedy=(run("pip", "install", *install) if install else NOTHING) + self.remedy,
            confidence=wrong[0].rule.confidence,
            cause=self.cause,
        )
        return (
            self.adapt(facts, finding, [_name(pair.rule.part) for pair in wrong]) if self.adapt else finding
        )


def _name(requirement: str) -> str:
    return re.split("[<>=!]", requirement, maxsplit=1)[0]


def _version(facts: Facts, name: str) -> str:
    beside_packages = {
        "Python": facts.python.version,
        "pip": facts.python.pip,
        "macOS": facts.machine.macos,
        "jupyter_mlgpu": facts.jupyter.package,
        _FRONT_END: facts.jupyter.labextension,
    }
    version = known(beside_packages[name]) if name in beside_packages else installed(facts, name)[0].version
    if version is None:
        raise NotKnownError(Unknown(say("{name} is not installed.", name=name)))
    return version


def _least(facts: Facts, name: str, other: str) -> str:
    """Return the oldest version of a package that another one requires, or 0 if it names none."""
    package = known_or(facts.packages, {}).get(other)
    lines = () if package is None else known_or(package.requires, ())
    matches = (re.match(rf"{re.escape(name)}\b.*>=\s*([\d.]+)", line) for line in lines)
    return next((match[1] for match in matches if match), "0")


def _later_tensorflow(facts: Facts) -> Sentence | None:
    # The check `metal-plugin-version` judges these.
    if older(_version(facts, "tensorflow"), "2.20"):
        return None
    return say("tensorflow-metal cannot load into this TensorFlow.")


def _no_plugin_expected(facts: Facts) -> Sentence | None:
    if known(facts.machine.system) != "Darwin" or known(facts.machine.architecture) != "arm64":
        return say("This is not a Mac with Apple silicon.")
    return communitys(known(facts.packages))


def _beside_the_communitys(facts: Facts, finding: Finding, names: Sequence[str]) -> Finding:
    theirs = communitys(known(facts.packages))
    if theirs is None:
        return finding
    return replace(
        finding,
        title=say(
            "Apple's Metal plug-in, installed alongside the community's, cannot load into this TensorFlow."
        ),
        evidence=joined(finding.evidence, theirs),
        remedy=run("pip", "uninstall", "-y", APPLES),
    )


def _where_numpy_2_is_required(facts: Facts, finding: Finding, names: Sequence[str]) -> Finding:
    # Without NumPy 2 another package would fail, so the frameworks must be upgraded instead.
    lines = (line for one in known(facts.packages).values() for line in known_or(one.requires, ()))
    if not any(re.match(r"numpy>=2\b", line) for line in lines):
        return finding
    return replace(finding, remedy=run("pip", "install", "--upgrade", *names))


_MLX = registry.framework("mlx")
#: The newest pair with Apple's plug-in that works.
_METAL_PAIR = ("tensorflow==2.19.1", "tensorflow-metal==1.2.0")

PAIRS = (
    # tensorflow/tensorflow#50196 (`-[MPSGraph adamUpdateWithLearningRateTensor...]: unrecognized selector`).
    VersionPair(
        "metal-macos",
        about="tensorflow-metal calls routines of macOS 12; on macOS 11 the kernel dies at the first "
        "training step.",
        title=say("macOS is new enough for the Metal plug-in"),
        wrong=say("This macOS is too old for tensorflow-metal: training would crash the kernel."),
        clashes=(Clash("tensorflow-metal", "macOS<12", note=say("The plug-in needs macOS 12 or newer.")),),
        remedy=as_written(
            "softwareupdate --list\n# Or, to train on the CPU: pip uninstall -y tensorflow-metal"
        ),
        cause=Cause.MACHINE,
    ),
    # The wheels on the package index (1.2.0: CPython 3.9 to 3.12); svpino/apple-silicon#1 and #2 for the same
    # with an earlier pair of Python and plug-in.
    VersionPair(
        "metal-python",
        about="tensorflow-metal has no wheels for Python 3.13 or newer, so TensorFlow stays on the CPU "
        "there.",
        title=say("A Metal plug-in supports this version of Python"),
        wrong=say("No tensorflow-metal supports this Python, so TensorFlow has no GPU."),
        clashes=(
            Clash("tensorflow", "Python>=3.13", note=say("The plug-in was built for Python 3.9 to 3.12.")),
        ),
        remedy=as_written(
            "brew install python@3.12\n"
            '"$(brew --prefix)/bin/python3.12" -m venv ~/mlgpu\n'
            '~/mlgpu/bin/pip install "jupyter_mlgpu[metal]"'
        ),
        cause=Cause.PYTHON,
        skip=_no_plugin_expected,
    ),
    # apple/tensorflow_macos#46 and #61; PEP 600 and pip's changelog, 20.3.
    VersionPair(
        "pip-too-old",
        about="pip before 20.3 knows neither wheels for macOS 11 and newer nor those of manylinux_2_28.",
        title=say("pip supports current wheels"),
        wrong=say("pip is too old to find current wheels, so it builds from source or gives up."),
        clashes=(
            Clash(
                "pip<20.3",
                "Python",
                note=say("Wheels for macOS 11 and manylinux_2_28 need pip 20.3."),
            ),
        ),
        remedy=as_written("python -m pip install --upgrade pip"),
        cause=Cause.PYTHON,
    ),
    # tensorflow/tensorflow#126360, and the wheels themselves: of the 69 symbols that 1.2.0 needs, TensorFlow
    # 2.18.1 and 2.19.1 export all, 2.20 and newer lack 8.
    VersionPair(
        "metal-plugin-version",
        about="tensorflow-metal 1.2.0 is linked to symbols that TensorFlow 2.20 and newer no longer export.",
        title=say("TensorFlow can load its Metal plug-in"),
        wrong=say("tensorflow-metal cannot load into this TensorFlow, so TensorFlow has no GPU."),
        clashes=(
            Clash(
                "tensorflow-metal",
                "tensorflow>=2.20",
                _METAL_PAIR,
                note=say("TensorFlow 2.20 and newer lack symbols that the plug-in needs."),
            ),
        ),
        adapt=_beside_the_communitys,
    ),
    # tensorflow/models#10617 (`symbol not found in flat namespace '_TF_AllocateOutput'`); Apple's page "Get
    # started with tensorflow-metal", whose table begins 1.1 with TensorFlow 2.14 and 1.2 with 2.18.
    VersionPair(
        "metal-plugin-pair",
        about="An older or newer plug-in than TensorFlow's own lacks, or looks for, functions that the other "
        "side has not.",
        title=say("The Metal plug-in matches TensorFlow"),
        wrong=say(
            "The versions of tensorflow-metal and TensorFlow do not match, so they do not load together."
        ),
        clashes=(
            Clash("tensorflow-metal<1.1", "tensorflow>=2.14", _METAL_PAIR),
            Clash("tensorflow-metal>=1.1,<1.2", "tensorflow<2.14", _METAL_PAIR, "likely"),
            Clash("tensorflow-metal>=1.2", "tensorflow<2.18", _METAL_PAIR, "likely"),
        ),
        skip=_later_tensorflow,
    ),
    # keras-team/keras#19069, tensorflow/tensorflow#62825, keras-team/tf-keras#756.
    VersionPair(
        "keras-tensorflow",
        about="Keras 3 belongs to TensorFlow 2.16 and newer, tf-keras (Keras 2) to the TensorFlow of its own "
        "number.",
        title=say("Keras matches TensorFlow"),
        wrong=say("The versions of Keras and TensorFlow do not match."),
        clashes=(
            Clash("tf-keras!={minor}.*", "tensorflow", ("tf-keras=={minor}.*",)),
            # Keras 3 itself can be imported with an older TensorFlow, but `tf.keras` is then another Keras.
            Clash("keras>=3", "tensorflow<2.16", ("keras=={minor}.*",), "likely"),
            Clash("keras<3", "tensorflow>=2.16", ("keras>=3.5",)),
        ),
    ),
    # keras-team/keras-hub#2159 (`undefined symbol: _ZN3tsl5mutexC1Ev` from TensorFlow 2.19 with an older
    # one); tensorflow/text#1541 and keras-team/keras-hub#2979 (2.21.0 itself cannot be imported).
    VersionPair(
        "tensorflow-text",
        about="tensorflow-text is linked to the TensorFlow of its own number, and loads into no other.",
        title=say("tensorflow-text matches TensorFlow's version"),
        wrong=say("tensorflow-text cannot load into this TensorFlow."),
        clashes=(
            Clash("tensorflow-text!={minor}.*,!=2.21.0", "tensorflow", ("tensorflow-text=={minor}.*",)),
            Clash(
                "tensorflow-text==2.21.0",
                "tensorflow",
                ("tensorflow==2.19.1", "tensorflow-text==2.19.0"),
                note=say("tensorflow-text 2.21.0 itself lacks a symbol."),
            ),
        ),
    ),
    # tensorflow/tensorflow#56266 and #59665 ("Descriptors cannot be created directly": before 2.12 with
    # protobuf 4), #94030 and #109469 ("'MessageFactory' object has no attribute 'GetPrototype'": before 2.20
    # with protobuf 6); TensorFlow's own requirement is protobuf 5.28 or newer from 2.20 on, and 6.31.1 or
    # newer from 2.21 on.
    VersionPair(
        "protobuf-tensorflow",
        about="TensorFlow's generated protobuf code fits certain versions of the protobuf package only.",
        title=say("protobuf matches TensorFlow"),
        wrong=say("This protobuf does not match TensorFlow: importing TensorFlow fails or floods the cell."),
        clashes=tuple(
            Clash(part, other, (wanted,), note=say("TensorFlow needs {wanted}.", wanted=wanted))
            for part, other, wanted in (
                ("protobuf>=4", "tensorflow<2.12", "protobuf>=3.20,<3.21"),
                ("protobuf>=6", "tensorflow>=2.12,<2.20", "protobuf>=3.20.3,<6"),
                ("protobuf<5.28", "tensorflow>=2.20,<2.21", "protobuf>=5.28"),
                ("protobuf<6.31", "tensorflow>=2.21", "protobuf>=6.31.1"),
            )
        ),
    ),
    # `make test-versions`; 0.29 and 0.30 lack `device_count` and `synchronize` of a device. For PyTorch and
    # JAX only the first receipt says the same: an old one may be there for a reason, such as jax-metal.
    VersionPair(
        "mlx-version",
        about="Receipts need functions of MLX that older versions lack. Cells run all the same.",
        title=say("MLX is new enough for receipts"),
        wrong=say("MLX is too old for receipts: they do not say where it ran."),
        # Its parts are of one version.
        clashes=tuple(
            Clash(
                f"{part}<{_MLX.oldest}",
                "jupyter_mlgpu",
                (f"{part}>={_MLX.oldest}",),
                note=say("Receipts need MLX {oldest} or newer.", oldest=_MLX.oldest or ""),
            )
            for part in _MLX.packages
        ),
    ),
    # tensorflow/tensorflow#102743 and #72888; pycroscopy/pyAutoMic#9 (torch 2.2). First versions for NumPy 2:
    # their release notes.
    VersionPair(
        "numpy-abi",
        about="Packages compiled for NumPy 1 cannot be imported with NumPy 2.",
        title=say("NumPy matches the frameworks"),
        wrong=say("NumPy 2 is installed alongside a framework compiled for NumPy 1."),
        clashes=(
            Clash("tensorflow<2.18", "numpy>=2", ("numpy<2",)),
            Clash("torch<2.3", "numpy>=2", ("numpy<2",)),
            Clash("jaxlib<0.4.26", "numpy>=2", ("numpy<2",)),
        ),
        adapt=_where_numpy_2_is_required,
    ),
    # jax-ml/jax#17638, google-deepmind/alphafold#1064 ("jaxlib version ... is newer than and incompatible
    # with jax version").
    VersionPair(
        "jaxlib-version",
        about="jaxlib is compiled for jax of its own version; jax refuses a newer one, and its requirement "
        "an older one.",
        title=say("jaxlib matches jax"),
        wrong=say("jax and jaxlib do not match, so JAX cannot be imported."),
        clashes=(
            Clash("jaxlib>{version}", "jax", ("jax=={version}", "jaxlib=={version}")),
            Clash("jaxlib<{least}", "jax", ("jax=={version}", "jaxlib=={version}")),
        ),
    ),
    # jax-ml/jax#24901 (a newer plug-in ends in a segmentation fault), ma-gilles/recovar#64.
    VersionPair(
        "jax-plugin-version",
        about="JAX's CUDA plug-in must be of jax's own version; another one crashes, or is refused with a "
        "warning.",
        title=say("jax and its CUDA plug-in have the same version"),
        wrong=say("jax and its CUDA plug-in have different versions."),
        clashes=tuple(
            Clash(f"{name}!={{version}}", "jax", (f"{name}=={{version}}",))
            for name in ("jax-cuda12-pjrt", "jax-cuda12-plugin", "jax-cuda13-pjrt", "jax-cuda13-plugin")
        ),
    ),
    # jax-ml/jax#27062 ("UNIMPLEMENTED: default_memory_space is not supported"; 0.5.0 works, 0.5.1 does not),
    # patrick-kidger/diffrax#659.
    VersionPair(
        "jax-metal",
        about="jax-metal 0.1.1, the last one, serves jax before 0.5.1.",
        title=say("jax is old enough for jax-metal"),
        wrong=say("jax-metal does not work with this version of jax: creating any array fails."),
        clashes=(
            Clash("jax-metal", "jax>=0.5.1", note=say("The last version of jax that it supports is 0.5.0.")),
        ),
        remedy=as_written(
            "pip uninstall -y jax-metal\n"
            "pip install --upgrade jax-mps jax jaxlib\n"
            "# jax-mps needs Python 3.12 or newer. Without it, JAX runs on the CPU."
        ),
    ),
    # jupyterlab/jupyterlab-git#923 and #861, StatCan/aaw-kubeflow-containers#93.
    VersionPair(
        "versions-differ",
        about="Front end and kernel of two versions do not understand each other.",
        title=say("The package and the front end have the same version"),
        wrong=say("The front end in JupyterLab and the package have different versions."),
        clashes=(
            Clash(
                f"{_FRONT_END}!={{version}}",
                "jupyter_mlgpu",
                ("--force-reinstall", "--no-deps", "jupyter_mlgpu=={version}"),
            ),
        ),
        remedy=as_written("# Then restart JupyterLab and reload the page."),
        cause=Cause.JUPYTER,
    ),
)
