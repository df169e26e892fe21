"""Trains the support checker: a token reader on claims made by program, then on labelled claims, then a logistic on top.

Three steps, each with its own data: (1) pairs of :mod:`lqr.training.support_pairs`, with a loss for each word of the claim;
(2) the tuning half of the labelled sets, mixed with more of (1); (3) a logistic over the reader and the signals of words, on
labelled pairs that step 2 did not see. The schedule runs on processor time, so a busy machine takes longer, not trains less.
The other half of each labelled set is never read here: ``lqr evaluate support`` reports on it.
"""

from __future__ import annotations

import copy
import json
import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lqr.classifiers.support import FEATURES, LOGISTIC_FILE, MAX_TOKENS, WINDOW_WORDS, ReaderSupport, WordSupport
from lqr.classifiers.support_signals import SIGNALS, window_of
from lqr.training.support_claims import SEED, SETS, LabelledClaim, halves, load_claims, read_lines, set_of
from lqr.training.support_pairs import SupportPair, from_articles, from_questions, from_sentences

if TYPE_CHECKING:
    from lqr.classifiers.token_reader import TokenReader

log = logging.getLogger(__name__)

READER_SHARE = 0.75  # of the tuning half, for step 2; the rest fits the logistic


@dataclass(frozen=True, slots=True)
class SupportConfig:
    """What a run is made of; minutes are of processor time."""

    base: str
    out: Path
    minutes: float = 12.0
    labelled_minutes: float = 4.0
    pairs: int = 60000
    batch: int = 32
    learning_rate: float = 1e-4
    labelled_rate: float = 4e-5
    word_weight: float = 0.5  # of the loss for each word, beside that of the claim
    seed: int = SEED


def made_pairs(data: Path, limit: int, seed: int = SEED) -> list[SupportPair]:
    """Pairs by program from the training paragraphs of squad and the articles of hotpotqa, shuffled."""
    rng = random.Random(seed)
    paragraphs, articles = read_lines(data / "squad/train_paragraphs.jsonl.gz"), read_lines(data / "hotpotqa/corpus.jsonl.gz")
    rng.shuffle(paragraphs)
    rng.shuffle(articles)
    cut = len(paragraphs) * 2 // 3
    pairs = [
        *from_questions(paragraphs[:cut], rng),
        *from_articles(articles, rng),
        *from_sentences([p["text"] for p in (*paragraphs[cut:], *articles[: len(articles) // 2])], rng),
    ]
    rng.shuffle(pairs)
    return pairs[:limit]


def train_support(
    data: Path, config: SupportConfig, progress: Callable[[str, float, float], None] | None = None
) -> dict[str, Any]:
    """Train, fit, save to ``config.out``; returns the record that is written to ``training.json``.

    Args:
        data: folder with squad, hotpotqa and the labelled sets.
        progress: called with (step, share done in [0, 1], running loss).
    """
    import torch
    from transformers import AutoTokenizer

    from lqr.classifiers.token_reader import TokenReader

    torch.manual_seed(config.seed)
    tokenizer = AutoTokenizer.from_pretrained(config.base)
    model = TokenReader(_encoder(config.base))
    pairs = made_pairs(data, config.pairs, config.seed)
    held, pairs = pairs[:600], pairs[600:]
    seen = _run(model, tokenizer, lambda: iter(pairs), config, config.minutes, config.learning_rate, "made", progress)
    made_accuracy = _accuracy(model, tokenizer, held)
    _saved(model, tokenizer, config.out / "made")
    log.info("pairs made by program: %d seen, accuracy %.3f on %d held out", seen, made_accuracy, len(held))

    rng = random.Random(config.seed)
    for_reader: list[SupportPair] = []
    for_logistic: list[LabelledClaim] = []
    for name in SETS:
        tuning, _ = halves(load_claims(data, name), config.seed)
        groups = sorted({row.group for row in tuning})
        rng.shuffle(groups)
        first = set(groups[: int(READER_SHARE * len(groups))])
        for row in tuning:
            if row.group in first:
                for_reader.append(
                    SupportPair(row.claim, window_of(row.claim, row.evidence, WINDOW_WORDS), row.supported, origin=name)
                )
            else:
                for_logistic.append(row)

    def mixed() -> Iterator[SupportPair]:
        spare = iter(pairs[seen:] + pairs[:seen])
        batch = list(for_reader)
        rng.shuffle(batch)
        for pair in batch:
            yield pair
            yield next(spare)

    if config.labelled_minutes:
        _run(model, tokenizer, mixed, config, config.labelled_minutes, config.labelled_rate, "labelled", progress)
    _saved(model, tokenizer, config.out)
    fitted = fit_logistic(config.out, for_logistic)
    recipe = {name: value for name, value in asdict(config).items() if name not in ("base", "out", "pairs")}
    record = {
        "base": Path(config.base).name,
        **recipe,
        "pairs_seen": seen,
        "made_held_out": len(held),
        "made_accuracy": made_accuracy,
        "labelled_for_reader": len(for_reader),
        **fitted,
    }
    (config.out / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def fit_words(data: Path, out: Path, seed: int = SEED) -> dict[str, Any]:
    """Fit the checker of words alone on the tuning halves of all sets; no reader is trained."""
    rows = [row for name in SETS for row in halves(load_claims(data, name), seed)[0]]
    out.mkdir(parents=True, exist_ok=True)
    return _fit(out, rows, WordSupport.features([(row.claim, row.evidence) for row in rows]), SIGNALS)


def fit_logistic(folder: Path, rows: Sequence[LabelledClaim]) -> dict[str, Any]:
    """Fit weights and thresholds over the reader in ``folder`` and the signals on ``rows``; writes ``logistic.json``."""
    # the file must be there to load the model; its weights are not used for features
    _write_logistic(folder, {"bias": 0.0, "reader": 1.0}, 0.5, 0.5, {})
    features = [values for values, _ in ReaderSupport(folder).features([(row.claim, row.evidence) for row in rows])]
    return _fit(folder, rows, features, FEATURES)


def _fit(
    folder: Path, rows: Sequence[LabelledClaim], features: Sequence[dict[str, float]], names: Sequence[str]
) -> dict[str, Any]:
    """Fit the logistic, each set and each label weighing the same.

    ``supported`` is the threshold of best mean balanced accuracy over the sets, ``partial`` the probability that nine in
    ten supported rows reach: what lies between is shown, marked.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    x = np.array([[values[name] for name in names] for values in features])
    y = np.array([row.supported for row in rows], dtype=int)
    sets = np.array([set_of(row) for row in rows])
    weight = np.zeros(len(y))
    for name in set(sets):
        for label in (0, 1):
            chosen = (sets == name) & (y == label)
            weight[chosen] = len(y) / (2 * len(set(sets)) * chosen.sum())
    model = LogisticRegression(C=1.0, max_iter=3000).fit(x, y, sample_weight=weight)
    p = model.predict_proba(x)[:, 1]

    def balanced(threshold: float) -> float:
        return float((weight * ((p >= threshold) == (y == 1))).sum() / weight.sum())

    supported = max(map(float, np.quantile(p, np.linspace(0.1, 0.9, 81))), key=balanced)
    partial = min(float(np.quantile(p[y == 1], 0.1)), supported)
    weights = {"bias": round(float(model.intercept_[0]), 4)}
    weights |= {name: round(float(value), 4) for name, value in zip(names, model.coef_[0], strict=True)}
    figures = {"n": len(rows), "balanced_accuracy_on_fitted": round(balanced(supported), 4)}
    _write_logistic(folder, weights, supported, partial, figures)
    return {"logistic": figures}


def _write_logistic(folder: Path, weights: dict[str, float], supported: float, partial: float, figures: dict[str, Any]) -> None:
    record = {"weights": weights, "supported": round(supported, 4), "partial": round(partial, 4), "fit": figures, "seed": SEED}
    (folder / LOGISTIC_FILE).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _saved(model: TokenReader, tokenizer: Any, folder: Path) -> None:
    """Save a copy in fp16; the model itself goes on in fp32."""
    copy.deepcopy(model).save(folder, tokenizer)


def _encoder(base: str) -> Any:
    from transformers import AutoModel

    return AutoModel.from_pretrained(base, attn_implementation="eager").float()


def _run(
    model: Any,
    tokenizer: Any,
    source: Callable[[], Iterator[SupportPair]],
    config: SupportConfig,
    minutes: float,
    rate: float,
    step: str,
    progress: Callable[[str, float, float], None] | None,
) -> int:
    """AdamW with a linear rise and fall over the minutes; returns the number of pairs seen (passes over ``source`` repeat)."""
    import torch

    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    model.train()
    began, seen, loss_mean = time.process_time(), 0, 0.0
    stream = source()
    while (done := (time.process_time() - began) / (60 * minutes)) < 1:
        batch = [pair for _, pair in zip(range(config.batch), stream, strict=False)]
        if len(batch) < config.batch:
            stream = source()
            if not batch:
                continue
        for group in optimiser.param_groups:
            group["lr"] = rate * min(done / 0.05, 1.0) * (1 - done)
        inputs, labels, words, known = _batch(tokenizer, batch)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            tokens, logits = model(**inputs)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits.float(), 1 - labels)
        each = torch.nn.functional.binary_cross_entropy_with_logits(tokens.float(), words, reduction="none")
        # a wrong word is one among many: both kinds weigh the same
        weight = known * (1 + words * (known.sum() / (words * known).sum().clamp(min=1) - 1).clamp(max=20))
        loss = loss + config.word_weight * (each * weight).sum() / weight.sum().clamp(min=1)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        seen += len(batch)
        loss_mean = loss.item() if not loss_mean else 0.98 * loss_mean + 0.02 * loss.item()
        if progress is not None and seen // config.batch % 25 == 0:
            progress(step, done, loss_mean)
    model.eval()
    return seen


def _batch(tokenizer: Any, pairs: Sequence[SupportPair]) -> tuple[dict[str, Any], Any, Any, Any]:
    """Inputs, labels ``(n,)``, and for each token whether it is wrong and whether that is known, both ``(n, length)``."""
    import torch

    encoded = tokenizer(
        [pair.claim for pair in pairs], [pair.evidence for pair in pairs], truncation="only_second" if all(
            len(pair.claim) < 2 * MAX_TOKENS for pair in pairs) else "longest_first",
        max_length=MAX_TOKENS, padding=True, return_offsets_mapping=True, return_tensors="pt",
    )  # fmt: skip
    offsets = encoded.pop("offset_mapping").tolist()
    segments = torch.tensor([[-1 if s is None else s for s in encoded.sequence_ids(i)] for i in range(len(pairs))])
    wrong = torch.zeros(segments.shape)
    known = torch.zeros(segments.shape)
    for i, pair in enumerate(pairs):
        if not pair.supported and not pair.wrong:
            continue  # somewhere in it something is wrong
        for j, (start, end) in enumerate(offsets[i]):
            if segments[i, j] == 0 and end > start:
                known[i, j] = 1.0
                wrong[i, j] = float(any(start < b and end > a for a, b in pair.wrong))
    labels = torch.tensor([float(pair.supported) for pair in pairs])
    return {**encoded, "segments": segments}, labels, wrong, known


def _accuracy(model: Any, tokenizer: Any, pairs: Sequence[SupportPair]) -> float:
    import torch

    right = 0
    with torch.inference_mode():
        for begin in range(0, len(pairs), 50):
            inputs, labels, _, _ = _batch(tokenizer, pairs[begin : begin + 50])
            logits = model(**inputs)[1]  # of "not supported"
            right += int(((logits < 0) == (labels > 0.5)).sum())
    return round(right / len(pairs), 4)
