"""Fine-tunes a :class:`SentenceEncoder` to say which sentences of a passage belong to a good answer.

Goes on from a trained pair encoder, whose encoder and head it shares. Schedule and calibration are those of the relevance model
(:mod:`lqr.training.cross_encoder`). Knows nothing of where the windows come from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lqr.training.cross_encoder import TrainConfig, calibration_error, fit_temperature, freeze, scores, trainer_arguments
from lqr.training.evidence_windows import Marked


class _Windows:
    """Tokenised when asked for; batches are grouped by length, or padding would double the work."""

    def __init__(self, rows: Sequence[Marked]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        row = self._rows[index]
        # the length-grouping sampler measures ``input_ids``; characters stand in for tokens, it only needs an order
        return {"row": row, "input_ids": range((len(row.window.question) + len(row.window.heading) + len(row.window.text)) // 4)}


def train(rows: Sequence[Marked], held_out: Sequence[Marked], config: TrainConfig, *, resume: bool = False) -> dict[str, float]:
    """Fine-tune, keep the best checkpoint by held-out loss, calibrate, save to ``config.out``; returns its metrics.

    Accuracy, F1 and the temperature are of the held-out units, those that a good answer says (label over a half) against others.
    A killed run goes on from its last checkpoint with ``resume=True``.
    """
    import numpy as np
    import torch
    from transformers import AutoTokenizer, Trainer

    from lqr.classifiers.sentence_encoder import UNMARKED, SentenceEncoder, encode_windows

    torch.manual_seed(config.seed)
    if config.threads:
        torch.set_num_threads(config.threads)
    tokenizer = AutoTokenizer.from_pretrained(config.base)
    model = SentenceEncoder.load(Path(config.base))
    freeze(model, config.frozen)

    def collate(items: list[dict[str, Any]]) -> dict[str, Any]:
        marked: list[Marked] = [item["row"] for item in items]
        inputs = encode_windows(tokenizer, [row.window for row in marked], config.max_tokens)
        most = max(len(row.labels) for row in marked)
        labels = [[*row.labels, *[UNMARKED] * (most - len(row.labels))] for row in marked]
        weights = [[*row.weights, *[0.0] * (most - len(row.weights))] for row in marked]
        return {**inputs, "labels": torch.tensor(labels), "weights": torch.tensor(weights)}

    def flat(logits: Any, labels: Any) -> tuple[Any, Any]:
        logits, labels = np.ravel(logits), np.ravel(labels)
        return logits[labels != UNMARKED], labels[labels != UNMARKED]

    trainer = Trainer(
        model=model,
        args=trainer_arguments(config, len(rows), label_names=["labels"], per_device_eval_batch_size=32),
        train_dataset=_Windows(rows),
        eval_dataset=_Windows(held_out),
        data_collator=collate,
        compute_metrics=lambda predicted: scores(*flat(predicted.predictions, predicted.label_ids)),
    )
    trainer.train(resume_from_checkpoint=resume or None)
    predicted = trainer.predict(_Windows(held_out))
    logits, labels = flat(predicted.predictions, predicted.label_ids)
    temperature = fit_temperature(logits, labels)
    said = (labels > 0.5).astype(float)
    result = {**scores(logits, labels), "temperature": temperature, "ece": calibration_error(logits / temperature, said)}
    model.save(config.out, tokenizer)
    (config.out / "calibration.json").write_text(json.dumps({"temperature": temperature}) + "\n", encoding="utf-8")
    record = {
        **asdict(config),
        "out": config.out.name,
        "base": Path(config.base).name,
        "windows": len(rows),
        "held_out": len(held_out),
        "metrics": result,
    }
    (config.out / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return result
