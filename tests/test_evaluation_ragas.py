"""RAGAS scores: what is judged, what is kept, and ragas itself against a scripted judge on loopback where it is installed."""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from lqr.errors import LqrError, ReadError, SettingsError, WriterError
from lqr.evaluation import ragas_judge, ragas_scores
from lqr.evaluation.ragas_scores import Cache, Sample, identity, judge_result, means, sample_of
from lqr.retrieval.fake import HashingEmbedder
from lqr.writing.fake_lm import FakeLanguageModel
from lqr.writing.openai_lm import OpenAILanguageModel

PASSAGES = {"p1": "Footrot\nFootrot is treated with zinc sulphate.", "p2": "Maize\nMaize needs nitrogen.", "p3": "Hay"}
RESULT: dict[str, Any] = {
    "settings": {"dataset": "d", "k": 2},
    "summary": {"n": 3, "f1": 0.5},
    "rows": [
        {"id": "a", "question": "How is footrot treated?", "answers": ["zinc sulphate"], "prediction": "With zinc sulphate.",
         "retrieved": ["p1", "p2", "p3"], "scores": {"f1": 0.5}},
        {"id": "b", "question": "What does maize need?", "answers": ["nitrogen"], "prediction": "I do not know.", "refused": True,
         "read": ["p2"], "retrieved": ["p1", "p2"], "scores": {"f1": 0.0}},
        {"id": "c", "question": "What is hay?", "answers": [], "prediction": "Dry grass.", "retrieved": ["p3"], "scores": {}},
    ],
}  # fmt: skip


class ScriptedJudge:
    """Says what it is told by metric, and counts."""

    name, version = "scripted", "1"

    def __init__(self, **values: float | None) -> None:
        self.values, self.asked = values, 0

    def score(self, metric: str, sample: Sample) -> tuple[float | None, str]:
        self.asked += 1
        return self.values[metric], ""


def judge() -> ScriptedJudge:
    return ScriptedJudge(faithfulness=1.0, answer_relevancy=None, context_precision=0.5, context_recall=0.25)


def test_scores_stand_in_rows_and_means_say_how_many(tmp_path: Path) -> None:
    judged = judge_result(RESULT, judge(), PASSAGES, Cache(tmp_path / "c.jsonl"))
    first, _, bare = judged["rows"]
    assert first["scores"] == {
        "f1": 0.5, "faithfulness": 1.0, "answer_relevancy": None, "context_precision": 0.5, "context_recall": 0.25
    }  # fmt: skip
    assert bare["scores"] == {"faithfulness": 1.0, "answer_relevancy": None}  # no reference, nothing to recall
    answered = judged["summary"]["ragas"]["answered"]
    assert (answered["n"], answered["answer_relevancy"], answered["answer_relevancy_scored"]) == (2, None, 0)
    assert (answered["context_recall"], answered["context_recall_scored"]) == (0.25, 1)
    assert judged["summary"]["faithfulness"] == 1.0
    assert RESULT["rows"][0]["scores"] == {"f1": 0.5}  # the result itself is left as it is


def test_a_refusal_is_judged_apart_and_on_its_passages_only(tmp_path: Path) -> None:
    judged = judge_result(RESULT, judge(), PASSAGES, Cache(tmp_path / "c.jsonl"))
    row = judged["rows"][1]
    assert row["scores"] == {"f1": 0.0}
    assert row["ragas_refused"] == {"context_precision": 0.5, "context_recall": 0.25}
    refused = judged["summary"]["ragas"]["refused"]
    assert (refused["n"], refused["faithfulness_scored"], refused["context_recall_scored"]) == (1, 0, 1)


def test_an_empty_prediction_is_a_refusal() -> None:
    assert sample_of({**RESULT["rows"][0], "prediction": "  "}, PASSAGES, 2).refused


def test_what_was_read_goes_before_what_was_retrieved() -> None:
    assert sample_of(RESULT["rows"][1], PASSAGES, 5).contexts == (PASSAGES["p2"],)
    assert sample_of(RESULT["rows"][0], PASSAGES, 2).contexts == (PASSAGES["p1"], PASSAGES["p2"])
    with pytest.raises(ReadError, match=r"p1 is not in the corpus; give --corpus"):
        sample_of(RESULT["rows"][0], {}, 2)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    class Fails(ScriptedJudge):
        def score(self, metric: str, sample: Sample) -> tuple[float | None, str]:
            if self.asked == 5:
                raise WriterError("the judge has gone")
            return super().score(metric, sample)

    path = tmp_path / "c.jsonl"
    failing = Fails(**judge().values)
    with pytest.raises(WriterError):
        judge_result(RESULT, failing, PASSAGES, Cache(path))
    path.write_text(path.read_text() + '{"key": "cut o')  # a kill in the middle of a line
    again = judge()
    judged = judge_result(RESULT, again, PASSAGES, Cache(path))
    assert (failing.asked, again.asked) == (5, 3)
    third = judge()
    assert judge_result(RESULT, third, PASSAGES, Cache(path)) == judged
    assert third.asked == 0  # unscored rows are not asked again either


def test_another_judge_or_answer_is_judged_anew(tmp_path: Path) -> None:
    cache, sample = Cache(tmp_path / "c.jsonl"), sample_of(RESULT["rows"][0], PASSAGES, 2)
    scripted = judge()
    cache.score(scripted, "faithfulness", sample)
    scripted.name = "other"
    cache.score(scripted, "faithfulness", sample)
    cache.score(scripted, "faithfulness", Sample("How?", "Other.", sample.contexts, "x", False))
    assert scripted.asked == 3


def test_a_limit_leaves_the_other_rows_as_they_are(tmp_path: Path) -> None:
    judged = judge_result(RESULT, judge(), PASSAGES, Cache(tmp_path / "c.jsonl"), limit=1)
    assert judged["rows"][1:] == RESULT["rows"][1:]
    assert judged["summary"]["ragas"]["answered"]["n"] == 1


def test_a_mean_of_nothing_is_none() -> None:
    found = means([{"faithfulness": None}])
    assert found["n"] == 1
    assert all(found[name] is None and found[f"{name}_scored"] == 0 for name in ragas_scores.METRICS)


def test_a_judge_is_named_without_secrets_and_paths(tmp_path: Path) -> None:
    assert identity("https://me:secret@host/v1#model") == "model at host/v1"
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    assert identity(str(tmp_path / "m.gguf")).startswith("m.gguf ")


class Verdict(BaseModel):
    verdict: int


def test_a_reply_that_does_not_fit_is_asked_for_once_more() -> None:
    model = FakeLanguageModel(['{"verdict": "maybe"}', 'Sure! ```json\n{"verdict": 1}\n```'])
    assert ragas_judge.ask(model, "judge", Verdict).verdict == 1
    assert "does not fit the schema" in model.calls[1][-1]["content"]
    with pytest.raises(ragas_judge.Unscored, match="no JSON object"):
        ragas_judge.ask(FakeLanguageModel(fallback="no idea"), "judge", Verdict)
    with pytest.raises(ragas_judge.Unscored, match="does not fit 100 tokens"):
        ragas_judge.ask(FakeLanguageModel(fallback="{}", context=100), "judge", Verdict)


@pytest.mark.parametrize("reply", ['{"verdict": 1}', 'so {x} is {"verdict": 1} and {"verdict": 0}', '{"verdict":\n 1} done'])
def test_the_first_object_of_a_reply(reply: str) -> None:
    assert ragas_judge.json_object(reply) == {"verdict": 1}


def test_without_ragas_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ragas", None)  # as if it were not installed
    result, corpus = tmp_path / "r.json", tmp_path / "c.jsonl"
    result.write_text(json.dumps(RESULT))
    corpus.write_text("\n".join(json.dumps({"id": i, "title": "", "text": t}) for i, t in PASSAGES.items()))
    with pytest.raises(LqrError, match=r"^--ragas needs ragas, which is not installed; run pip install -e '\.\[eval\]'$"):
        ragas_scores.run([result], tmp_path / "out", "smollm2", corpus=corpus)
    with pytest.raises(SettingsError, match="at least 1"):
        ragas_scores.run([result], tmp_path / "out", "smollm2", corpus=corpus, limit=0)


REPLIES: dict[str, dict[str, Any]] = {
    "StatementGeneratorOutput": {"statements": ["Zinc sulphate treats footrot.", "It costs nothing."]},
    "NLIStatementOutput": {
        "statements": [
            {"statement": "Zinc sulphate treats footrot.", "reason": "said", "verdict": 1},
            {"statement": "It costs nothing.", "reason": "not said", "verdict": 0},
        ]
    },
    "AnswerRelevanceOutput": {"question": "How is footrot treated?", "noncommittal": 0},
    "ContextRecallOutput": {"classifications": [{"statement": "zinc sulphate", "reason": "said", "attributed": 1}]},
}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        if '"title": "ContextPrecisionOutput"' in prompt:
            asked = prompt.rpartition("input: ")[2]
            reply = json.dumps({"reason": "r", "verdict": int("zinc" in json.loads(asked.partition("\nOutput")[0])["context"])})
        else:
            found = next((reply for title, reply in REPLIES.items() if f'"title": "{title}"' in prompt), None)
            reply = "I can't say." if found is None else json.dumps(found)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in (reply[:9], reply[9:]):
            event = {"choices": [{"index": 0, "delta": {"content": piece}}]}
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        self.wfile.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, *_: Any) -> None:
        """Silent."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/v1"
        http.shutdown()


@pytest.mark.skipif(importlib.util.find_spec("ragas") is None, reason="ragas is not installed: pip install -e '.[eval]'")
def test_ragas_itself_with_a_scripted_judge(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = OpenAILanguageModel(server, "scripted", context=ragas_scores.JUDGE_CONTEXT)
    real = ragas_judge.RagasJudge(model, HashingEmbedder(), "scripted")
    judged = judge_result(RESULT, real, PASSAGES, Cache(tmp_path / "c.jsonl"))
    scores = judged["rows"][0]["scores"]
    assert scores["faithfulness"] == 0.5  # one of two statements
    assert scores["answer_relevancy"] == pytest.approx(1.0, abs=1e-4)  # the question that comes back is the one asked
    assert scores["context_precision"] == pytest.approx(1.0, abs=1e-4)  # the useful passage comes first
    assert scores["context_recall"] == 1.0
    assert judged["rows"][1]["ragas_refused"].keys() == {"context_precision", "context_recall"}
    # a judge that talks instead of answering: no score, and it is said
    monkeypatch.delitem(REPLIES, "ContextRecallOutput")
    judged = judge_result(RESULT, real, PASSAGES, Cache(tmp_path / "d.jsonl"))
    assert judged["rows"][0]["scores"]["context_recall"] is None
    assert judged["summary"]["ragas"]["answered"]["context_recall_scored"] == 0
    assert "fits the schema" in (tmp_path / "d.jsonl").read_text()
