"""TF_USE_LEGACY_KERAS selects Keras 2, the package tf-keras; without that package, `tf.keras` fails.

Source: huggingface/transformers#40391 ("Your environment has TF_USE_LEGACY_KERAS set to True, but you do not
have the tf_keras package installed").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, installed, known
from jupyter_mlgpu.explain.doctor.remedies import as_written, comment, run
from jupyter_mlgpu.explain.doctor.versions import minor
from jupyter_mlgpu.record.sentence import say

TITLE = say("Keras 2 is installed if requested")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the variable is set and the package is missing."""
    value = known(facts.environment.variables).get("TF_USE_LEGACY_KERAS", "")
    packages = known(facts.packages)
    if value.lower() not in ("1", "true"):
        return Fine(say("Keras 2 is not requested."))
    installed(facts, "tensorflow")
    if "tf-keras" in packages:
        return Fine(
            say(
                "Keras 2 is requested, and tf-keras {version} is installed.",
                version=packages["tf-keras"].version,
            )
        )
    here = minor(packages["tensorflow"].version)
    return Finding(
        title=say("Keras 2 is requested but not installed."),
        evidence=say("TF_USE_LEGACY_KERAS is {value}, but tf-keras is not installed.", value=value),
        remedy=as_written("unset TF_USE_LEGACY_KERAS")
        + comment("Or, for Keras 2", run("pip", "install", f"tf-keras=={here}.*")),
        confidence="sure",
        cause=Cause.SETTINGS,
    )
