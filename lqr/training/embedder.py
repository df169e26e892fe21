"""Fine-tunes the sentence encoder, so that the vectors of a collection's passages lie near those of the questions asked on them.

Each question is pulled to its own passage and pushed from those of the other questions in its batch (InfoNCE with in-batch
negatives; van den Oord et al. 2018, arXiv 1807.03748, used as by Karpukhin et al. 2020, arXiv 2004.04906, section 3.2).
The word embeddings stay as they are: what no question names keeps its place. Knows nothing of where the examples come from.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lqr.training.cross_encoder import TrainConfig, trainer_arguments

log = logging.getLogger(__name__)

SCALE = 20.0  # of the cosines before the softmax, as sentence-transformers trains MiniLM
QUESTION_TOKENS = 48


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the text of a passage that answers it, as it is indexed."""

    question: str
    text: str


def train(
    examples: Sequence[Example], held_out: Sequence[Example], config: TrainConfig, *, resume: bool = False
) -> dict[str, float]:
    """Fine-tune ``config.base`` (a sentence-transformers folder or Hub id), keep the best checkpoint by held-out loss, save fp16.

    Returns ``loss`` and ``accuracy`` on the held-out batches: the share of questions nearest to their own passage of
    ``config.batch``. A killed run goes on from its last checkpoint with ``resume=True``.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import Trainer

    torch.manual_seed(config.seed)
    if config.threads:
        torch.set_num_threads(config.threads)
    encoder = SentenceTransformer(config.base, device="cpu", model_kwargs={"attn_implementation": "eager"}).float()
    tokenizer = encoder.tokenizer
    still = (".embeddings.", ".pooler.", *(f".layer.{number}." for number in range(config.frozen)))
    for name, weights in encoder.named_parameters():
        weights.requires_grad = not any(part in name for part in still)

    def collate(rows: list[Example]) -> dict[str, Any]:
        texts = [row.text for row in rows]
        questions = tokenizer([r.question for r in rows], padding=True, truncation=True, max_length=QUESTION_TOKENS)
        passages = tokenizer(texts, padding=True, truncation=True, max_length=config.max_tokens)
        homes = [texts.index(text) for text in texts]
        return {
            "questions": {k: torch.tensor(v) for k, v in questions.items()},
            "passages": {k: torch.tensor(v) for k, v in passages.items()},
            "labels": torch.tensor(homes),
        }

    arguments = trainer_arguments(
        config, len(examples), label_names=["labels"], per_device_eval_batch_size=config.batch, dataloader_drop_last=True
    )
    arguments.train_sampling_strategy = "random"  # batches by length would let the length tell the passage
    trainer = Trainer(
        model=_contrast(encoder),
        args=arguments,
        train_dataset=_Examples(examples),
        eval_dataset=_Examples(held_out),
        data_collator=collate,
        compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
    )
    trainer.train(resume_from_checkpoint=resume or None)
    metrics = trainer.evaluate()
    result = {"loss": round(metrics["eval_loss"], 4), "accuracy": round(metrics["eval_accuracy"], 4)}
    config.out.mkdir(parents=True, exist_ok=True)
    encoder.half().save(str(config.out), safe_serialization=True)
    record = {
        **asdict(config),
        "out": config.out.name,
        "base": Path(config.base).name,
        "examples": len(examples),
        "held_out": len(held_out),
        "metrics": result,
    }
    (config.out / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return result


class _Examples:
    """What the trainer draws from."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._examples = examples

    def __len__(self) -> int:
        return len(self._examples)

    def __getitem__(self, index: int) -> Example:
        return self._examples[index]


def _contrast(encoder: Any) -> Any:
    """A module that gives the loss of a batch and its cosines, scaled."""
    import torch

    class Contrast(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, questions: dict[str, Any], passages: dict[str, Any], labels: Any) -> dict[str, Any]:
            own, others = (
                torch.nn.functional.normalize(self.encoder(dict(part))["sentence_embedding"], dim=-1)
                for part in (questions, passages)
            )
            logits = SCALE * own @ others.T
            # a passage that comes twice in a batch counts once: it is no wrong answer to the other question
            again = labels != torch.arange(len(labels), device=labels.device)
            logits = logits.masked_fill(again[None, :], -1e4)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    return Contrast()
