"""A LeNet, an LSTM and a transformer built from layers learn as well as the same models in Keras."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import mlcompute_models as models

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("two_devices")]

EPOCHS, SEEDS = 8, 5


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", models.MODELS)
def test_a_model_names_as_many_digits_as_keras(name: str) -> None:
    accuracies = []
    for seed in range(SEEDS):
        x, y, test_x, test_y = models.digits(seed)
        ours, theirs = models.shaped(name, x)
        model = models.MODELS[name](seed)
        for _ in range(EPOCHS):
            for some, labels in models.batches(ours, y):
                model.learn(some, labels)
        model.keras.fit(theirs, y, models.BATCH, EPOCHS, verbose=0, shuffle=False)
        ours, theirs = models.shaped(name, test_x)
        accuracies.append((model.accuracy(ours, test_y), model.keras_accuracy(theirs, test_y)))
    mine, other = np.mean(accuracies, axis=0)
    print(f"{name}: {mine:.4f}, Keras {other:.4f}; by seed {accuracies}")
    assert other > 0.85  # chance is 0.1: both have learnt
    assert abs(mine - other) <= 0.01


@pytest.mark.parametrize("name", models.MODELS)
def test_a_model_begins_as_its_twin_in_keras(name: str) -> None:
    x, y, _, _ = models.digits(0)
    ours, theirs = (one[: models.BATCH] for one in models.shaped(name, x))
    model = models.MODELS[name](0)
    model.inference.execute({"x": ours})
    assert np.abs(model.result.numpy() - np.asarray(model.keras(theirs))).max() < 1e-5
    model.learn(ours, y[: models.BATCH])
    loss = model.keras.evaluate(theirs, y[: models.BATCH], models.BATCH, verbose=0)
    assert abs(float(model.training.loss.numpy()) - loss) < 1e-4
