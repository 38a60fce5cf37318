"""MobileNetV2 for PyTorch: Sandler et al. 2018, arXiv:1801.04381."""

from __future__ import annotations

from typing import Any

#: Table 2 of the paper: expansion, outputs, repeats, stride of the first block.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet(classes: int, repeats: tuple[int, ...] = (), shrink: int = 1) -> Any:
    """Return a network of inverted residual blocks, which convolve every channel by itself (depthwise).

    Images of [batch, 3, side, side] become [batch, classes]. `repeats` are the blocks of each stage, as
    published if empty; every width is divided by `shrink`.
    """
    from torch import nn

    class Inverted(nn.Module):  # type: ignore[misc]
        """A block that widens, convolves depthwise, narrows, and adds its input if the shapes agree."""

        def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
            super().__init__()
            inner = inputs * expansion
            widen = convolution(inputs, inner, 1) if expansion > 1 else []
            narrow = [nn.Conv2d(inner, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
            self.body = nn.Sequential(*widen, *convolution(inner, inner, 3, stride, inner), *narrow)
            self.adds = stride == 1 and inputs == outputs

        def forward(self, x: Any) -> Any:
            return x + self.body(x) if self.adds else self.body(x)

    def convolution(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> list[Any]:
        return [
            nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU6(inplace=True),
        ]

    inputs, last = 32 // shrink, 1280 // shrink
    layers = convolution(3, inputs, 3, 2)
    for number, (expansion, outputs, times, stride) in enumerate(STAGES[: len(repeats) or None]):
        outputs //= shrink
        for index in range(repeats[number] if repeats else times):
            layers.append(Inverted(inputs, outputs, stride if index == 0 else 1, expansion))
            inputs = outputs
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(last, classes)]
    return nn.Sequential(*layers, *convolution(inputs, last, 1), *head)
