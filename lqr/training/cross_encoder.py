"""Fine-tunes a :class:`PairEncoder` to say whether a text helps to answer a question (relevance and evidence in one).

The output is one logit, read through a sigmoid (Huang et al. 2024, section 3.3); optimiser and schedule are the
paper's, AdamW with cosine decay after warm-up. Afterwards a temperature is fitted on the held-out pairs (Guo et al.
2017), so that the scores are probabilities. Knows nothing of where the pairs come from.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lqr.training.hardware import bf16_helps
from lqr.training.pairs import Pair

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Hyper-parameters. ``bf16`` is used where the hardware has it; it is harmless for a model of this size."""

    base: str
    out: Path
    epochs: float = 1.0
    batch: int = 32
    learning_rate: float = 1e-4
    warmup: float = 0.05  # share of the steps
    weight_decay: float = 0.01
    max_tokens: int = 192
    seed: int = 13
    bf16: bool = True
    eval_every: int = 400  # optimiser steps
    threads: int = 0  # 0 = torch's own choice
    dropout: float | None = None  # None = the model's own; drawing it takes half the time of a step on a CPU
    frozen: int = 0  # the first so many layers, and the word embeddings, stay as they are: for going on from a trained model


class _Pairs:
    """Tokenised when asked for; batches are grouped by length, or padding would double the work."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, index: int) -> dict[str, Any]:
        pair = self._pairs[index]
        text = f"{pair.title}. {pair.text}"
        # the length-grouping sampler measures ``input_ids``; characters stand in for tokens, it only needs an order
        length = range((len(pair.question) + len(text)) // 4)
        return {"question": pair.question, "text": text, "label": pair.label, "input_ids": length}


def train(pairs: Sequence[Pair], held_out: Sequence[Pair], config: TrainConfig, *, resume: bool = False) -> dict[str, float]:
    """Fine-tune, keep the best checkpoint by held-out loss, calibrate, save to ``config.out``; returns its metrics.

    A killed run goes on from its last checkpoint with ``resume=True``.
    """
    import numpy as np
    import torch
    from transformers import AutoModel, AutoTokenizer, Trainer

    from lqr.classifiers.pair_encoder import PAIR_CONFIG, PairEncoder, encode_pairs

    torch.manual_seed(config.seed)
    if config.threads:
        torch.set_num_threads(config.threads)
    tokenizer = AutoTokenizer.from_pretrained(config.base)
    if (Path(config.base) / PAIR_CONFIG).is_file():
        model = PairEncoder.load(Path(config.base))  # go on from a trained one
    else:
        model = PairEncoder(AutoModel.from_pretrained(config.base, attn_implementation="eager"))

    freeze(model, config.frozen)
    set_dropout(model, config.dropout)

    def collate(rows: list[dict[str, Any]]) -> dict[str, Any]:
        inputs = encode_pairs(tokenizer, [r["question"] for r in rows], [r["text"] for r in rows], config.max_tokens)
        return {**inputs, "labels": torch.tensor([r["label"] for r in rows])}

    def metrics(prediction: Any) -> dict[str, float]:
        return scores(np.ravel(prediction.predictions), np.ravel(prediction.label_ids))

    arguments = trainer_arguments(config, len(pairs), label_names=["labels"], per_device_eval_batch_size=64)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=_Pairs(pairs),
        eval_dataset=_Pairs(held_out),
        data_collator=collate,
        compute_metrics=metrics,
    )
    trainer.train(resume_from_checkpoint=resume or None)
    predicted = trainer.predict(_Pairs(held_out))
    logits, labels = np.ravel(predicted.predictions), np.ravel(predicted.label_ids)
    temperature = fit_temperature(logits, labels)
    result = {**scores(logits, labels), "temperature": temperature, "ece": calibration_error(logits / temperature, labels)}
    model.save(config.out, tokenizer)
    (config.out / "calibration.json").write_text(json.dumps({"temperature": temperature}) + "\n", encoding="utf-8")
    record = {
        **asdict(config),
        "out": config.out.name,
        "base": Path(config.base).name,
        "pairs": len(pairs),
        "held_out": len(held_out),
        "metrics": result,
    }
    (config.out / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return result


def freeze(model: Any, layers: int) -> None:
    """Keep the embeddings and the first ``layers`` layers of ``model`` from being trained; with 0, nothing is kept."""
    still = [".embeddings.", *(f".layer.{number}." for number in range(layers))] if layers else []
    for name, weights in model.named_parameters():
        weights.requires_grad = not any(part in f".{name}" for part in still)


def set_dropout(model: Any, share: float | None) -> None:
    """Drop ``share`` of the values wherever ``model`` drops any; None leaves it as it is."""
    import torch

    for module in model.modules():
        if share is not None and isinstance(module, torch.nn.Dropout):
            module.p = share


def trainer_arguments(config: TrainConfig, rows: int, **more: Any) -> Any:
    """The ``TrainingArguments`` of the paper's schedule over ``rows`` training rows; ``more`` is handed on."""
    import torch
    from transformers import TrainingArguments

    return TrainingArguments(
        output_dir=str(config.out / "checkpoints"),
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=int(config.warmup * int(config.epochs * rows / config.batch)),
        weight_decay=config.weight_decay,
        train_sampling_strategy="group_by_length",
        bf16=config.bf16 and bf16_helps(),
        use_cpu=not torch.cuda.is_available(),
        eval_strategy="steps",
        eval_steps=config.eval_every,
        save_strategy="steps",
        save_steps=config.eval_every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        logging_steps=50,
        remove_unused_columns=False,
        seed=config.seed,
        report_to=[],
        **more,
    )


def scores(logits: Any, labels: Any) -> dict[str, float]:
    """Accuracy and F1 at probability one half."""
    said, true = logits > 0, labels > 0.5
    hits = float((said & true).sum())
    precision, recall = hits / max(1.0, float(said.sum())), hits / max(1.0, float(true.sum()))
    return {"accuracy": float((said == true).mean()), "f1": 2 * precision * recall / max(1e-9, precision + recall)}


def fit_temperature(logits: Any, labels: Any) -> float:
    """The temperature of least negative log-likelihood, by search over a grid (Guo et al. 2017, section 4.2)."""
    import numpy as np

    def loss(temperature: float) -> float:
        z = logits / temperature
        return float(np.mean(np.logaddexp(0, z) - labels * z))

    grid = np.exp(np.linspace(np.log(0.25), np.log(4), 161))
    return round(float(min(grid, key=loss)), 4)


def calibration_error(logits: Any, labels: Any, bins: int = 10) -> float:
    """Expected calibration error of ``sigmoid(logits)`` in ``bins`` equal bins."""
    import numpy as np

    probability = 1 / (1 + np.exp(-logits))
    place = np.minimum((probability * bins).astype(int), bins - 1)
    error = 0.0
    for b in range(bins):
        inside = place == b
        if inside.any():
            error += float(inside.mean()) * abs(float(probability[inside].mean()) - float(labels[inside].mean()))
    return round(error, 4)
