"""Small models of the library transformers, built from their configurations with random weights."""

from __future__ import annotations

import torch
import transformers as hf


def _words(*shape):
    return torch.randint(5, 90, shape)


_SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


def bert():
    config = hf.BertConfig(vocab_size=100, num_labels=3, **_SMALL)
    words, mask = _words(4, 16), torch.ones(4, 16, dtype=torch.long)
    inputs = {"input_ids": words, "attention_mask": mask, "labels": torch.randint(0, 3, (4,))}
    return hf.BertForSequenceClassification(config), inputs


def distilbert():
    config = hf.DistilBertConfig(vocab_size=100, dim=32, n_layers=2, n_heads=4, hidden_dim=64)
    return hf.DistilBertForMaskedLM(config), {"input_ids": _words(4, 16), "labels": _words(4, 16)}


def gpt2():
    config = hf.GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    words = _words(4, 16)
    return hf.GPT2LMHeadModel(config), {"input_ids": words, "labels": words}


def llama():
    config = hf.LlamaConfig(vocab_size=100, num_key_value_heads=2, **_SMALL)
    words = _words(4, 16)
    return hf.LlamaForCausalLM(config), {"input_ids": words, "labels": words}


def mixtral():
    config = hf.MixtralConfig(vocab_size=100, num_key_value_heads=2, num_local_experts=4, **_SMALL)
    words = _words(4, 16)
    return hf.MixtralForCausalLM(config), {"input_ids": words, "labels": words}


def t5():
    config = hf.T5Config(
        vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    return hf.T5ForConditionalGeneration(config), {"input_ids": _words(4, 16), "labels": _words(4, 10)}


def vit_of_transformers():
    config = hf.ViTConfig(image_size=32, patch_size=8, num_labels=5, **_SMALL)
    inputs = {"pixel_values": torch.randn(4, 3, 32, 32), "labels": torch.randint(0, 5, (4,))}
    return hf.ViTForImageClassification(config), inputs


def whisper():
    config = hf.WhisperConfig(
        vocab_size=100,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        num_mel_bins=16,
        max_source_positions=50,
        max_target_positions=32,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    inputs = {"input_features": torch.randn(2, 16, 100), "labels": _words(2, 12)}
    return hf.WhisperForConditionalGeneration(config), inputs


def clip():
    config = hf.CLIPConfig(
        text_config={"vocab_size": 100, "max_position_embeddings": 32, "eos_token_id": 2, **_SMALL},
        vision_config={"image_size": 32, "patch_size": 8, **_SMALL},
        projection_dim=16,
    )
    model = hf.CLIPModel(config)

    def step(words, images):
        model(input_ids=words, pixel_values=images, return_loss=True).loss.backward()

    return step, _words(4, 12), torch.randn(4, 3, 32, 32)


def mamba():
    config = hf.MambaConfig(vocab_size=100, hidden_size=32, state_size=8, num_hidden_layers=2)
    words = _words(2, 12)
    return hf.MambaForCausalLM(config), {"input_ids": words, "labels": words}


def wav2vec2():
    config = hf.Wav2Vec2Config(
        vocab_size=30,
        conv_dim=(16, 16),
        conv_stride=(5, 2),
        conv_kernel=(10, 3),
        num_feat_extract_layers=2,
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=4,
        mask_time_length=2,
        layerdrop=0.0,  # else layers are left out by a random value
        **_SMALL,
    )
    inputs = {"input_values": torch.randn(2, 1600), "labels": torch.randint(1, 30, (2, 8))}
    return hf.Wav2Vec2ForCTC(config), inputs


def detr():
    backbone = hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], out_features=["stage2"])
    config = hf.DetrConfig(
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        backbone=None,
        backbone_config=backbone,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        num_queries=6,
        num_labels=4,
    )
    model = hf.DetrForObjectDetection(config)

    def step(images, boxes):
        found = model(pixel_values=images)
        (found.logits.logsumexp(-1).mean() + (found.pred_boxes[:, :3] - boxes).abs().mean()).backward()

    return step, torch.randn(2, 3, 64, 64), torch.rand(2, 3, 4)


def segformer():
    config = hf.SegformerConfig(
        depths=[1, 1, 1, 1],
        hidden_sizes=[8, 16, 16, 16],
        num_attention_heads=[1, 2, 2, 2],
        num_labels=3,
        decoder_hidden_size=16,
    )
    inputs = {"pixel_values": torch.randn(2, 3, 64, 64), "labels": torch.randint(0, 3, (2, 64, 64))}
    return hf.SegformerForSemanticSegmentation(config), inputs
