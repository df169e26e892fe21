"""Encoders with a few thousand random weights and a tokenizer of whole words, made on the spot: no download."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lqr.text import words


def tiny_encoder(folder: Path, kind: str, texts: Iterable[str]) -> Path:
    """Save an untrained ``bert``, ``roberta`` or ``longformer`` that knows the words of ``texts``; returns ``folder``."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import AutoModel, BertConfig, LongformerConfig, PreTrainedTokenizerFast, RobertaConfig

    torch.manual_seed(5)
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    known = {word: number for number, word in enumerate([*special, *sorted({w for text in texts for w in words(text)}), "?"])}
    tokenizer = Tokenizer(models.WordLevel(known, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>", cls_token="<s>"
    ).save_pretrained(folder)
    size: dict[str, Any] = {
        "vocab_size": len(known),
        "hidden_size": 24,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 72,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "type_vocab_size": 1,
    }
    configs: dict[str, Any] = {"bert": BertConfig, "roberta": RobertaConfig, "longformer": LongformerConfig}
    if kind == "longformer":
        size["attention_window"] = [8]
    AutoModel.from_config(configs[kind](**size)).save_pretrained(folder)
    return folder
