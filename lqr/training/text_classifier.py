"""Fine-tunes any Hub encoder to say yes or no to a text: one logit, read through a sigmoid.

Defaults are the paper's (Huang et al. 2024, section 4.2): AdamW, 5e-5, cosine decay after warm-up, batch 32, ten epochs at most;
the best checkpoint by held-out loss is kept and training ends when it stays the best for ``patience`` looks. A killed run goes
on from its last checkpoint. Knows nothing of where the texts come from or what yes means.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lqr.errors import ReadError
from lqr.training.hardware import bf16_helps

log = logging.getLogger(__name__)

CHECKPOINTS = "checkpoints"
_RUN = "run.json"


@dataclass(frozen=True, slots=True)
class TextConfig:
    """Hyper-parameters. ``adapter`` is the rank of a LoRA adapter; 0 trains every weight."""

    base: str
    out: Path
    epochs: float = 10.0
    batch: int = 32
    learning_rate: float = 5e-5
    warmup: float = 0.06  # share of the steps
    weight_decay: float = 0.01
    max_tokens: int = 64
    patience: int = 3  # looks without a better held-out loss before training ends
    looks: float = 2.0  # looks at the held-out rows in an epoch
    adapter: int = 0
    augment: bool = True  # half of the rows in lower case, half without a question mark, anew each time
    seed: int = 13
    bf16: bool = True
    threads: int = 0  # 0 = torch's own choice


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a training is. ``seconds_left`` supposes that it is not stopped early."""

    step: int
    steps: int
    epoch: float
    loss: float | None
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training leaves: the model (in evaluation mode), its curves, and the held-out logits."""

    model: Any
    tokenizer: Any
    history: tuple[dict[str, float], ...]
    held_out_logits: Any  # (n,)
    seconds: float
    epochs: float


Row = tuple[str, float]  # (text, label in [0, 1])


def train(
    rows: Sequence[Row],
    held_out: Sequence[Row],
    config: TextConfig,
    *,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Trained:
    """Fine-tune ``config.base``; nothing is written but checkpoints in ``config.out``, which :func:`finish` removes.

    Raises:
        ReadError: there are no rows, or an earlier run in ``config.out`` stands in the way.
        OSError: the base model is not to be had.
    """
    import numpy as np
    import torch
    from transformers import EarlyStoppingCallback, Trainer, TrainingArguments
    from transformers.trainer_utils import get_last_checkpoint

    if not rows or not held_out:
        raise ReadError(f"{len(rows)} rows to train on and {len(held_out)} held out; both must be there")
    folder = config.out / CHECKPOINTS
    _claim(folder, rows, held_out, config, resume)
    torch.manual_seed(config.seed)
    if config.threads:
        torch.set_num_threads(config.threads)
    tokenizer, model = new_model(config)
    steps_an_epoch = -(-len(rows) // config.batch)
    every = max(1, round(steps_an_epoch / config.looks))
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch,
        per_device_eval_batch_size=128,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=int(config.warmup * config.epochs * steps_an_epoch),
        weight_decay=config.weight_decay,
        bf16=config.bf16 and bf16_helps(),
        use_cpu=not torch.cuda.is_available(),
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        logging_steps=min(every, 25),
        remove_unused_columns=False,
        label_names=["labels"],
        seed=config.seed,
        report_to=[],
        disable_tqdm=True,
    )

    def collate(batch: list[tuple[str, float]]) -> dict[str, Any]:
        encoded = tokenizer(
            [text for text, _ in batch], truncation=True, max_length=config.max_tokens, padding=True, return_tensors="pt"
        )
        return {**encoded, "labels": torch.tensor([[label] for _, label in batch], dtype=torch.float32)}

    def metrics(prediction: Any) -> dict[str, float]:
        right = (np.ravel(prediction.predictions) > 0) == (np.ravel(prediction.label_ids) > 0.5)
        return {"accuracy": float(right.mean())}

    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=_Texts(rows, config.augment),
        eval_dataset=_Texts(held_out, False),
        data_collator=collate,
        compute_metrics=metrics,
        callbacks=[EarlyStoppingCallback(config.patience), _reporter(progress)],
    )
    _silence(trainer)
    began = time.perf_counter()
    last = get_last_checkpoint(str(folder)) if resume else None
    trainer.train(resume_from_checkpoint=last)
    seconds = time.perf_counter() - began
    logits = np.ravel(trainer.predict(_Texts(held_out, False)).predictions).astype(float)
    history = tuple({key: float(value) for key, value in entry.items()} for entry in trainer.state.log_history)
    return Trained(trainer.model.eval(), tokenizer, history, logits, seconds, float(trainer.state.epoch or 0.0))


def new_model(config: TextConfig) -> tuple[Any, Any]:
    """Tokenizer and untrained classifier: the base with a linear layer of one logit, with an adapter if one is wanted."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from lqr.quiet import no_progress_bar

    tokenizer = AutoTokenizer.from_pretrained(config.base)
    with no_progress_bar():
        model = AutoModelForSequenceClassification.from_pretrained(
            config.base, num_labels=1, problem_type="multi_label_classification", use_safetensors=True
        )
    if not config.adapter:
        return tokenizer, model
    from peft import LoraConfig, TaskType, get_peft_model

    lora = LoraConfig(
        task_type=TaskType.SEQ_CLS,
        r=config.adapter,
        lora_alpha=2 * config.adapter,
        lora_dropout=0.05,
        target_modules="all-linear",
    )
    return tokenizer, get_peft_model(model, lora)


def logits_of(model: Any, tokenizer: Any, texts: Sequence[str], *, max_tokens: int = 64, batch: int = 128) -> Any:
    """Logits ``(n,)`` of ``texts`` by a model of :func:`train`."""
    import numpy as np
    import torch

    found = np.zeros(len(texts))
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    device = next(model.parameters()).device
    with torch.inference_mode():
        for begin in range(0, len(order), batch):
            part = order[begin : begin + batch]
            inputs = tokenizer(
                [texts[i] for i in part], truncation=True, max_length=max_tokens, padding=True, return_tensors="pt"
            ).to(device)
            found[part] = model(**inputs).logits.float().squeeze(-1).cpu().numpy()
    return found


def save(trained: Trained, out: Path) -> None:
    """Write fp16 weights (or the adapter alone) and the tokenizer into ``out``; safetensors only."""
    out.mkdir(parents=True, exist_ok=True)
    trained.model.half().save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)  # peft writes an empty card of its own
    trained.tokenizer.save_pretrained(out)
    trained.model.float()


def finish(out: Path) -> None:
    """Remove the checkpoints of a run that is saved."""
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)


class _Texts:
    """Rows as they are fed. Augmentation draws from torch's generator, whose state a checkpoint keeps."""

    def __init__(self, rows: Sequence[Row], augment: bool) -> None:
        self._rows, self._augment = rows, augment

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Row:
        text, label = self._rows[index]
        if not self._augment:
            return text, label
        import torch

        lower, bare = torch.rand(2).tolist()
        return restyle(text, lower=lower < 0.5, bare=bare < 0.5), label


def restyle(text: str, *, lower: bool, bare: bool) -> str:
    """``text`` in lower case, and without its final mark: how a set writes its questions must not tell which set it is."""
    text = text.lower() if lower else text
    return re.sub(r"[\s?.!]+$", "", text) if bare else text


def _claim(folder: Path, rows: Sequence[Row], held_out: Sequence[Row], config: TextConfig, resume: bool) -> None:
    """Make ``folder`` this run's own, or see that the run in it is the same one."""
    settings = {key: value for key, value in asdict(config).items() if key not in ("out", "threads")}
    data = hashlib.sha256(json.dumps([list(rows), list(held_out)]).encode()).hexdigest()
    run = {"settings": settings, "data": data}
    path = folder / _RUN
    if path.is_file():
        if not resume:
            raise ReadError(f"{config.out} holds a run that was not finished: add --resume to go on, or remove {folder}")
        if json.loads(path.read_text(encoding="utf-8")) != run:
            raise ReadError(f"{config.out} holds a run with other settings or data: repeat its own, or remove {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def _reporter(progress: Callable[[Progress], None] | None) -> Any:
    from transformers import TrainerCallback

    class Reporter(TrainerCallback):  # type: ignore[misc]
        began = (0.0, 0)
        loss: float | None = None

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.began = (time.perf_counter(), state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            self.loss = float(logs["loss"]) if logs and "loss" in logs else self.loss

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            at, first = self.began
            pace = (time.perf_counter() - at) / max(1, state.global_step - first)
            left = pace * (state.max_steps - state.global_step)
            if progress:
                progress(Progress(state.global_step, state.max_steps, float(state.epoch or 0.0), self.loss, left))

    return Reporter()


def _silence(trainer: Any) -> None:
    """A library does not print: without its bars the Trainer prints every log entry."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
