"""In a traced cell, a callback's records stand beside the cell's own."""

import pytest

pytestmark = [pytest.mark.kernel, pytest.mark.needs("transformers", "accelerate")]

MODEL = """
import jupyter_mlgpu, torch, transformers
small = transformers.GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=1)
data = [{"input_ids": torch.zeros(4, dtype=torch.long), "labels": torch.zeros(4).long()}] * 4
def train(*callbacks, **options):
    arguments = transformers.TrainingArguments(
        "out", save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True, **options)
    transformers.Trainer(
        transformers.GPT2LMHeadModel(small), arguments, train_dataset=data, callbacks=[*callbacks]).train()
"""


def test_a_training_gives_the_cells_record_and_one_an_epoch_and_one_that_raises_leaves_nothing(start_kernel):
    notebook = start_kernel()
    assert notebook.run(MODEL).error is None
    cell = notebook.run("train(jupyter_mlgpu.TrainerCallback(), num_train_epochs=2)")
    assert (cell.error, cell.receipt["outcome"]) == (None, "ok")
    told = "[(r.cell.name, r.reading('wall_time').value) for r in jupyter_mlgpu.records()[-3:]]"
    (first, _), (second, _), (_, whole) = records = notebook.evaluate(told)
    assert [first, second] == ["epoch 1", "epoch 2"]
    assert sum(seconds for name, seconds in records if name.startswith("epoch")) < whole
    assert whole == cell.value("wall_time")
    raised = notebook.run(
        "class Stop(transformers.TrainerCallback):\n"
        "    def on_step_end(self, args, state, control, **more): raise ValueError('stop')\n"
        "train(jupyter_mlgpu.TrainerCallback(), Stop())"
    )
    assert raised.error == "ValueError: stop"
    assert notebook.evaluate("len(get_ipython()._jupyter_mlgpu.runtime.recorder.open)") == 0
    assert notebook.evaluate("[r.cell.name for r in jupyter_mlgpu.records()].count('epoch 1')") == 1
