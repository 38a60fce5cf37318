"""The published models that are measured: their sizes, batch sizes, and memory for training.

Training speed does not depend on the values of the weights, so none are downloaded. The batch sizes are those
of the published measurements (the training throughput of Apple chips and an RTX 3090), and larger ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Encoder:
    """A stack of transformer layers, as Devlin et al. 2019 (arXiv:1810.04805) describe it."""

    layers: int
    heads: int
    width: int
    tokens: int = 128
    vocabulary: int = 30_522
    positions: int = 512
    segments: int = 0  # embeddings of which of two texts a token belongs to; DistilBERT has none
    pooler: bool = False  # one more layer over the first token; DistilBERT has none
    dropout: float = 0.1

    @property
    def inner(self) -> int:
        """Width between the two layers of the feed-forward part."""
        return 4 * self.width


@dataclass(frozen=True, slots=True)
class Network:
    """A convolutional network over square images of three colours."""

    side: int = 224
    shrink: int = 1  # every width is divided by this, for tests
    blocks: tuple[int, ...] = ()  # of each stage; as published if empty


@dataclass(frozen=True, slots=True)
class Model:
    """A model to measure.

    Attributes:
        parameters: number of trained values, including the layer of `classes` outputs.
        activations: for `kind` "image": output values of all convolutions per image (tests count them).
        products: for `kind` "image": multiplications of its convolutions and last layer per image, forward.
    """

    name: str
    title: str
    kind: Literal["image", "text"]
    classes: int
    optimizer: Literal["sgd", "adam"]
    batches: tuple[int, ...]
    parameters: int
    shape: Encoder | Network
    activations: int = 0
    products: int = 0
    source: str = field(default="", compare=False)

    @property
    def item(self) -> str:
        """The noun for one item of a batch."""
        return "image" if self.kind == "image" else "sequence"

    def forward_flops(self) -> int:
        """Return the floating-point operations of its matrix products per item in a forward pass.

        Training takes 3 times that. A multiplication and an addition count as two. For text, a layer has 12 *
        width^2 products per token, and attention 2 * tokens * width.
        """
        shape = self.shape
        if isinstance(shape, Encoder):
            layer = 12 * shape.width**2 + 2 * shape.tokens * shape.width
            return 2 * shape.layers * shape.tokens * layer
        return 2 * self.products

    def training_bytes(self, batch: int, bytes_each: int = 4) -> int:
        """Return an estimate of the bytes of device memory for training.

        Weights and optimizer are in float32. For each weight there are its value, its gradient and the
        optimizer's state (one number for SGD with momentum, two for Adam). A step keeps numbers of
        `bytes_each` for its backward pass. For images, these are the output of each convolution and what is
        computed from it for the next one. For text, a layer keeps 34 + 5 * heads * tokens / width bytes per
        token and width in 16 bits (Korthikanti et al. 2022, arXiv:2205.05198, equation 1).
        """
        copies = 3 if self.optimizer == "sgd" else 4
        return 4 * copies * self.parameters + batch * self._step_bytes(bytes_each)

    def inference_bytes(self, batch: int, bytes_each: int = 4) -> int:
        """Return an upper estimate of the bytes of device memory for inference."""
        return 4 * self.parameters + batch * self._step_bytes(bytes_each) // 4

    def _step_bytes(self, bytes_each: int) -> int:
        shape = self.shape
        if isinstance(shape, Encoder):
            layer = shape.tokens * shape.width * (34 + 5 * shape.heads * shape.tokens / shape.width)
            return round(shape.layers * layer * bytes_each / 2)
        return 2 * bytes_each * self.activations


MODELS = {
    model.name: model
    for model in (
        Model(
            "resnet50",
            "ResNet50",
            "image",
            1000,
            "sgd",
            (64, 128, 256),
            25_557_032,
            Network(),
            activations=11_113_984,
            products=4_089_184_256,
            source="He et al. 2015, arXiv:1512.03385; version 1.5, whose stride is in the 3x3 convolution",
        ),
        Model(
            "mobilenetv2",
            "MobileNetV2",
            "image",
            1000,
            "sgd",
            (128, 256),
            3_504_872,
            Network(),
            activations=6_678_112,
            products=300_774_272,
            source="Sandler et al. 2018, arXiv:1801.04381",
        ),
        # The published backbones have 66,362,880 and 335,141,888; the rest is the layer of 8 outputs.
        Model(
            "distilbert",
            "DistilBERT",
            "text",
            8,
            "adam",
            (64, 256),
            66_362_880 + 768 * 8 + 8,
            Encoder(6, 12, 768),
            source="Sanh et al. 2019, arXiv:1910.01108",
        ),
        Model(
            "bert-large",
            "BERT-Large",
            "text",
            8,
            "adam",
            (16, 32, 64),
            335_141_888 + 1024 * 8 + 8,
            Encoder(24, 16, 1024, segments=2, pooler=True),
            source="Devlin et al. 2019, arXiv:1810.04805",
        ),
    )
}


def tiny(model: Model) -> Model:
    """Return a model of the same kind with few and narrow layers, for tests on any machine."""
    if isinstance(model.shape, Encoder):
        shape = replace(model.shape, layers=2, heads=2, width=32, tokens=16, vocabulary=100, positions=16)
        return replace(model, shape=shape, batches=(4,), parameters=0)
    network = Network(side=32, shrink=8, blocks=(1, 1) if model.name == "resnet50" else (1, 1, 2))
    return replace(model, shape=network, classes=10, batches=(4,), parameters=0, activations=0, products=0)
