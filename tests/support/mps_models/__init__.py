"""Models that learners and teachers of PyTorch use, with their inputs, for forecasts on MPS.

A function of the modules here makes a model with its inputs and a target, or a function that trains one. All
weights are random, and nothing is downloaded. The modules import PyTorch, so `make` imports them late.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The names of the functions, by module.
MODELS = {
    "vision": (
        *("mlp", "cnn", "vgg_block", "resnet18", "unet", "mobilenet", "vit", "kinds_of_convolutions"),
        "autoencoder",
    ),
    "detection": ("detector", "spatial_transformer"),
    "sequences": (
        *("lstm_classifier", "gru_classifier", "rnn_classifier", "packed_lstm", "packed_gru"),
        *("seq2seq", "ctc_speech", "recommender", "own_lstm_cell"),
    ),
    "attention": (
        *("transformer_encoder", "transformer", "gpt", "attention_by_hand", "mixture_of_experts", "lora"),
    ),
    "generative": ("vae", "dcgan", "normalizing_flow", "diffusion_step", "neural_ode", "wgan_gp"),
    "science": (
        *("gaussian_process", "pca", "graph_convolution", "fourier_operator", "complex_layer", "kan"),
        *("contrastive", "policy_gradient", "physics_informed", "quantization_aware", "int8", "mel_speech"),
    ),
    "training": (
        *(
            "sgd_momentum",
            "adagrad",
            "lbfgs",
            "rmsprop",
            "fused_adamw",
            "clipped_gradients",
            "autocast_scaler",
        ),
        *("autocast_transformer", "weight_norm", "spectral_norm", "checkpointed", "averaged_weights", "muon"),
    ),
    "hugging_face": (
        *("bert", "gpt2", "llama", "t5", "vit_of_transformers", "whisper", "clip", "mamba", "distilbert"),
        *("wav2vec2", "detr", "segformer", "mixtral"),
    ),
}
NAMES = tuple(name for names in MODELS.values() for name in names)


def make(name: str) -> tuple[Any, ...]:
    """Return a model or function, and what it is called with. The last argument is what a model learns."""
    module = next(module for module, names in MODELS.items() if name in names)
    made: tuple[Any, ...] = getattr(import_module(f"{__name__}.{module}"), name)()
    return made
