"""rattler-build reads the recipe, and makes one package of it that fits every system."""

from __future__ import annotations

import pytest

from constraints import ROOT

rattler_build = pytest.importorskip("rattler_build", reason="rattler-build is not installed here")
RECIPE = ROOT / "conda.recipe"


def test_the_recipe_becomes_one_package_for_every_system_and_python() -> None:
    recipe = rattler_build.Stage0Recipe.from_file(str(RECIPE / "recipe.yaml"))
    (rendered,) = recipe.render(rattler_build.VariantConfig.from_file(str(RECIPE / "variants.yaml")))
    made = rendered.recipe.to_dict()
    assert made["package"]["name"] == "jupyter_mlgpu"
    assert made["build"]["noarch"] == "python"
    assert "python >=3.11" in made["requirements"]["run"]
    assert "python 3.11.*" in made["requirements"]["host"]
    assert any("lessons" in command for test in made["tests"] for command in test.get("script", ()))
