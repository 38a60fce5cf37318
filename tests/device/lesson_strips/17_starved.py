import tempfile
from pathlib import Path

import numpy as np
import torch
import torchvision
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

folder = Path(tempfile.mkdtemp())
draw = np.random.default_rng(0)
for number in range(256):  # JPEG files of 500 x 375: soft colours with some noise
    colours = draw.integers(0, 200, (12, 16, 3), dtype="uint8")
    soft = Image.fromarray(colours).resize((500, 375), Image.BILINEAR)
    noise = draw.integers(0, 56, (375, 500, 3), dtype="uint8")
    Image.fromarray(np.asarray(soft) + noise).save(folder / f"{number}.jpg", quality=90)
augment = v2.Compose([v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), v2.PILToTensor()])


class Pictures(Dataset):
    def __init__(self, batches):
        self.batches = batches

    def __len__(self):
        return 64 * self.batches

    def __getitem__(self, index):
        with Image.open(folder / f"{index % 256}.jpg") as picture:
            return augment(picture), index % 8  # uint8, as in the file


def loader(batches, workers):
    return DataLoader(
        Pictures(batches), 64, num_workers=workers, pin_memory=True, persistent_workers=workers > 0
    )


network = torchvision.models.vit_l_16(num_classes=8).to("cuda", torch.bfloat16)
sgd = torch.optim.SGD(network.parameters(), 0.001, fused=True)


def train(batches):
    for pictures, labels in batches:
        x = pictures.to("cuda", non_blocking=True)  # returns at once: the pictures are in pinned memory
        y = labels.to("cuda", non_blocking=True)
        likely = network(x.to(torch.bfloat16) / 127.5 - 1)
        sgd.zero_grad()
        torch.nn.functional.cross_entropy(likely, y).backward()
        sgd.step()
    torch.cuda.synchronize()


two, twelve = loader(16, 2), loader(48, 12)
train(two), train(twelve)  # starts the workers; they stay for the next epoch
on_the_gpu = [[one.cuda() for one in batch] for batch in loader(4, 0)] * 8
# %%
train(loader(6, 0))
# %%
train(two)
# %%
train(twelve)
# %%
train(on_the_gpu)
