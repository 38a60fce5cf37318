"""The published models that are measured: their sizes, their batches, and the memory that training takes.

How fast a model trains does not depend on what its weights are, so none are downloaded. The batches are those
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
    segments: int = 0  # which of two texts a token is of; DistilBERT does not say
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
    shrink: int = 1  # every width divided by this, for trials
    blocks: tuple[int, ...] = ()  # of each stage; as published where empty


@dataclass(frozen=True, slots=True)
class Model:
    """A model to measure.

    Attributes:
        parameters: trained numbers, the layer of `classes` outputs included.
        activations: of `kind` "image": numbers that all convolutions put out for an image (tests count them).
        products: of `kind` "image": multiplications of its convolutions and last layer, forward, an image.
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
        """What one item of a batch is."""
        return "image" if self.kind == "image" else "sequence"

    def forward_flops(self) -> int:
        """Floating-point operations of its matrix products, forward, an item; training takes 3 times that.

        A multiplication and an addition are two. For text: a layer's 12 * width^2 products a token, and
        2 * tokens * width of attention.
        """
        shape = self.shape
        if isinstance(shape, Encoder):
            layer = 12 * shape.width**2 + 2 * shape.tokens * shape.width
            return 2 * shape.layers * shape.tokens * layer
        return 2 * self.products

    def training_bytes(self, batch: int, bytes_each: int = 4) -> int:
        """An estimate of the device memory that training takes; weights and optimizer are in float32.

        Of each weight there are its value, its gradient and what the optimizer keeps (one number for SGD with
        momentum, two for Adam). What a step keeps for its backward pass, in numbers of `bytes_each`: for
        images, what a convolution puts out and what is made of it for the next one; for text, a layer's
        34 + 5 * heads * tokens / width bytes a token and width in 16 bits (Korthikanti et al. 2022,
        arXiv:2205.05198, equation 1).
        """
        copies = 3 if self.optimizer == "sgd" else 4
        return 4 * copies * self.parameters + batch * self._step_bytes(bytes_each)

    def inference_bytes(self, batch: int, bytes_each: int = 4) -> int:
        """An estimate of the device memory that inference takes, at most: weights, and a step's values."""
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
    """A model of the same kind with few and narrow layers, to see on any machine that everything runs."""
    if isinstance(model.shape, Encoder):
        shape = replace(model.shape, layers=2, heads=2, width=32, tokens=16, vocabulary=100, positions=16)
        return replace(model, shape=shape, batches=(4,), parameters=0)
    network = Network(side=32, shrink=8, blocks=(1, 1) if model.name == "resnet50" else (1, 1, 2))
    return replace(model, shape=network, classes=10, batches=(4,), parameters=0, activations=0, products=0)
