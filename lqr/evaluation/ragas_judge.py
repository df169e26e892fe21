"""The judge behind RAGAS scores: ragas' own metrics over one of our language models and our embedder.

ragas asks for JSON by a schema; a reply that does not fit is asked for once more, and then there is no score. ragas reports its
use to its makers by default, which is switched off here before it is imported.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lqr.errors import LqrError, SettingsError
from lqr.evaluation.ragas_scores import Sample
from lqr.retrieval.dense import Embedder, load_embedder
from lqr.settings import Settings
from lqr.writing.base import LanguageModel
from lqr.writing.factory import load_language_model

MAX_TOKENS = 1024  # of a reply: a verdict with its reason on each statement
ATTEMPTS = 2
_AGAIN = "run pip install -e '.[eval]', which holds langchain-community below 0.4.2"


class Unscored(Exception):
    """The judge's replies did not lead to a score."""


@contextmanager
def open_judge(settings: Settings, name: str) -> Iterator[RagasJudge]:
    """The judge that ``settings.llm`` names, closed again at the end.

    Raises:
        LqrError: ragas is not installed.
        SettingsError: ``settings.llm`` names no language model.
        WeightsError, WriterError: the model is not there or does not load.
    """
    _ragas()  # before a model is loaded for nothing
    model = load_language_model(settings)
    if model is None:
        raise SettingsError("--ragas composer can't judge; name smollm2, a .gguf file, a Hub id or https://host/v1#model")
    try:
        yield RagasJudge(model, load_embedder(settings), name)
    finally:
        model.close()


class RagasJudge:
    """See :class:`lqr.evaluation.ragas_scores.Judge`.

    ``strictness`` of answer relevancy is 1: the judge decodes greedily, and three questions would be three times the same.

    Raises:
        LqrError: ragas is not installed or does not import.
    """

    def __init__(self, model: LanguageModel, embedder: Embedder, name: str) -> None:
        ragas = _ragas()
        from ragas.embeddings.base import BaseRagasEmbedding
        from ragas.llms.base import InstructorBaseRagasLLM
        from ragas.metrics.collections import AnswerRelevancy, ContextPrecisionWithReference, ContextRecall, Faithfulness

        class Model(InstructorBaseRagasLLM):  # type: ignore[misc]  # ragas comes without types when it is not installed
            def generate(self, prompt: str, response_model: Any) -> Any:
                return ask(model, prompt, response_model)

            async def agenerate(self, prompt: str, response_model: Any) -> Any:
                return ask(model, prompt, response_model)

        class Embeddings(BaseRagasEmbedding):  # type: ignore[misc]
            def embed_text(self, text: str, **_: Any) -> list[float]:
                return [float(value) for value in embedder.encode([text])[0]]

            async def aembed_text(self, text: str, **_: Any) -> list[float]:
                return self.embed_text(text)

        llm = Model()
        self.name = name
        self.version = f"ragas {ragas.__version__}, {embedder.name}@{embedder.revision}"
        self._metrics: dict[str, Any] = {
            "faithfulness": Faithfulness(llm=llm),
            "answer_relevancy": AnswerRelevancy(llm=llm, embeddings=Embeddings(), strictness=1),
            "context_precision": ContextPrecisionWithReference(llm=llm),
            "context_recall": ContextRecall(llm=llm),
        }

    def score(self, metric: str, sample: Sample) -> tuple[float | None, str]:
        """See :class:`lqr.evaluation.ragas_scores.Judge`."""
        given: dict[str, Any] = {"user_input": sample.question}
        if metric in ("faithfulness", "answer_relevancy"):
            given["response"] = sample.answer
        if metric != "answer_relevancy":
            given["retrieved_contexts"] = list(sample.contexts)
        if metric in ("context_precision", "context_recall"):
            given["reference"] = sample.reference
        try:
            value = asyncio.run(self._metrics[metric].ascore(**given)).value
        except (Unscored, ValueError) as error:
            return None, " ".join(str(error).split())[:200]
        number = float(value)
        return (number, "") if number == number else (None, "ragas gave no number")


def ask(model: LanguageModel, prompt: str, response_model: Any) -> Any:
    """The reply of ``model`` as an object of the pydantic class ``response_model``.

    Raises:
        Unscored: the prompt is too long, or no reply fits the class.
        WriterError: the model fails.
    """
    if model.count_tokens(prompt) + MAX_TOKENS > model.context:
        raise Unscored(f"the prompt does not fit {model.context} tokens")
    messages: list[Any] = [{"role": "user", "content": prompt}]
    problem = ""
    for _ in range(ATTEMPTS):
        reply = "".join(model.stream(messages, max_tokens=MAX_TOKENS))
        try:
            return response_model.model_validate(json_object(reply))
        except ValueError as error:  # pydantic's ValidationError is one
            problem = " ".join(str(error).split())[:300]
            hint = f"That does not fit the schema: {problem}. Answer with the JSON object only."
            messages = [messages[0], {"role": "assistant", "content": reply}, {"role": "user", "content": hint}]
    raise Unscored(f"no reply of the judge fits the schema: {problem}")


def json_object(reply: str) -> Any:
    """The first JSON object in ``reply``, whatever stands around it.

    Raises:
        ValueError: there is none.
    """
    decoder = json.JSONDecoder(strict=False)  # small models write line breaks inside strings
    start = reply.find("{")
    while start >= 0:
        try:
            return decoder.raw_decode(reply, start)[0]
        except json.JSONDecodeError:
            start = reply.find("{", start + 1)
    raise ValueError("no JSON object in the reply")


def _ragas() -> Any:
    os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")  # read at import
    try:
        import ragas
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ragas":
            raise LqrError("--ragas needs ragas, which is not installed; run pip install -e '.[eval]'") from error
        raise LqrError(f"ragas does not import ({error}); {_AGAIN}") from error
    except ImportError as error:
        raise LqrError(f"ragas does not import ({error}); {_AGAIN}") from error
    return ragas
