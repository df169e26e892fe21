"""Any Hub encoder learns a pattern, goes on after a kill, and refuses to mix two runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tiny_models import tiny_encoder

from lqr.errors import ReadError
from lqr.training.text_classifier import (
    CHECKPOINTS,
    Progress,
    Row,
    TextConfig,
    finish,
    logits_of,
    new_model,
    restyle,
    save,
    train,
)

ROWS: list[Row] = [
    (f"{wh} {noun} or {other}?" if label else f"{wh} {noun}?", float(label))
    for wh in ("which", "who", "what")
    for noun, other in (("ewe", "ram"), ("maize", "wheat"), ("hay", "silage"), ("clover", "vetch"))
    for label in (0, 1)
] * 4
TEXTS = [text for text, _ in ROWS]


def config(tmp_path: Path, kind: str = "bert") -> TextConfig:
    base = tiny_encoder(tmp_path / f"base-{kind}", kind, TEXTS)
    return TextConfig(
        base=str(base),
        out=tmp_path / "out",
        epochs=6,
        batch=16,
        learning_rate=5e-3,
        looks=1,
        bf16=False,
        max_tokens=16,
        threads=1,
    )


@pytest.mark.parametrize("kind", ["bert", "roberta", "longformer"])
def test_any_base_learns(tmp_path: Path, kind: str) -> None:
    told: list[Progress] = []
    trained = train(ROWS, ROWS[:24], config(tmp_path, kind), progress=told.append)
    right = (trained.held_out_logits > 0) == [label > 0.5 for _, label in ROWS[:24]]
    assert right.mean() > 0.9
    assert [p.step for p in told] == list(range(1, len(told) + 1))
    assert told[0].seconds_left > 0
    assert told[0].steps == 36
    assert {"eval_loss", "epoch"} <= set(trained.history[-2]) | set(trained.history[-1])


def test_saved_weights_give_the_same_logits(tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification

    trained = train(ROWS, ROWS[:24], replace(config(tmp_path), epochs=1))
    save(trained, tmp_path / "out")
    finish(tmp_path / "out")
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path / "out").float().eval()
    assert logits_of(again, trained.tokenizer, TEXTS[:8]) == pytest.approx(
        logits_of(trained.model, trained.tokenizer, TEXTS[:8]), abs=0.01
    )
    assert not (tmp_path / "out" / CHECKPOINTS).exists()
    assert not list((tmp_path / "out").glob("*.bin"))


def test_adapter_is_small_and_trains_the_head(tmp_path: Path) -> None:
    trained = train(ROWS, ROWS[:24], replace(config(tmp_path), adapter=4, epochs=1))
    moving = [name for name, weight in trained.model.named_parameters() if weight.requires_grad]
    assert any("classifier" in name for name in moving)
    assert all("lora_" in name or "classifier" in name for name in moving)
    save(trained, tmp_path / "out")
    assert (tmp_path / "out" / "adapter_model.safetensors").is_file()
    assert not (tmp_path / "out" / "model.safetensors").exists()


def test_goes_on_after_a_kill_to_the_same_end(tmp_path: Path) -> None:
    settings = replace(config(tmp_path), epochs=4, patience=99)
    whole = train(ROWS, ROWS[:24], replace(settings, out=tmp_path / "whole"))

    class Killed(Exception):
        pass

    def kill(progress: Progress) -> None:
        if progress.step == 15:
            raise Killed

    with pytest.raises(Killed):
        train(ROWS, ROWS[:24], settings, progress=kill)
    steps: list[int] = []
    resumed = train(ROWS, ROWS[:24], settings, resume=True, progress=lambda p: steps.append(p.step))
    assert steps[0] == 13  # the checkpoint of step 12
    assert resumed.held_out_logits == pytest.approx(whole.held_out_logits, abs=1e-4)


def test_an_unfinished_run_is_not_overwritten(tmp_path: Path) -> None:
    settings = replace(config(tmp_path), epochs=1)
    train(ROWS, ROWS[:24], settings)
    with pytest.raises(ReadError, match="--resume"):
        train(ROWS, ROWS[:24], settings)
    with pytest.raises(ReadError, match="other settings or data"):
        train(ROWS, ROWS[:24], replace(settings, learning_rate=1e-3), resume=True)
    with pytest.raises(ReadError, match="other settings or data"):
        train(ROWS[1:], ROWS[:24], settings, resume=True)


def test_stops_early(tmp_path: Path) -> None:
    told: list[Progress] = []
    # labels that contradict the training rows: the held-out loss can only rise
    opposed = [(text, 1 - label) for text, label in ROWS[:24]]
    train(ROWS, opposed, replace(config(tmp_path), epochs=30, patience=2), progress=told.append)
    assert told[-1].step < told[-1].steps / 2


def test_no_rows(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="0 rows"):
        train([], ROWS, TextConfig(base="x", out=tmp_path))


def test_order_of_texts_does_not_matter(tmp_path: Path) -> None:
    tokenizer, model = new_model(config(tmp_path))
    model.eval()
    mixed = [TEXTS[1], "which", TEXTS[0], "who hay or silage or maize or wheat?"]
    alone = [float(logits_of(model, tokenizer, [text])[0]) for text in mixed]
    assert logits_of(model, tokenizer, mixed, batch=2) == pytest.approx(alone, abs=1e-5)


@pytest.mark.parametrize(
    ("lower", "bare", "expected"),
    [
        (False, False, "Is Hu a Breed?"),
        (True, False, "is hu a breed?"),
        (False, True, "Is Hu a Breed"),
        (True, True, "is hu a breed"),
    ],
)
def test_restyle(lower: bool, bare: bool, expected: str) -> None:
    assert restyle("Is Hu a Breed?", lower=lower, bare=bare) == expected
