"""The browser reads what Python sends as Python's types say it: its readers are made of them."""

import pytest
import readers

FILES = {str(path.relative_to(readers.BROWSER)): (path, text) for path, text in readers.written()}


@pytest.mark.parametrize("name", FILES)
def test_the_browsers_readers_are_those_of_the_types_in_python(name):
    path, text = FILES[name]
    assert path.read_text(encoding="utf-8") == text, "run `make schemas`"
