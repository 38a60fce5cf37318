"""The libraries that train, each with a model of a few weights on the CPU; nothing is downloaded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import jupyter_mlgpu
from tests.support.trainings import BATCHES, Training, nothing


class RealKeras(Training):
    """Keras, with one layer."""

    accumulates = False

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._folder = folder

    def callback(self, every=None):
        return jupyter_mlgpu.KerasCallback(every)

    def fit(self, callback, *, epochs=1, accumulate=1, validate=False, batch=nothing, epoch_end=nothing):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TensorFlow's own, while it is imported
            import keras
        import numpy as np

        class Users(keras.callbacks.Callback):
            number = 0

            def on_train_batch_begin(self, index, logs=None):
                self.number += 1
                batch(self.number)

            def on_epoch_end(self, epoch, logs=None):
                epoch_end(0)

        model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        x, y = np.zeros((BATCHES, 2), "float32"), np.zeros((BATCHES, 1), "float32")
        model.fit(
            x,
            y,
            batch_size=1,
            epochs=epochs,
            verbose=0,
            validation_data=(x, y) if validate else None,
            callbacks=[Users(), callback],
        )


class RealLightning(Training):
    """PyTorch Lightning, with one layer."""

    tells_of_exceptions = True

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._folder = folder

    def callback(self, every=None):
        return jupyter_mlgpu.LightningCallback(every)

    def fit(
        self,
        callback,
        *,
        epochs=1,
        accumulate=1,
        validate=False,
        batch=nothing,
        epoch_end=nothing,
        save=None,
        resume=None,
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Lightning's advice on loaders and loggers
            import lightning
            import torch

            class Users(lightning.pytorch.Callback):
                def on_train_epoch_end(self, trainer, pl_module):
                    epoch_end(0)

            class Layer(lightning.LightningModule):
                number = 0

                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(2, 1)

                def training_step(self, values, index):
                    self.number += 1
                    batch(self.number)
                    return self.layer(values).mean()

                def validation_step(self, values, index):
                    self.layer(values)

                def configure_optimizers(self):
                    return torch.optim.SGD(self.parameters(), 0.1)

            trainer = lightning.Trainer(
                accelerator="cpu",
                max_epochs=epochs,
                accumulate_grad_batches=accumulate,
                limit_val_batches=1.0 if validate else 0,
                default_root_dir=self._folder,
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                callbacks=[Users(), callback],
            )
            data = torch.utils.data.DataLoader(torch.zeros(BATCHES, 2))
            trainer.fit(Layer(), data, data, ckpt_path=resume)
            if save is not None:
                trainer.save_checkpoint(save)


class RealTrainer(Training):
    """The Trainer of Hugging Face's transformers, with a language model of two thousand weights."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._folder = folder

    def callback(self, every=None):
        return jupyter_mlgpu.TrainerCallback(every)

    def fit(
        self,
        callback,
        *,
        epochs=1,
        accumulate=1,
        validate=False,
        batch=nothing,
        epoch_end=nothing,
        save=None,
        resume=None,
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its advice on loaders
            import torch
            import transformers

            class Users(transformers.TrainerCallback):
                def on_epoch_end(self, args, state, control, **more):
                    epoch_end(0)

            class Model(transformers.GPT2LMHeadModel):
                number = 0

                def forward(self, *arguments, **named):
                    if self.training:
                        self.number += 1
                        batch(self.number)
                    return super().forward(*arguments, **named)

            small = transformers.GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=1)
            data = [
                {"input_ids": torch.zeros(4, dtype=torch.long), "labels": torch.zeros(4).long()}
            ] * BATCHES
            arguments = transformers.TrainingArguments(
                output_dir=str(save or self._folder),
                num_train_epochs=epochs,
                per_device_train_batch_size=1,
                gradient_accumulation_steps=accumulate,
                eval_strategy="steps" if validate else "no",
                eval_steps=2,
                save_strategy="no" if save is None else "epoch",
                logging_strategy="no",
                report_to="none",
                remove_unused_columns=False,
                disable_tqdm=True,
                use_cpu=True,
            )
            trainer = transformers.Trainer(
                Model(small), arguments, train_dataset=data, eval_dataset=data, callbacks=[Users(), callback]
            )
            trainer.train(resume_from_checkpoint=resume)


class RealAccelerator:
    """Accelerate itself."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pass

    def start(self, tracker: Any) -> Any:
        """An Accelerator with this tracker, which has started it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # while it is imported
            import accelerate
        accelerator = accelerate.Accelerator(cpu=True, log_with=tracker)
        accelerator.init_trackers("training", config={"rate": 0.1})
        return accelerator
