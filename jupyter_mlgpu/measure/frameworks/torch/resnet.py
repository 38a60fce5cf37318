"""ResNet50 for PyTorch: He et al. 2015, arXiv:1512.03385, in the version 1.5 that is usually measured."""

from __future__ import annotations

from typing import Any

PUBLISHED = (3, 4, 6, 3)


def resnet(classes: int, blocks: tuple[int, ...] = PUBLISHED, shrink: int = 1) -> Any:
    """Return a residual network of bottleneck blocks; with the published `blocks` it is ResNet50.

    Images of [batch, 3, side, side] become [batch, classes]. Each stage except the first halves the image's
    side and doubles the width, which is 64 divided by `shrink` in the first. Convolutions before a batch
    normalisation have no bias, which the normalisation would subtract again.
    """
    from torch import nn

    class Residual(nn.Module):  # type: ignore[misc]
        """The sum of the main path and the shortcut."""

        def __init__(self, main: Any, shortcut: Any) -> None:
            super().__init__()
            self.main, self.shortcut, self.relu = main, shortcut, nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            return self.relu(self.main(x) + self.shortcut(x))

    def convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> list[Any]:
        return [
            nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
            nn.BatchNorm2d(outputs),
        ]

    def block(inputs: int, width: int, stride: int) -> Any:
        outputs = 4 * width
        main = nn.Sequential(
            *convolution(inputs, width, 1),
            nn.ReLU(inplace=True),
            *convolution(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *convolution(width, outputs, 1),
        )
        same = stride == 1 and inputs == outputs
        return Residual(
            main, nn.Identity() if same else nn.Sequential(*convolution(inputs, outputs, 1, stride))
        )

    width = 64 // shrink
    layers = [*convolution(3, width, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = width
    for stage, number in enumerate(blocks):
        for index in range(number):
            layers.append(block(inputs, width, 2 if stage and index == 0 else 1))
            inputs = 4 * width
        width *= 2
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
