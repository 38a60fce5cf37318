"""The reference: each model written plainly, and trained with torch.compile in bfloat16 on resident data.

It imports nothing of jupyter_mlgpu, so that a fault there cannot be on both sides. This is what a person who
knows PyTorch writes first: autocast, images with the channels last, the optimizer as it comes, torch.compile
with its defaults, cuDNN's choice of algorithms by trial, and no reading of the loss.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional


class Bottleneck(nn.Module):  # type: ignore[misc]
    """A block of ResNet50: 1x1, 3x3 and 1x1 convolutions, and a way past them."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = width * 4
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Any) -> Any:
        out = functional.relu(self.bn1(self.conv1(x)))
        out = functional.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        identity = x if self.downsample is None else self.downsample(x)
        return functional.relu(out + identity)


class ResNet50(nn.Module):  # type: ignore[misc]
    """He et al. 2015, with the stride in the 3x3 convolution."""

    def __init__(self, depths: tuple[int, ...], width: int, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1, self.pool = nn.BatchNorm2d(width), nn.MaxPool2d(3, stride=2, padding=1)
        blocks, inputs = [], width
        for stage, depth in enumerate(depths):
            for index in range(depth):
                stride = 2 if stage > 0 and index == 0 else 1
                blocks.append(Bottleneck(inputs, width * 2**stage, stride))
                inputs = width * 2**stage * 4
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x: Any) -> Any:
        x = self.pool(functional.relu(self.bn1(self.conv1(x))))
        return self.fc(self.blocks(x).mean((2, 3)))


class InvertedResidual(nn.Module):  # type: ignore[misc]
    """A block of MobileNetV2."""

    def __init__(self, inputs: int, outputs: int, stride: int, expand: int) -> None:
        super().__init__()
        hidden = inputs * expand
        self.residual = stride == 1 and inputs == outputs
        self.expand = None
        if expand != 1:
            self.expand = nn.Sequential(nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden))
        self.depthwise = nn.Conv2d(hidden, hidden, 3, stride=stride, padding=1, groups=hidden, bias=False)
        self.bn = nn.BatchNorm2d(hidden)
        self.project = nn.Sequential(nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Any) -> Any:
        out = x if self.expand is None else functional.relu6(self.expand(x))
        out = self.project(functional.relu6(self.bn(self.depthwise(out))))
        return x + out if self.residual else out


class MobileNetV2(nn.Module):  # type: ignore[misc]
    """Sandler et al. 2018."""

    def __init__(self, depths: tuple[int, ...], divide: int, classes: int) -> None:
        super().__init__()
        expands, widths = (1, 6, 6, 6, 6, 6, 6), (16, 24, 32, 64, 96, 160, 320)
        strides, inputs = (1, 2, 2, 2, 1, 2, 1), 32 // divide
        self.stem = nn.Sequential(
            nn.Conv2d(3, inputs, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(inputs), nn.ReLU6()
        )
        blocks = []
        for depth, expand, width, stride in zip(depths, expands, widths, strides, strict=False):
            for index in range(depth):
                blocks.append(InvertedResidual(inputs, width // divide, stride if index == 0 else 1, expand))
                inputs = width // divide
        self.blocks, last = nn.Sequential(*blocks), 1280 // divide
        self.head = nn.Sequential(nn.Conv2d(inputs, last, 1, bias=False), nn.BatchNorm2d(last), nn.ReLU6())
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, classes))

    def forward(self, x: Any) -> Any:
        return self.classifier(self.head(self.blocks(self.stem(x))).mean((2, 3)))


class BertLayer(nn.Module):  # type: ignore[misc]
    """Self-attention and a feed-forward part, each with a residual and layer normalisation after it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.intermediate, self.dense = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Any) -> Any:
        batch, tokens, width = x.shape

        def split(y: Any) -> Any:
            return y.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)

        context = functional.scaled_dot_product_attention(
            split(self.query(x)),
            split(self.key(x)),
            split(self.value(x)),
            dropout_p=0.1 if self.training else 0.0,
        )
        context = context.transpose(1, 2).reshape(batch, tokens, width)
        x = self.norm1(x + self.dropout(self.output(context)))
        return self.norm2(x + self.dropout(self.dense(functional.gelu(self.intermediate(x)))))


class Bert(nn.Module):  # type: ignore[misc]
    """Devlin et al. 2019; `large` says whether there are segments and a pooler, as in BERT-Large."""

    def __init__(self, layers: int, heads: int, width: int, large: bool, words: int, places: int) -> None:
        super().__init__()
        self.word, self.position = nn.Embedding(words, width), nn.Embedding(places, width)
        self.segment = nn.Embedding(2, width) if large else None
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList([BertLayer(width, heads) for _ in range(layers)])
        self.pooler = nn.Linear(width, width) if large else None
        self.classifier = nn.Linear(width, 8)

    def forward(self, tokens: Any) -> Any:
        x = self.word(tokens) + self.position(torch.arange(tokens.shape[1], device=tokens.device))
        if self.segment is not None:
            x = x + self.segment(torch.zeros_like(tokens))
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x)
        x = x[:, 0]
        if self.pooler is not None:
            x = torch.tanh(self.pooler(x))
        return self.classifier(self.dropout(x))


def model(name: str, tiny: bool = False) -> Any:
    """Return a model by its name, with random weights; `tiny` is as small as jupyter_mlgpu's tiny one."""
    if name == "resnet50":
        return ResNet50((1, 1), 8, 10) if tiny else ResNet50((3, 4, 6, 3), 64, 1000)
    if name == "mobilenetv2":
        return MobileNetV2((1, 1, 2), 8, 10) if tiny else MobileNetV2((1, 2, 3, 4, 3, 3, 1), 1, 1000)
    large = name == "bert-large"
    if tiny:
        return Bert(2, 2, 32, large, 100, 16)
    return Bert(24, 16, 1024, True, 30522, 512) if large else Bert(6, 12, 768, False, 30522, 512)


class Reference:
    """A model in training, to be run a number of steps at a time."""

    def __init__(self, name: str, batch: int, device: str, tiny: bool = False) -> None:
        torch.backends.cudnn.benchmark = True
        self.device = device
        net = model(name, tiny).to(device)
        classes = 8 if name in ("distilbert", "bert-large") else (10 if tiny else 1000)
        if classes == 8:
            tokens, words = (16, 100) if tiny else (128, 30522)
            self.inputs = torch.randint(0, words, (batch, tokens), device=device)
            self.optimizer = torch.optim.Adam(net.parameters(), lr=2e-5)
        else:
            side = 32 if tiny else 224
            net = net.to(memory_format=torch.channels_last)
            images = torch.randn(batch, 3, side, side, device=device)
            self.inputs = images.to(memory_format=torch.channels_last)
            self.optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        self.labels = torch.randint(0, classes, (batch,), device=device)
        self.net = torch.compile(net)

    def run(self, steps: int) -> None:
        """Do a number of training steps."""
        for _ in range(steps):
            self.optimizer.zero_grad(set_to_none=True)
            with torch.autocast(self.device, torch.bfloat16):
                loss = functional.cross_entropy(self.net(self.inputs), self.labels)
            loss.backward()
            self.optimizer.step()

    def wait(self) -> None:
        """Wait until all steps are done."""
        if self.device == "cuda":
            torch.cuda.synchronize()
