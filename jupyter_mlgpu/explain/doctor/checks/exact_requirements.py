"""A package that was compiled against one version of a framework requires it, and fails with any other.

pip warns of it once during the installation and goes on. Sources: pytorch/vision#8985 and #2148 ("operator
torchvision::nms does not exist": torchvision of another PyTorch).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.facts import Package
from jupyter_mlgpu.explain.doctor.remedies import comment, run
from jupyter_mlgpu.record.sentence import joined, say, say_count

TITLE = say("Packages have the frameworks that they require")

#: Any version of these that does not fit is reported; for others, only if an exact version is required.
_FRAMEWORKS = frozenset({"jax", "jaxlib", "keras", "mlx", "mlx-metal", "tensorflow", "torch"})
#: Packages whose requirements have their own checks.
_JUDGED_ELSEWHERE = re.compile(r"jax|jaxlib|jax-metal|tensorflow.*|tf-keras")


def judge(facts: Facts) -> Verdict:
    """Return one finding with all packages that require another version of an installed package."""
    packages = known(facts.packages)
    try:
        wrong = list(_wrong(packages))
    except ImportError:
        return Skipped(say("{name} is not installed.", name="packaging"))
    if not wrong:
        return Fine(
            say_count(
                "{count} package has the versions that it requires.",
                "{count} packages have the versions that they require.",
                len(packages),
            )
        )
    listed = [
        say(
            "{name} {version} requires {wanted}, but {other} {found} is installed.",
            name=name,
            version=packages[name].version,
            wanted=wanted,
            other=other,
            found=packages[other].version,
        )
        for name, other, wanted in wrong
    ]
    # A local part such as +cu128 is not on the package index.
    current = {f"{other}=={packages[other].version.partition('+')[0]}": None for _, other, _ in wrong}
    remedy = run("pip", "install", "--upgrade", *current, *dict.fromkeys(name for name, _, _ in wrong))
    for name, other, wanted in wrong:
        remedy += comment(
            f"Or {other} as {name} {packages[name].version} has it", run("pip", "install", wanted)
        )
    return Finding(
        title=say("Two packages do not belong together: one requires another version of the other."),
        evidence=joined(*listed),
        remedy=remedy,
        confidence="sure",
        cause=Cause.PACKAGES,
    )


def _wrong(packages: Mapping[str, Package]) -> Iterator[tuple[str, str, str]]:
    """Yield each package with an unmet requirement, the other package's name, and the requirement."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import InvalidVersion

    for name, package in sorted(packages.items()):
        for line in () if _JUDGED_ELSEWHERE.fullmatch(name) else known_or(package.requires, ()):
            try:
                wanted = Requirement(line)
                other = packages.get(wanted.name)
                exact = any(one.operator in ("==", "===") for one in wanted.specifier)
                if other is None or not _is_judged_here(name, wanted.name, exact):
                    continue
                if not wanted.specifier.contains(other.version, prereleases=True):
                    yield name, wanted.name, line
            except (InvalidRequirement, InvalidVersion):
                continue


def _is_judged_here(name: str, other: str, exact: bool) -> bool:
    """Return True unless another check judges this pair: CUDA's wheels and JAX's CUDA plug-ins."""
    if other.startswith("nvidia-") or (name.startswith("jax-cuda") and other.startswith("jax-cuda")):
        return False
    return exact or other in _FRAMEWORKS
