"""rattler-build reads the recipe, and makes one package of it that fits every system."""

from __future__ import annotations

from binder_image import ROOT
from rattler_build import Stage0Recipe, VariantConfig

RECIPE = ROOT / "conda.recipe"


def test_the_recipe_becomes_one_package_for_every_system_and_python() -> None:
    recipe = Stage0Recipe.from_file(str(RECIPE / "recipe.yaml"))
    (rendered,) = recipe.render(VariantConfig.from_file(str(RECIPE / "variants.yaml")))
    made = rendered.recipe.to_dict()
    assert made["package"]["name"] == "jupyter_mlgpu"
    assert made["build"]["noarch"] == "python"
    assert "python >=3.11" in made["requirements"]["run"]
    assert "python 3.11.*" in made["requirements"]["host"]
    assert any("lessons" in command for test in made["tests"] for command in test.get("script", ()))
