"""Each catalogue of jupyter_mlgpu/record/locale has what the sources say, all of it translated."""

import ast
import re

import catalogues
import pytest

FIELD = re.compile(r"\{(\w+)\}")


@pytest.fixture(params=catalogues.catalogues(), ids=lambda path: path.parts[-3])
def path(request):
    return request.param


def test_a_catalogue_has_what_the_sources_say_and_nothing_else(path):
    assert catalogues.text(catalogues.updated(catalogues.read(path))) == path.read_text(encoding="utf-8"), (
        "run `make catalogues`"
    )


def test_everything_is_translated(path):
    assert catalogues.untranslated(catalogues.read(path)) == []


def test_a_translation_has_fields_of_its_template_alone(path):
    assert [wrong for one in catalogues.read(path) if one.id and (wrong := strange_fields(one))] == []


def strange_fields(message):
    templates = (message.id,) if isinstance(message.id, str) else message.id
    forms = (message.string,) if isinstance(message.string, str) else message.string
    known = {name for one in templates for name in FIELD.findall(one)}
    return [f"{form}: {found}" for form in forms if (found := set(FIELD.findall(form)) - known)]


def test_templates_are_found_where_they_are_said():
    source = 'say("One {thing}" " more.", thing=1); other.say("not this"); say_count("a", "{count} b", 2)'
    found = [catalogues.templates(node) for node in ast.walk(ast.parse(source))]
    assert [one for one in found if one] == [("One {thing} more.", None), ("a", "{count} b")]


def test_a_template_that_is_made_when_it_is_said_is_refused():
    with pytest.raises(ValueError, match="line 1: a template must stand in the call"):
        catalogues.templates(ast.parse('say(f"It was {why}.")', mode="eval").body)
