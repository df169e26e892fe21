"""A scripted pipeline and the documents it quotes, for tests of the page.

Scripts are picked by a word in the question: ``slow`` streams for minutes, ``hostile`` answers with every string that
should stay text, ``fail`` raises, ``nothing`` refuses. Everything else is answered from one small article.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from lqr.corpus.profile import Profile
from lqr.errors import Cancelled, StoreError
from lqr.settings import Settings
from lqr.types import (
    Answer,
    Block,
    Claim,
    Confidence,
    Decomposition,
    Document,
    Event,
    Hit,
    Passage,
    Progress,
    Route,
    Source,
    TextDelta,
    Trace,
    Turn,
)

HOSTILE = (
    "<script>window.pwned=1</script> <img src=x onerror='window.pwned=1'> ![x](http://evil.invalid/x.png) "
    "[a](javascript:window.pwned=1) $x^2$ $$y$$ pH <5.5 costs $3-$5/ha ${window.pwned=1} {{value}} `code` "
    '\u202egnp.exe\u202c [99] &lt;b&gt; <a href="//evil.invalid">z</a>'
)
ANSWER = (
    "No. Sheep should not get the mineral mix made for cattle, because it often holds 500 to 2,500 mg/kg of copper [1]. "
    "Sheep store copper in the liver for weeks before any sign shows [2].\n\n"
    "- Feed a mix that is labelled for sheep, without added copper [1]\n"
    "- Watch for yellow gums, red-brown urine and weakness [2]\n\n"
    "Call a vet at once if several animals are weak [3]."
)
COPPER = (
    "Mineral mixes for cattle often hold 500 to 2,500 mg/kg of copper and can kill sheep.",
    "Sheep store copper in the liver for weeks or months, and signs show only when the liver lets it go.",
    "Gums turn yellow, urine red-brown, and the animal is weak.",
    "If several animals are weak, take blood samples and call a vet the same day.",
)


def _document() -> Document:
    parts: list[tuple[str, str, int]] = [
        ("paragraph", "Copper is needed in small amounts, but sheep are the farm animal most easily poisoned by it.", 0),
        ("heading", "Where the copper comes from", 2),
        ("paragraph", f"{COPPER[0]} Poultry litter and pig slurry on pasture are further sources.", 0),
        ("list_item", "Cattle licks and concentrates", 0),
        ("list_item", "Footbaths with copper sulphate that sheep can drink from", 0),
        ("heading", "Signs", 2),
        ("paragraph", f"{COPPER[1]} {COPPER[2]}", 0),
        *[
            ("paragraph", f"Filler paragraph {n} about pasture and water, long enough to need scrolling. " * 3, 0)
            for n in range(8)
        ],
        ("heading", "What to do", 2),
        ("paragraph", COPPER[3], 0),
        ("table_row", "Feed: Sheep concentrate; Copper (mg/kg): below 15", 0),
        ("table_row", "Feed: Cattle mineral mix; Copper (mg/kg): 500 to 2,500", 0),
        ("paragraph", HOSTILE, 0),
    ]
    blocks, text = [], ""
    for kind, part, level in parts:
        blocks.append(Block(kind, part, len(text), len(text) + len(part), level))  # type: ignore[arg-type]
        text += part + "\n\n"
    return Document("0123456789ab", "Copper poisoning in sheep", text, tuple(blocks), "sheep-health/copper.md")


DOCUMENT = _document()


class FakeStore:
    """Holds the one document."""

    def document(self, document_id: str) -> Document:
        if document_id != DOCUMENT.id:
            raise StoreError(f"no document {document_id}")
        return DOCUMENT


class FakeRetriever:
    """Finds the one passage."""

    def search(self, query: str, k: int | None = None) -> list[Hit]:
        return [_hit(1, "Where the copper comes from", COPPER[0], 0.9)][: k or 10]


def _hit(number: int, section: str, text: str, score: float) -> Hit:
    passage = Passage(f"{DOCUMENT.id}-{number}", DOCUMENT.id, DOCUMENT.title, (section,), text, number, 0, len(text))
    return Hit(passage, score, {"bm25": 7.31, "dense": 0.62, "rrf": 0.031}, "same section" if number == 3 else "")


def _sources() -> tuple[Source, ...]:
    passages = [
        ("Where the copper comes from", DOCUMENT.blocks[2].text, (COPPER[0],)),
        ("Signs", DOCUMENT.blocks[6].text, (COPPER[1], COPPER[2])),
        ("What to do", COPPER[3], (COPPER[3],)),
    ]
    references = ("Diseases of Sheep, Wiley-Blackwell, 2007", "Copper toxicity in sheep, NADIS, 2021")
    return tuple(
        Source(n, f"{DOCUMENT.id}-{n}", DOCUMENT.id, DOCUMENT.title, (section,), text, quotes, references=references)
        for n, (section, text, quotes) in enumerate(passages, 1)
    )


@dataclass
class ScriptedPipeline:
    """``pause`` is the time between two words. ``closed`` counts answers that were ended early."""

    pause: float = 0.015
    closed: int = 0
    asked: list[tuple[str, tuple[Turn, ...]]] = field(default_factory=list)
    settings: Settings = field(default_factory=lambda: Settings.load(profile="cpu"))
    gate: Any = None
    with_options: list[tuple[str, int, float]] = field(default_factory=list)  # route, passages, line of the gate, per question

    def stream(
        self, question: str, history: Sequence[Turn], *, cancelled: Callable[[], bool] = lambda: False, route: str = "auto"
    ) -> Iterator[Event]:
        self.asked.append((question, tuple(history)))
        line = getattr(self.gate, "threshold", self.settings.refusal_threshold)
        self.with_options.append((route, self.settings.top_k, line))
        if "fail" in question:
            raise RuntimeError("/srv/secret/path is broken")
        finished = False
        try:
            yield Progress("retrieve", "Searching 1,204 passages")
            time.sleep(self.pause * 4)
            text = _script(question, len(history) // 2)
            yield Progress("write", "Writing from 3 passages")
            for word in text.split(" "):
                if cancelled():
                    raise Cancelled("stopped")
                yield TextDelta(word + " ")
                time.sleep(0.3 if "slow" in question else self.pause)
            finished = True
            yield _answer(question, text)
        finally:
            self.closed += not finished


def _script(question: str, earlier: int) -> str:
    if "hostile" in question:
        return f"{HOSTILE} as the first source says [1]."
    if "slow" in question:
        return " ".join(f"word{n}" for n in range(600))
    if "nothing" in question:
        return "The documents here do not answer this question."
    return ANSWER if earlier == 0 else f"This is answer number {earlier + 1}. {COPPER[2]} [2]"


def _answer(question: str, text: str) -> Answer:
    refused = "nothing" in question
    sources = () if refused else _sources()
    hostile = "hostile" in question
    claims: tuple[Claim, ...] = ()
    if sources:
        stored = "Sheep store copper in the liver for weeks before any sign shows."
        claims = (Claim(stored, (sources[1].id,), "partial", (COPPER[1],), "the source says weeks or months"),)
    if hostile:
        place = {"title": HOSTILE, "section": (HOSTILE,), "text": HOSTILE, "quotes": ("pH <5.5",), "references": (HOSTILE,)}
        sources = (replace(sources[0], url="javascript:alert(1)", **place),)
    trace = Trace(
        standalone=HOSTILE if hostile else question,
        route=Route("complex", 0.83, "compares two feeds and asks for a reason"),
        decomposition=Decomposition("Which minerals are in a cattle mix?", "Is #1 safe for sheep?"),
        queries=("cattle mineral mix copper", "copper sheep safe"),
        steps=2,
        kept=tuple(_hit(s.number, " > ".join(s.section), s.text, 0.97 - 0.08 * s.number) for s in sources),
        dropped=(_hit(9, "Housing", "Straw beds.", 0.12),),
        writer="composer",
        removed_citations=1,
        seconds={"rewrite": 0.01, "route": 0.02, "retrieve": 0.11, "relevance": 0.2, "write": 0.05},
    )
    confidence = (
        Confidence("none", "no passage is about this") if refused else Confidence("rich", "3 passages of one document agree")
    )
    follow_ups = ("How is copper poisoning treated?", "How much copper may sheep feed hold?")
    return Answer(text, claims, sources, refused, confidence, trace, (HOSTILE,) if hostile else follow_ups)


PROFILE = Profile(
    name="agriculture",
    title="Sheep, grassland and crops",
    description="Husbandry, feeding, health, grassland, forage, crops, soils and farm safety, with Chinese regions and breeds.",
    examples=(
        "Can I give my sheep the mineral mix made for cattle?",
        "My ewe collapsed two weeks before lambing. What should I do?",
        "How dry must hay be before I stack it?",
    ),
)


def application(pipeline: ScriptedPipeline | None = None, **settings: Any) -> Any:
    """What ``lqr.app.build`` returns, with the scripted parts."""
    return SimpleNamespace(
        pipeline=pipeline or ScriptedPipeline(),
        store=FakeStore(),
        retriever=FakeRetriever(),
        profile=PROFILE,
        settings=Settings.load(profile="cpu", **settings),
        startup=("profile cpu: no CUDA device found",),
    )
