"""Tests of lqr.classifiers.evidence with a tiny random encoder: places, batches, windows, and what stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from lqr.classifiers.evidence import AloneEvidence, SentenceEvidence
from lqr.errors import WeightsError
from lqr.types import Passage, Window
from lqr.writing.units import WINDOW, units_of, windows_of
from tests.tiny_models import tiny_encoder

TEXT = "Sheep need nine grams of salt a day. The cow needs more. Wool is cut in spring."
SPANS = ((0, 36), (37, 56), (57, 79))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import AutoModel, AutoTokenizer

    from lqr.classifiers.sentence_encoder import SentenceEncoder

    base = tiny_encoder(tmp_path_factory.mktemp("base") / "encoder", "bert", [TEXT, "how much salt do sheep need?"])
    torch.manual_seed(7)
    where = tmp_path_factory.mktemp("models") / "evidence"
    SentenceEncoder(AutoModel.from_pretrained(base)).save(where, AutoTokenizer.from_pretrained(base))
    return where


def window(text: str = TEXT, spans: tuple[tuple[int, int], ...] = SPANS, heading: str = "Salt") -> Window:
    return Window("how much salt do sheep need?", heading, text, spans)


def test_a_unit_is_the_mean_of_its_own_tokens_read_in_the_whole_passage(folder: Path) -> None:
    import torch
    from transformers import AutoTokenizer

    from lqr.classifiers.sentence_encoder import SentenceEncoder

    model, tokenizer = SentenceEncoder.load(folder).eval(), AutoTokenizer.from_pretrained(folder)
    found = SentenceEvidence(folder, max_tokens=64).score([window()])[0]
    inputs = tokenizer("how much salt do sheep need?", f"Salt. {TEXT}", return_offsets_mapping=True, return_tensors="pt")
    offsets, sides = inputs.pop("offset_mapping")[0].tolist(), inputs.sequence_ids(0)
    with torch.inference_mode():
        states = model.encoder(**inputs).last_hidden_state[0]
        question = states[[i for i, side in enumerate(sides) if side == 0]].mean(0)
        for (start, end), probability in zip(SPANS, found, strict=True):
            inside = [i for i, side in enumerate(sides) if side == 1 and start + 6 <= offsets[i][0] and offsets[i][1] <= end + 6]
            unit = states[inside].mean(0)
            cosine = torch.nn.functional.cosine_similarity(question, unit, dim=0).unsqueeze(0)
            logit = model.head(torch.cat([question, unit, (question - unit).abs(), question * unit, cosine]))
            assert probability == pytest.approx(torch.sigmoid(logit).item(), abs=1e-4)


def test_a_batch_says_what_each_window_alone_says_in_the_order_asked(folder: Path) -> None:
    model = SentenceEvidence(folder, max_tokens=64)
    windows = [window(), window(TEXT[37:], ((0, 19), (20, 42)), ""), window("Rain.", ((0, 5),)), window(TEXT * 40)]
    together = model.score(windows)
    assert [len(row) for row in together] == [3, 2, 1, 3]
    for one, row in zip(windows, together, strict=True):
        assert row == pytest.approx(model.score([one])[0], abs=1e-5)
    assert model.score([]) == []


def test_a_sentence_is_read_with_its_neighbours(folder: Path) -> None:
    model = SentenceEvidence(folder, max_tokens=64)
    alone = model.score([window(TEXT[37:56], ((0, 19),))])[0][0]
    assert model.score([window()])[0][1] != pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("missing", ["model.safetensors", "head.safetensors", "tokenizer.json"])
def test_a_missing_file_names_the_folder(folder: Path, tmp_path: Path, missing: str) -> None:
    import shutil

    broken = Path(shutil.copytree(folder, tmp_path / "evidence"))
    (broken / missing).unlink()
    with pytest.raises(WeightsError, match="models/evidence"):
        SentenceEvidence(broken)


def test_what_stands_in_reads_every_unit_alone() -> None:
    seen = []

    def scorer(pairs: object) -> list[float]:
        seen.extend(pairs)  # type: ignore[call-overload]
        return [n / 10 for n in range(len(seen))]

    assert AloneEvidence(scorer, "overlap").score([window(), window("Rain.", ((0, 5),))]) == [[0.0, 0.1, 0.2], [0.3]]
    assert [text for _, (_, text) in seen] == [*(TEXT[s:e] for s, e in SPANS), "Rain."]


def passage(text: str, kind: str = "paragraph") -> Passage:
    return Passage("p", "d", "Salt", ("Feeding",), text, 0, 0, len(text), kind)  # type: ignore[arg-type]


def test_windows_hold_every_unit_once_and_in_order() -> None:
    for text in (TEXT, TEXT * 30, "x" * 3000 + ". " + TEXT, "- " + "\n- ".join(TEXT.split(". ") * 20)):
        units = units_of(passage(text, "list_item" if text.startswith("-") else "paragraph"))
        windows = windows_of("q", units)
        assert [w.text[s:e] for w in windows for s, e in w.spans] == [unit.text for unit in units]
        assert all(len(w.text) <= WINDOW or len(w.spans) == 1 for w in windows)


def test_a_lead_in_is_read_with_its_items() -> None:
    (first, *_) = windows_of("q", units_of(passage("Signs of thirst are: dry noses. They drink little.")))
    assert first.text.startswith("Signs of thirst are")
    assert windows_of("q", []) == []
