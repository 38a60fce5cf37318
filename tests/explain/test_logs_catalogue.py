"""The catalogue: every file is right, people's messages are known, and ordinary lines are left alone."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_mlgpu.explain.logs import placement
from jupyter_mlgpu.explain.logs.catalogue import (
    FOLDER,
    LANGUAGES,
    VERDICTS,
    Catalogue,
    Definition,
    read_definitions,
)
from jupyter_mlgpu.explain.logs.parse import Message
from jupyter_mlgpu.explain.logs.stream import messages
from tests.support import message_checks

CATALOGUE = Catalogue.load()
ORDINARY = (Path(__file__).parents[1] / "data" / "ordinary_lines.txt").read_text(encoding="utf-8")


def test_every_file_is_right():
    wrong = [
        f"{definition.path.name}: {complaint}"
        for definition in CATALOGUE.definitions.values()
        for complaint in message_checks.complaints(definition, CATALOGUE)
    ]
    assert wrong == []


def test_a_message_of_several_frameworks_names_the_one_whose_functions_it_advises():
    unnamed = {
        definition.id: sentence
        for definition in CATALOGUE.definitions.values()
        if re.search("JAX|PyTorch|MLX|any library", definition.tables["versions"])
        for sentence in re.split(r"(?<=[.;]) ", definition.tables["en"]["advice"])
        if re.search(r"\btf\.|jit_compile|model\.fit", sentence)
        and not re.search("TensorFlow|Keras", sentence)
    }
    assert unnamed == {}


@pytest.mark.parametrize(
    ("message", "names"),
    [
        (r"(torch|jax|mlx)/", r"\btf\.|jit_compile|model\.fit|set_memory_growth"),
        (r"(mlx/mlx-|torch/torch-mps-)", r"nvidia-smi|torch\.cuda"),
        (r"(metal|mlx)/", "nvidia-smi"),
        (r"torch/", r"\bmx\.|\bjax\.|\bjnp\."),
        (r"jax/", r"\bmx\.|\btorch\."),
        (r"mlx/", r"\btorch\.|\bjax\."),
    ],
)
def test_advice_on_a_frameworks_message_names_no_functions_of_another(message, names):
    found = {
        definition.id: definition.tables["en"]["advice"]
        for definition in CATALOGUE.definitions.values()
        if re.match(message, definition.path.relative_to(FOLDER).as_posix())
        and not definition.id.startswith("triton-")  # PyTorch and JAX both compile with Triton
        and re.search(names, definition.tables["en"]["advice"])
    }
    assert found == {}


def test_there_are_many_messages_each_with_a_name_of_its_own():
    assert len(CATALOGUE.definitions) >= 150
    assert len(CATALOGUE.definitions) == len(list(FOLDER.rglob("*.toml")))


def test_every_message_has_both_languages_and_a_verdict():
    for definition in CATALOGUE.definitions.values():
        assert definition.verdict in VERDICTS
        assert set(LANGUAGES) <= set(definition.tables)


@pytest.mark.parametrize("seed", message_checks.SEEDS)
def test_messages_people_saw_get_their_verdict(seed):
    wrong = {template["id"] for template, *_ in message_checks.disagreements(CATALOGUE, seed)}
    assert len(wrong) <= 0.05 * len(message_checks.templates())
    argued = message_checks.argued(CATALOGUE)
    assert wrong <= argued.keys(), "each needs its [[disagreements]] in a message's file"


def test_an_argued_disagreement_is_one():
    wrong = {template["id"] for template, *_ in message_checks.disagreements(CATALOGUE, 1)}
    assert message_checks.argued(CATALOGUE).keys() <= wrong


def test_filling_a_template_gives_fresh_values_and_keeps_braces():
    template = "{ts}: {float}GiB {{{{node x}}}} {int} {bus}"
    first, second = (message_checks.filled(template, random.Random(seed)) for seed in (1, 2))
    assert first != second
    assert "{{node x}}" in first


def test_there_are_enough_ordinary_lines():
    assert len([line for line in ORDINARY.splitlines() if line.strip()]) >= 300


def test_no_ordinary_line_is_explained():
    explained = {
        line: known.id
        for line in ORDINARY.split("\n")
        for _, known in messages([line.encode()], CATALOGUE)
        if known
    }
    assert explained == {}


def test_no_ordinary_line_is_explained_among_the_others():
    found = messages([ORDINARY.encode()], CATALOGUE)
    assert {message.text: known.id for message, known in found if known} == {}


def test_the_placement_messages_exist():
    for name in placement.MESSAGES:
        for pattern in CATALOGUE.definitions[name].patterns:
            assert {"operation", "device"} <= pattern.slots.keys()


def test_importing_the_catalogue_reads_nothing():
    code = (
        "import jupyter_mlgpu.explain.logs.reader; from jupyter_mlgpu.explain.logs import catalogue;"
        "print(catalogue._load.cache_info().misses)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


# How a catalogue works, on small ones.


def catalogue_of(tmp_path: Path, **files: str) -> Catalogue:
    folder = tmp_path / "family"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return Catalogue(read_definitions(tmp_path))


def entry(*patterns: str, more: str = "", tables: str = "") -> str:
    return (
        f'patterns = {list(patterns)}\nverdict = "info"\n{more}\nexamples = []\n{tables}\n'
        '[en]\nmeaning = "It is {{so}}."\nadvice = "None."\n[zh]\nmeaning = "如此。"\nadvice = "无。"\n'
    )


def names(catalogue: Catalogue, body: str, origin: str | None = None) -> str | None:
    known = catalogue.explain(Message(body, body, origin))
    return known.id if known else None


def test_the_most_literal_match_is_meant(tmp_path):
    catalogue = catalogue_of(tmp_path, some=entry("Loaded {what} now"), one=entry("Loaded cuDNN now"))
    assert names(catalogue, "Loaded cuDNN now") == "one"
    assert names(catalogue, "Loaded cuBLAS now") == "some"
    known = catalogue.explain_all(Message("", "Loaded cuDNN now"))
    assert [each.id for each in known] == ["one", "some"]


def test_a_message_may_be_known_by_its_source_alone(tmp_path):
    catalogue = catalogue_of(tmp_path, row=entry("{n:int}: {cells}", more="sources = ['gpu_device.cc']"))
    assert names(catalogue, "0:   N Y", "gpu_device.cc") == "row"
    assert names(catalogue, "0:   N Y", "other.cc") is None
    assert names(catalogue, "0:   N Y") is None


def test_a_long_text_is_known_without_its_prefix_a_short_one_is_not(tmp_path):
    long = "Not creating XLA devices, tf_xla_enable_xla_devices not set"
    catalogue = catalogue_of(
        tmp_path,
        long=entry(long, more="sources = ['xla_gpu_device.cc']"),
        short=entry("Shuffle buffer filled", more="sources = ['shuffle_dataset_op.cc']"),
    )
    assert names(catalogue, long) == names(catalogue, long, "xla_gpu_device.cc") == "long"
    assert names(catalogue, long, "other.cc") is None
    assert names(catalogue, "Shuffle buffer filled") is None


def test_only_the_beginning_of_a_long_message_is_compared(tmp_path):
    catalogue = catalogue_of(tmp_path, late=entry("{*} the very end"))
    assert names(catalogue, "so is the very end") == "late"
    assert names(catalogue, "x" * 9000 + " the very end") is None


def test_texts_come_in_both_languages_with_their_braces(tmp_path):
    catalogue = catalogue_of(tmp_path, one=entry("Loaded cuDNN"))
    known = catalogue.explain(Message("", "Loaded cuDNN"))
    assert known is not None
    assert (known.meaning(), known.meaning("zh"), known.advice("zh")) == ("It is {so}.", "如此。", "无。")


def test_a_fact_whose_field_a_wording_lacks_is_left_out(tmp_path):
    text = entry("Loaded cuDNN {v}", "Found cuDNN", tables='[facts]\ncudnn_version = "{v}"')
    catalogue = catalogue_of(tmp_path, one=text)
    found = [catalogue.explain(Message("", body)) for body in ("Loaded cuDNN 9", "Found cuDNN")]
    assert [dict(known.facts) for known in found if known] == [{"cudnn_version": "9"}, {}]


def test_a_wrong_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"bad\.toml.*no type"):
        catalogue_of(tmp_path, bad=entry("Loaded {x:float} now"))


def test_the_checker_finds_what_is_wrong_with_a_file(tmp_path):
    text = (
        "patterns = ['Loaded {what} now']\nverdict = 'bad'\nversions = 'all'\nreferences = ['mine']\n"
        "colour = 'red'\nexamples = ['Loaded it never']\n[facts]\nshoe_size = '{what}'\n"
        "[en]\nmeaning = 'It is {what} or {other}.'\nadvice = '无。'\n[zh]\nmeaning = '{what} 如此。'\n"
    )
    definition = Definition.from_text(tmp_path / "one.toml", text)
    found = "\n".join(message_checks.complaints(definition, Catalogue([definition])))
    for part in (
        "'colour' is no key",
        "verdict 'bad' should be one of",
        "[en] advice is in the wrong language",
        "[zh] advice is missing",
        "the languages have other fields",
        "{'other'} is not in every pattern",
        "'shoe_size' is no name of a fact",
        "'Loaded it never' is not matched",
    ):
        assert part in found


def test_a_fatal_line_of_native_code_is_fatal_whatever_it_says():
    def verdict(line):
        ((_, found),) = messages([line.encode()], CATALOGUE)
        return found and found.verdict

    assert verdict("F0000 00:00:1755238054.678694 12345 brand_new.cc:9] the moon is full") == "fatal"
    assert verdict("CRITICAL:mine:the moon is full") is None
    assert verdict("I0000 00:00:1755238054.678694 12345 brand_new.cc:9] the moon is full") is None
