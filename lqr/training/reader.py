"""Trains ``models/reader``: answer spans, yes or no, and needed sentences, with one encoder.

The loss is the sum of the marginal cross-entropy of the span's ends over all right places, the cross-entropy of the kind,
and the binary cross-entropy of the sentences that somebody marked. Optimiser and schedule are the paper's, as in
:mod:`lqr.training.cross_encoder`. Knows nothing of where windows come from.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lqr.training.cross_encoder import TrainConfig, calibration_error, fit_temperature, set_dropout, trainer_arguments
from lqr.training.relevance import apart
from lqr.training.windows import SPAN, ReadingTask

HELD_OUT = 400


class _Tasks:
    """As :class:`lqr.training.cross_encoder._Pairs`: ``input_ids`` only tells the sampler a length."""

    def __init__(self, tasks: Sequence[ReadingTask]) -> None:
        self._tasks = tasks

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, index: int) -> dict[str, Any]:
        task = self._tasks[index]
        return {"task": task, "input_ids": range((len(task.question) + len(task.window.text)) // 4)}


def train_reader(tasks: Sequence[ReadingTask], config: TrainConfig, *, resume: bool = False) -> dict[str, float]:
    """Fine-tune from ``config.base`` (an encoder, a pair encoder, or a reader with its heads), calibrate, save to ``config.out``.

    About ``HELD_OUT`` windows (or a fifth), of questions that nothing is trained on, serve
    for choosing the checkpoint and for calibration.
    Returns the held-out metrics.
    """
    import numpy as np
    import torch
    from transformers import AutoModel, AutoTokenizer, Trainer

    from lqr.classifiers.pair_encoder import PAIR_CONFIG, PairEncoder
    from lqr.classifiers.span_encoder import SPAN_CONFIG, SpanEncoder, Window, encode_windows

    torch.manual_seed(config.seed)
    if config.threads:
        torch.set_num_threads(config.threads)
    tokenizer = AutoTokenizer.from_pretrained(config.base)
    if (Path(config.base) / SPAN_CONFIG).is_file():
        network = SpanEncoder.load(Path(config.base))
    elif (Path(config.base) / PAIR_CONFIG).is_file():
        trained = PairEncoder.load(Path(config.base))
        network = SpanEncoder(trained.encoder)
        # "needed for the answer" begins where "helps to answer" ended: the heads have one form
        network.evidence.load_state_dict(trained.head.state_dict())
    else:
        network = SpanEncoder(AutoModel.from_pretrained(config.base, attn_implementation="eager").float())
    set_dropout(network, config.dropout)

    class WithLoss(torch.nn.Module):  # the Trainer wants a loss from the model; inference has no need of it
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(
            self, starts: torch.Tensor, ends: torch.Tensor, kinds: torch.Tensor, needed: torch.Tensor, **inputs: torch.Tensor
        ) -> dict[str, torch.Tensor]:
            out = self.network(**inputs)
            spans = starts.sum(1) > 0
            span = torch.zeros((), device=kinds.device)
            if spans.any():
                span = (marginal(out["start"], starts)[spans] + marginal(out["end"], ends)[spans]).mean() / 2
            answered = kinds >= 0
            kind = torch.zeros((), device=kinds.device)
            if answered.any():
                kind = torch.nn.functional.cross_entropy(out["kind"][answered], kinds[answered])
            needed = needed[:, : out["evidence"].shape[1]]
            marked = needed >= 0
            evidence = (
                torch.nn.functional.binary_cross_entropy_with_logits(out["evidence"][marked], needed[marked].float())
                if marked.any()
                else torch.zeros((), device=kinds.device)
            )
            return {"loss": span + kind + 2 * evidence}

    def collate(rows: list[dict[str, Any]]) -> dict[str, Any]:
        batch = [row["task"] for row in rows]
        windows = [Window(t.question, t.window.text, tuple((b, e) for b, e, _ in t.window.sentences)) for t in batch]
        inputs, offsets = encode_windows(tokenizer, windows, config.max_tokens)
        starts = torch.zeros(inputs["segments"].shape)
        ends = torch.zeros_like(starts)
        most = max(1, max(len(t.needed) for t in batch))
        needed = torch.full((len(batch), most), -1)
        kinds = torch.tensor([t.kind if t.answers or t.kind != SPAN else -1 for t in batch])
        for row, task in enumerate(batch):
            needed[row, : len(task.needed)] = torch.tensor(task.needed)
            for first, last in token_spans(task.answers, offsets[row]):
                starts[row, first] = ends[row, last] = 1
            if task.kind == SPAN and not starts[row].any():
                starts[row, 0] = ends[row, 0] = 1  # "not here": no answer, or one cut off
                if task.answers:
                    kinds[row] = -1
        return {**inputs, "starts": starts, "ends": ends, "kinds": kinds, "needed": needed}

    count = min(HELD_OUT, max(1, len(tasks) // 5))
    training, held_out = apart(tasks, count, random.Random(config.seed))  # a question has several windows
    model = WithLoss()
    arguments = trainer_arguments(
        config,
        len(training),
        label_names=["starts", "ends", "kinds", "needed"],
        per_device_eval_batch_size=32,
        prediction_loss_only=True,
    )
    trainer = Trainer(
        model=model, args=arguments, train_dataset=_Tasks(training), eval_dataset=_Tasks(held_out), data_collator=collate
    )
    trainer.train(resume_from_checkpoint=resume or None)
    logits, labels = [], []
    network.eval()
    with torch.inference_mode():
        for begin in range(0, len(held_out), 32):
            inputs = collate([{"task": task} for task in held_out[begin : begin + 32]])
            needed = inputs.pop("needed")
            for name in ("starts", "ends", "kinds"):
                inputs.pop(name)
            out = network(**{name: value.to(network.span.weight.device) for name, value in inputs.items()})["evidence"].cpu()
            marked = needed[:, : out.shape[1]] >= 0
            logits.append(out[marked].numpy())
            labels.append(needed[:, : out.shape[1]][marked].numpy())
    z, y = np.concatenate(logits), np.concatenate(labels)
    temperature = fit_temperature(z, y)
    result = {
        "loss": float(trainer.evaluate()["eval_loss"]),
        "evidence_temperature": temperature,
        "evidence_ece": calibration_error(z / temperature, y),
    }
    network.save(config.out, tokenizer)
    calibration = {"evidence_temperature": temperature}
    (config.out / "calibration.json").write_text(json.dumps(calibration) + "\n", encoding="utf-8")
    record = {
        **asdict(config),
        "out": config.out.name,
        "base": Path(config.base).name,
        "windows": len(training),
        "held_out": len(held_out),
        "metrics": result,
    }
    (config.out / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return result


def marginal(logits: Any, right: Any) -> Any:
    """Negative log of the probability of all right places together: ``(n, length)`` logits and 0/1 marks to ``(n,)``."""
    import torch

    return torch.logsumexp(logits, 1) - torch.logsumexp(logits.masked_fill(right == 0, float("-inf")), 1)


def token_spans(spans: Sequence[tuple[int, int]], offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """First and last token of each character span; spans that were cut off are left out."""
    found = []
    for begin, end in spans:
        first = next((i for i, (b, e) in enumerate(offsets) if b <= begin < e), None)
        last = next((i for i, (b, e) in enumerate(offsets) if b < end <= e), None)
        if first is not None and last is not None and first <= last:
            found.append((first, last))
    return found
