"""Lesson 13: what its text says of the saved run is true, and lesson 12's model is used where it fits."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from jupyter_mlgpu.record import cachefolder
from jupyter_mlgpu.teach.lessons import cache as lesson_cache
from jupyter_mlgpu.teach.lessons import pretraining, text, wordpieces

LESSON = Path(__file__).resolve().parents[3] / "notebooks" / "13_fine_tuning.ipynb"


@pytest.fixture(scope="module")
def lesson():
    return nbformat.read(LESSON, 4)


def printed(lesson, name):
    cell = next(cell for cell in lesson.cells if cell.id == name)
    return "".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
        if not any("mlgpu.record" in kind for kind in output.get("data", {}))
    )


def accuracies(lesson):
    """Of each method: the accuracy with the seeds 0, 1 and 2, the mean, and the spread."""
    lines = printed(lesson, "spread").splitlines()
    found = {}
    for method in ("TF-IDF", "from nothing", "count vectors", "pre-trained"):
        line = next(line for line in lines if line.startswith(method))
        found[method] = [float(one) for one in line.removeprefix(method).split()]
    return found


def test_with_196_labels_the_pretrained_model_beats_tfidf_and_pretraining_is_what_did_it(lesson):
    found = accuracies(lesson)
    assert found["pre-trained"][0] > found["TF-IDF"][0] > 1 / 7  # seed 0
    assert found["pre-trained"][3] > found["TF-IDF"][3]  # the mean of three
    assert found["pre-trained"][3] > found["from nothing"][3]


def test_within_each_seed_pre_trained_leads_count_vectors_and_tfidf_by_more(lesson):
    found = accuracies(lesson)
    for seed in range(3):
        assert found["pre-trained"][seed] > found["count vectors"][seed] > found["TF-IDF"][seed]


def test_mean_and_spread_are_those_of_the_three_seeds(lesson):
    for *seeds, mean, spread in accuracies(lesson).values():
        assert len(seeds) == 3
        assert mean == pytest.approx(np.mean(seeds), abs=0.002)
        assert spread == pytest.approx(max(seeds) - min(seeds), abs=0.002)
        assert spread > 0


def test_every_line_of_the_chart_has_five_points_and_more_labels_help_the_pre_trained_model(lesson):
    rows = [line.split() for line in printed(lesson, "curve").splitlines()[2:]]
    labels, *lines = zip(*rows, strict=True)
    assert [int(one) for one in labels] == [49, 98, 196, 392, 784]
    assert all(len(line) == 5 for line in lines)
    pretrained = [float(one) for one in lines[-1]]
    assert pretrained[0] < pretrained[2] < pretrained[4]


def test_shuffled_labels_are_learnt_by_heart_and_teach_nothing(lesson):
    by_heart, on_test = (int(one) for one in re.findall(r": (\d+)%", printed(lesson, "break-labels")))
    assert by_heart > 30
    assert on_test < 25


def test_it_says_where_the_model_is_from_and_why_bert_large_is_not_measured(lesson):
    origin = printed(lesson, "pretrained")
    assert re.search(
        r"Lesson 12 made it, in [\d,]+ steps\.|So one was trained here, in [\d,]+ steps\.", origin
    )
    measured = printed(lesson, "throughput")
    assert re.search(r"DistilBERT\s+4\s+\d+(\.\d+)?\s+not measured", measured)
    assert re.search(r"BERT-Large\s+16\s+not measured.*skipped: without a GPU", measured)


class Encoder:
    """Two small tables of weights."""

    def get_weights(self):
        return [np.arange(6.0).reshape(2, 3), np.arange(4.0)]


@pytest.fixture
def cached(monkeypatch, tmp_path):
    monkeypatch.setenv(cachefolder.VARIABLE, str(tmp_path))
    tokenizer = wordpieces.train_tokenizer(["the learning rate of the optimizer ."] * 5, 60)
    assert pretraining.keep(tokenizer, Encoder(), 2000).startswith("Saved in your cache folder")
    return tmp_path


def test_what_lesson_12_kept_is_used_with_its_tokenizer_and_weights(cached):
    found = pretraining.pretrained(text.Corpus([]), steps=1)
    assert [one.tolist() for one in found.weights] == [one.tolist() for one in Encoder().get_weights()]
    assert found.steps == 2000
    assert "checksum correct. Lesson 12 made it, in 2,000 steps." in found.origin
    assert "rate" in found.tokenizer.encode("the learning rate").tokens


def test_with_other_versions_of_the_libraries_it_is_not_found(cached, monkeypatch):
    monkeypatch.setattr(text, "libraries", lambda: {"python": "2.7"})
    name = pretraining._name()
    assert lesson_cache.load(name) == (None, f"There is no {name}.npz in your cache folder.")


def test_a_plain_loop_in_the_type_of_the_recording_is_2_4_times_as_fast_for_both(lesson):
    """The H200 computes in mixed bfloat16, so its rows stand beside the benchmark's bfloat16."""
    rows = re.findall(r"^(\S+) +(\d+) +([\d,.]+) +[\d.]+ ", printed(lesson, "throughput"), re.M)
    bench = Path(__file__).resolve().parents[3] / "docs/measurements/2026-11-22-h200-bench/README.md"
    assert [name for name, _, _ in rows] == ["DistilBERT", "BERT-Large"]
    for name, batch, fit in rows:
        # The columns of the options: float32, TF32, bfloat16.
        plain = re.search(rf"^\| {name}, {batch} \| [\d,]+ \| [\d,]+ \| ([\d,]+) \|", bench.read_text(), re.M)
        ratio = float(plain[1].replace(",", "")) / float(fit.replace(",", ""))
        assert ratio == pytest.approx(2.4, abs=0.05)
