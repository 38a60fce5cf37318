"""A framework needs cuDNN of its own major version, at least as new as the one that it was built with.

Sources: google-research/deeplab2#66 and tensorflow/tensorflow#60913 ("Loaded runtime CuDNN library: 8.0.4 but
source was compiled with: 8.1.0"). An older one in LD_LIBRARY_PATH is found by `cuda_library_path`.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import Remedy, run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import Sentence, say

TITLE = say("cuDNN matches the frameworks")


def judge(facts: Facts) -> Verdict:
    """Return a finding if PyTorch's cuDNN wheel is too old, or TensorFlow's major version is absent."""
    nvidia.require_gpu(facts)
    packages = known(facts.packages)
    pinned = nvidia.pins(packages["torch"]) if "torch" in packages else {}
    for name, wanted in pinned.items():
        if "cudnn" in name and name in packages and older(packages[name].version, wanted):
            evidence = say(
                "PyTorch was built with cuDNN {wanted}, but {name} {version} is installed.",
                wanted=wanted,
                name=name,
                version=packages[name].version,
            )
            return _finding(evidence, run("pip", "install", f"{name}=={wanted}"))
    libraries = [one for one in known(facts.libraries) if one.name == "libcudnn"]
    built = known_or(facts.builds, {}).get("tensorflow")
    wanted_major = nvidia.major(known_or(built.cudnn, None) or "") if built else 0
    majors = {nvidia.major(version) for one in libraries if (version := known_or(one.version, None))}
    if "tensorflow" in packages and wanted_major and majors and wanted_major not in majors:
        evidence = say(
            "TensorFlow was built with cuDNN {wanted}, but {version} was found.",
            wanted=wanted_major,
            version=max(majors),
        )
        version = packages["tensorflow"].version
        return _finding(evidence, run("pip", "install", f"tensorflow[and-cuda]=={version}"))
    return Fine(say("No cuDNN found is older than the frameworks need."))


def _finding(evidence: Sentence, remedy: Remedy) -> Finding:
    return Finding(
        title=say("cuDNN does not match a framework, so convolutions fail."),
        evidence=evidence,
        remedy=remedy,
        confidence="sure",
        cause=Cause.DRIVERS,
    )
