"""Two or three further questions that the documents can answer: other sections of what was just cited.

A suggestion is a section's heading put as a question that names its document, so that asking it finds that section. A
heading that makes no good question ("Other plants", "First day") gets none. Knows English headings only; a heading in
another language that ends with a question mark is taken as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lqr.text import content_words, is_cjk
from lqr.types import Passage

LONGEST = 80  # characters; a longer one wraps badly on a button
Key = tuple[str, tuple[str, ...]]  # document id, section path

# Heading -> question. {x} is what the heading names ("Control of rice blast") or else the document's topic; {is}, {do} and
# {are_cap} agree with it.
_FORMS: tuple[tuple[str, str], ...] = (
    ("(?:clinical )?(?:signs|symptoms)", "What are the signs of {x}?"),
    ("prevention|preventing|how to prevent", "How {is} {x} prevented?"),
    ("treatment|treating|how to treat", "What is the treatment for {x}?"),
    ("first aid", "What is the first aid for {x}?"),
    ("treatment and prevention", "What are the treatment and prevention of {x}?"),
    ("causes?(?: and (?:spread|time))?", "What causes {x}?"),
    ("control|controlling", "How {is} {x} controlled?"),
    ("diagnosis", "How {is} {x} diagnosed?"),
    ("vaccination", "Is there a vaccine against {x}?"),
    ("look-alikes", "What else looks like {x}?"),
    ("what to do first", "What should I do first about {x}?"),
    ("damage", "What damage {do} {x} do?"),
    ("dangers? (?:for|to) people", "{are_cap} {x} dangerous for people?"),
    ("life cycle", "What is the life cycle of {x}?"),
    ("seed rate", "What is the seed rate of {x}?"),
    ("thresholds?", "What is the threshold for {x}?"),
    ("(?:main )?pests(?: and diseases)?", "Which pests and diseases attack {x}?"),
    ("harvest", "When and how {is} {x} harvested?"),
    ("fertiliser", "How much fertiliser {do} {x} need?"),
    ("water", "How much water {do} {x} need?"),
    ("climate and soil", "What climate and soil {do} {x} need?"),
    ("look|appearance", "What {do} {x} look like?"),
    ("origin and (?:region|look)", "Where {do} {x} come from?"),
    ("fertility", "How fertile {is} {x}?"),
    ("meat", "What is the meat of {x} like?"),
    ("wool(?: and weight)?", "What is the wool of {x} like?"),
    ("production figures", "What are the production figures of {x}?"),
    ("what they suit", "What {is} {x} suited to?"),
    ("main risks", "What are the main risks in {x}?"),
    ("local breeds", "Which breeds are local to {x}?"),
    ("crops and dates", "Which crops grow in {x}, and when?"),
)
_COMPILED = tuple(
    (re.compile(rf"(?:the )?(?:{heading})(?: (?:of|for|(?<=damage )by) (?:the )?(?P<x>[\w'’ -]+))?", re.I), form)
    for heading, form in _FORMS
)
_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|should|must|will|would|has|have|may)"
_ASKS = re.compile(rf"(?:(?:at |in |for )?(?:how|what|when|why|where|which|who)|{_AUXILIARY})\b", re.I)
_TWO_CLAUSES = re.compile(r" and (?:how|what|when|where|which)\b", re.I)
# "how long to rest", "which species to sow": a clause without a subject, whose subject is the reader
_TO = re.compile(rf"(?P<head>(?:how|what|when|where|which)\b(?:(?!\b{_AUXILIARY}\b).)*?) to (?P<verb>\w.*)", re.I)
_DIRECT = re.compile(
    r"(?:how(?: (?:(?:much|many)\b[\w ]*?|long|often|soon|old|young|deep|fast|early|late|far|high|dry|dangerous))?"
    rf"|(?:at )?what(?: \w+)?|when|why|where|who) {_AUXILIARY}\b"
    rf"|which\b.* (?:{_AUXILIARY}|matter)\b|{_AUXILIARY}\b|what (?:causes|happens|follows)\b",
    re.I,
)
_INDIRECT = re.compile(r"(?:how(?! much| many)|when|where|what) \w+ \w+|why \w+ \w+ \w+", re.I)
# "How much does it yield" is about the topic; "when is it safe to graze" is about nothing
_PRONOUN = re.compile(
    r"\b(?:them|they|(?<!worth )it(?! (?:safe|worth|always|better|best|too|wrong|time|possible|necessary|needed)\b))\b", re.I
)
_LEAD = re.compile(
    r"\A(?:(?:climate|calendar|guide|introduction|overview)\b.*? (?:of|to)|growing|making(?: good)?|controlling|recognising|"
    r"common|chronic|the|an?) (?=\w)",
    re.I,
)
_TAIL = re.compile(r"(?:,| (?:in|of|for|onto|from|under|and|before|as|with)\b).*$")


def suggest(passages: Sequence[Passage], used: set[Key], *, limit: int = 3) -> tuple[str, ...]:
    """Questions for the sections of ``passages`` that are not in ``used``, in the order given, at most ``limit``."""
    texts: dict[str, list[str]] = {}
    for passage in passages:
        texts.setdefault(passage.document_id, []).append(passage.text)
    found: dict[str, None] = {}
    seen = set(used)
    for passage in passages:
        key = (passage.document_id, passage.section)
        if len(found) >= limit:
            break
        if passage.section and key not in seen:
            seen.add(key)
            question = question_for(passage.section[-1], passage.title, "\n".join(texts[passage.document_id]))
            if question:
                found[question] = None
    return tuple(found)[:limit]


def question_for(heading: str, title: str, text: str) -> str:
    """The question that the section ``heading`` of the document ``title`` answers; empty if it makes none.

    ``text`` shows which words are names: a word that ``text`` writes with a capital only keeps it ("Tan sheep").
    """
    heading = heading.strip()
    if is_cjk(heading):
        return heading if heading.endswith(("?", "？")) and len(heading) <= LONGEST else ""
    heading = heading.rstrip("?. ")
    full = _in_sentence(_LEAD.sub("", title), text)
    for topic in dict.fromkeys((full, _TAIL.sub("", full))):
        question = _from_form(heading, title, topic) or _from_question(heading, title, topic)
        if len(question) <= LONGEST:
            return question
    return ""


def _from_form(heading: str, title: str, topic: str) -> str:
    for pattern, form in _COMPILED:
        match = pattern.fullmatch(heading)
        if not match:
            continue
        x = match["x"]
        if not _names(x, title) if x else topic.partition(" ")[0].endswith("ing"):
            return ""  # "Signs of poisoning": the heading does not say whose; and work ("weaning lambs") has no signs
        x = x or topic
        words = ("are", "do", "Are") if _plural(x) else ("is", "does", "Is")
        return form.format(x=x, **dict(zip(("is", "do", "are_cap"), words, strict=True)))
    return ""


def _from_question(heading: str, title: str, topic: str) -> str:
    """A heading that is a question, or the clause of one ("How to sow", "How brucellosis spreads")."""
    if not _ASKS.match(heading) or len(heading.split()) < 3 or ":" in heading:
        return ""
    named = _names(heading, title)
    if _PRONOUN.search(heading):
        if named:
            return ""  # "How sheep catch it": what "it" is stands elsewhere
        if _plural(topic) and re.search(r"\bit\b", heading):
            if " and " in topic or not re.search(r"\b(?:is|does|has) it\b|\b(?:to|\w+ing) (?:\w+ )?it\b", heading):
                return ""  # one of two things, we can't tell which; and "why it matters" would have to be bent for many
            heading = re.sub(r"\b(is|does|has) it\b", lambda m: f"{_PLURAL_OF[m[1]]} it", heading)
        heading, named = _PRONOUN.sub(topic, heading, count=1), True
    if to := _TO.fullmatch(heading):
        head, negated = re.subn(r" not$", "", to["head"])  # "What not to combine"
        asked = "" if _TWO_CLAUSES.search(to["verb"]) else f"{head} should I {'not ' if negated else ''}{to['verb']}?"
    elif _TWO_CLAUSES.search(heading):
        asked = ""  # "which animals and how pox spreads" is no sentence
    elif _DIRECT.match(heading):
        asked = f"{heading}?"
    else:
        asked = f"Tell me {_lower(heading)}." if named and _INDIRECT.match(heading) else ""
    return asked if named or not asked else f"{topic[:1].upper()}{topic[1:]}: {_lower(asked)}"


_PLURAL_OF = {"is": "are", "does": "do", "has": "have"}


def _names(phrase: str, title: str) -> bool:
    """Whether ``phrase`` says what it is about ("Signs of orf" under "Orf")."""
    # the work in "Feeding dairy cows" is no subject: "Which feeds to use" must still be told whose
    subject = re.sub(r"\A\w+ing (?=\w)", "", _LEAD.sub("", title))
    stems = {_stem(word) for word in content_words(subject)}
    return any(_stem(word) in stems for word in content_words(phrase))


def _stem(word: str) -> str:
    return re.sub(r"(?:'s|’s|es|s|ing)$", "", word)


def _plural(topic: str) -> bool:
    head = re.split(r" (?:in|of|for|onto|from|under|before|as|with|that)\b", topic)[0]
    return " and " in head or head.endswith(("sheep", "cattle")) or bool(re.search(r"[^sui]s$", head))


def _lower(phrase: str) -> str:
    return phrase[:1].lower() + phrase[1:]


def _in_sentence(phrase: str, text: str) -> str:
    """``phrase`` as it stands inside a sentence: its first word in lower case unless that is a name."""
    match = re.match(r"[\w’'-]+", phrase)
    if not match or re.search(r"[A-Z].*[A-Z]", match.group()):
        return phrase
    capital, lower = (
        re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) for word in (match.group(), match.group().lower())
    )
    return phrase if capital and not lower else _lower(phrase)
