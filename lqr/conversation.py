"""Turns a message and its history into one standalone question, or says that the message is not a question.

By rules, without a model: a decision first (standalone, follow-up, topic change, small talk, meta, empty...), then the
rewrite. A rewrite only ever uses words of the history and of the message, so it cannot bring in an entity that nobody
mentioned. Knows the collection's profile and document titles; knows nothing of retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lqr.corpus.profile import Mention, Profile
from lqr.text import STOPWORDS, content_words, normalise, words
from lqr.types import Rewrite, Turn

_COURTESY = re.compile(
    r"^(?:(?:ok(?:ay)?|thanks?(?: you)?(?: (?:so|very) much| a lot| again)?|thx|ty|cheers|great|"
    r"perfect|good|nice|got it|i see|alright|all right|right|"
    r"cool|hi|hello|hey|dear|good (?:morning|afternoon|evening)|many thanks|谢谢|好的|你好|您好|thank you for (?:that|"
    r"your help))(?=\W|$)[\s,.!?;:–—-]*)+",
    re.IGNORECASE,
)
_TURN_TO = re.compile(
    r"^(?:(?:and |so |but )?(?:now|next|another (?:question|thing)|different (?:question|topic)|change of topic)\b[\s,.:;–—-]*)+",
    re.IGNORECASE,
)
_META = re.compile(
    r"^(?:what (?:can|do) you (?:answer|know|do|help)|what (?:topics|questions|documents)\b.*\b(?:you|"
    r"have|cover|ask|hold)|who (?:are|made|built) you|what are you\b|"
    r"how do you work|what (?:is|are) (?:this|these|the) (?:documents?|files?|collection)s? about|help\W*$|what can i ask|"
    r"(?:summari[sz]e|describe) (?:this|these|the) (?:documents?|files?|collection)|你是谁|你能(?:做|回答)什么|"
    r".*\b(?:system prompt|your (?:prompt|instructions))\b)",
    re.IGNORECASE,
)
_YES = re.compile(r"^(?:yes|yeah|yep|sure|please do|go on|go ahead|tell me more|more|do it|please|是的?|好)\W*$", re.IGNORECASE)
_OTHER = re.compile(r"^(?:no\b[\s,.]*)?(?:i (?:mean|meant) )?the (other|second|latter|first|former)(?: one)?\W*$", re.IGNORECASE)
_SWAP = re.compile(
    r"^(?:and|or|but|also|what about|how about|what of|same for|and what about|and how about)?\s*(?:then\s+)?(?:for|"
    r"in|with|on|about|to|of|after|before|during|when)?\s*(?:the |my |a |an )?(.+?)\W*$",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:and|or|but|also|what about|how about|what of|same for)\b", re.IGNORECASE)
_WH = re.compile(
    r"^(?:and |but |so )?(how (?:often|much|many|long|far|deep|soon|old|big|high|early|late|come)(?: (?:\w+))?|"
    r"how|why not|why|when|where|which(?: ones?)?|what(?: (?:kind|sort|type|dose|rate|age|time|"
    r"breed|variety|month|season)s?)?|who)\b",
    re.IGNORECASE,
)
_WH_PHRASE = re.compile(
    r"^(?:how (?:often|much|many|long|far|deep|soon|old|big|high|early|late)(?: (?!do|does|did|"
    r"is|are|should|can|could|must|will|would|has|have)[\w-]+){0,2}|how|why|when|where|which [\w-]+|"
    r"what [\w-]+(?= (?:do|does|should|can|is|are)\b)|what|who)\s+(?=(?:do|does|did|is|are|was|"
    r"should|can|could|must|will|would|has|have|may|might)\b)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(it|they|them|this|that|these|those|its|their|he|she|him|her|one|ones|the (?:disease|breed|"
    r"worm|pest|plant|crop|problem|condition|animal|feed))\b(?!\s+(?:is|was|of|the)\s+(?:the|best|"
    r"possible|true)\b)",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would|will|does|do|has) it\b(?= (?:(?:too|so|very|still|really|ever|better|be) )?[\w-]+ "
    r"(?:to|for|that|when|if|before|after)\b)|\bit (?:is|takes?|costs?|rains?|snows?|helps?|matters?)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"]([^”\"]{8,200})[”\"]")
_GENERIC = frozenset(
    """
    sign signs symptom symptoms treatment treat prevent prevention control cause causes happen happens difference dose
    rate level amount kind type best right feed give sow plant apply know mean safe dangerous good bad problem thing way
    ways long often many farm field animal animals time year day days week weeks month months start stop kill kills spread
    spreads look looks called
    """.split()
)


@dataclass(frozen=True, slots=True)
class _State:
    """What the conversation is about: the last standalone question, its focus phrase, the last reply."""

    question: str = ""
    focus: str = ""


class Rewriter:
    """Rewrites messages for one collection. Holds no conversation: the history comes with each call."""

    def __init__(self, profile: Profile, titles: Sequence[str], *, max_chars: int = 2000, history_turns: int = 8) -> None:
        self._profile = profile
        self._titles = title_patterns(titles)
        self._max_chars = max_chars
        self._history_turns = history_turns

    def rewrite(self, message: str, history: Sequence[Turn]) -> Rewrite:
        """Decide what ``message`` is and make it standalone.

        Earlier user turns are folded oldest first, so a chain of follow-ups ("and for lambs?", "how often?") resolves
        against what each one meant, not against its bare words.
        """
        state = _State()
        recent = history[-2 * self._history_turns :] if self._history_turns else ()
        reply = ""
        for turn in recent:
            if turn.role == "assistant":
                reply = turn.content
                continue
            state = self._after(self._step(turn.content, state, reply), state, "")
        if recent and recent[-1].role == "user":
            reply = ""  # the last answer never came
        if state.question and not self._title_in(state.question) and reply:
            state = _State(state.question, self._title_in(reply[:400]) or state.focus)
        return self._step(message, state, reply)

    def _after(self, result: Rewrite, state: _State, reply: str) -> _State:
        if result.kind in ("standalone", "follow_up", "topic_change"):
            return _State(result.standalone, self.focus(result.standalone) or state.focus)
        return state

    def _step(self, message: str, state: _State, reply: str) -> Rewrite:
        text = normalise(message)
        if len(text) > self._max_chars:
            return Rewrite("too_long", text[: self._max_chars], f"{len(text)} characters; at most {self._max_chars} are read")
        if not any(c.isalnum() for c in text):
            return Rewrite("empty", "")
        bare = _COURTESY.sub("", text)
        if not any(c.isalnum() for c in bare):
            return Rewrite("small_talk", text)
        turned = _TURN_TO.sub("", bare)
        topic_change = turned != bare and bool(turned)
        body = turned if topic_change else bare
        if _META.match(body):
            return Rewrite("meta", body)
        if not state.question:
            return Rewrite("standalone", _sentence_case(body))
        if _YES.match(body):
            offered = _QUOTED.search(reply)
            if offered:
                return Rewrite("follow_up", offered.group(1), "yes to the question that was offered")
            return Rewrite("unclear", body)
        if match := _OTHER.match(body):
            return self._other(match.group(1).lower(), state, body)
        if swapped := self._swap(body, state):
            return Rewrite("topic_change" if topic_change else "follow_up", swapped[0], swapped[1])
        if followed := self._elliptical(body, state):
            return Rewrite("follow_up", followed[0], followed[1])
        return Rewrite("topic_change" if topic_change else "standalone", _sentence_case(body))

    def _other(self, which: str, state: _State, body: str) -> Rewrite:
        things = self._profile.mentions(state.question) or self._profile.mentions(state.question, classes=True)
        distinct = list(dict.fromkeys(m.text for m in things))
        if len(distinct) == 2:
            pick = distinct[0] if which in ("first", "former") else distinct[1]
            return Rewrite("follow_up", f"{state.question.rstrip('?')} — {pick}?", f"the other one is {pick}")
        return Rewrite("unclear", body)

    def _swap(self, body: str, state: _State) -> tuple[str, str] | None:
        """ "and for lambs?", "what about goats", "maize": the same question about another thing."""
        match = _SWAP.match(body)
        if not match or len(body.split()) > 9:
            return None
        phrase = match.group(1).strip()
        if _WH.match(phrase) or len(phrase.split()) > 6 or not phrase:
            return None
        if not _LEAD.match(body) and any(w in _VERBS for w in words(phrase)):
            return None
        if _PRONOUN.fullmatch(phrase):
            return None
        if any(w in _VERBS for w in words(phrase)[:2]):
            return None  # "and should I ...": a question of its own
        bare = not _LEAD.match(body) and phrase.lower() == body.rstrip("?!. ").lower()
        named = [*self._profile.mentions(phrase), *self._profile.mentions(phrase, classes=True)]
        if bare and not named and not self._title_in(phrase):
            return None
        for new in named:
            for old in self._mentions_of_kind(state.question, new):
                if old.thing != new.thing:
                    question = state.question[: old.start] + phrase + state.question[old.end :]
                    return question, f"{phrase} in place of {old.text}"
        title, old_title = self._title_in(phrase), self._title_in(state.question)
        if title and old_title:
            at = state.question.lower().find(old_title.lower())
            return state.question[:at] + phrase + state.question[at + len(old_title) :], f"{phrase} in place of {old_title}"
        if not content_words(phrase):
            return None
        link = _preposition(body)
        return f"{state.question.rstrip('?!. ')} {link} {phrase}?", f"the last question, {link} {phrase}"

    def _mentions_of_kind(self, question: str, new: Mention) -> list[Mention]:
        classes = new.kind in self._profile.classes
        same = [m for m in self._profile.mentions(question, classes=classes) if m.kind == new.kind]
        return same[-1:]

    def _elliptical(self, body: str, state: _State) -> tuple[str, str] | None:
        """ "how often?", "why?", "is it dangerous for people?": the topic is in the question before."""
        focus = state.focus or self.focus(state.question)
        topical = (
            bool(self._title_in(body)) or bool(self._profile.mentions(body)) or bool(self._profile.mentions(body, classes=True))
        )
        own = [w for w in content_words(body) if w not in _GENERIC and w not in _VERBS]
        wh = _WH.match(body)
        expletive = _EXPLETIVE.search(body)
        pronoun = next(
            (m for m in _PRONOUN.finditer(body) if not (expletive and expletive.start() <= m.start() < expletive.end())), None
        )
        if wh and not own and not topical and not pronoun:
            rest = _WH_PHRASE.sub("", state.question)
            head = re.sub(r"^(?:and|but|so)\s+", "", body.rstrip("?!. "), flags=re.IGNORECASE)
            if rest != state.question and len(head.split()) <= 4:
                return _sentence_case(f"{head} {rest}"), "the last question with another question word"
            return _sentence_case(f"{head}, for {focus}?"), f"about {focus}"
        if pronoun and focus and not (topical and len(own) >= 3):
            said = pronoun.group().lower()
            if (
                said in ("this", "that", "these", "those")
                and re.match(r"\s+[a-z]+", body[pronoun.end() :])
                and words(body[pronoun.end() :])[:1]
                and words(body[pronoun.end() :])[0] not in STOPWORDS | _VERBS
            ):
                return _sentence_case(f"{body.rstrip('?!. ')}, for {focus}?"), f"about {focus}"
            put = f"{focus}'s" if said in ("its", "their") else focus
            if put.lower() in body.lower():
                return None
            return _sentence_case(body[: pronoun.start()] + put + body[pronoun.end() :]), f"“{pronoun.group()}” is {focus}"
        if not topical and focus and len(own) <= 2 and (expletive or wh or _starts_with_verb(body) or len(body.split()) <= 6):
            link = "for" if not re.search(r"\bfor\b", body) else "about"
            return _sentence_case(f"{body.rstrip('?!. ')}, {link} {focus}?"), f"about {focus}"
        if (
            topical
            and not self._title_in(body)
            and self._title_in(state.question)
            and len(own) <= 1
            and not any(m.kind == "crop" for m in self._profile.mentions(body))
        ):
            return _sentence_case(f"{body.rstrip('?!. ')}, with {focus}?"), f"about {focus}"
        return None

    def focus(self, question: str) -> str:
        """The phrase that a later "it" stands for: a document's title if one is named, else the last telling noun phrase."""
        title = self._title_in(question)
        if title:
            return title
        phrases = _phrases(question)
        telling = [p for p in phrases if not all(w.lower() in _GENERIC or w.lower() in _VERBS for w in p.split())]
        after_of = re.search(
            r"\b(?:of|against|about|from|called|with)\s+(?:the |my |a |an )?([\w' -]+?)(?:\s+(?:in|for|"
            r"on|at|when|if|and|to|during|before|after)\b|[?.,;]|$)",
            question,
        )
        if after_of and content_words(after_of.group(1)):
            return after_of.group(1).strip()
        scope = {m.text.lower() for m in self._profile.mentions(question)}
        apart = [p for p in telling if p.lower() not in scope]
        return (apart or telling or phrases or [""])[-1]

    def _title_in(self, text: str) -> str:
        best = ""
        for pattern in self._titles:
            match = pattern.search(text)
            if match and len(match.group()) > len(best):
                best = match.group()
        return best


_VERBS = frozenset(
    """
    is are was were be do does did can could should would will must may might have has had treat prevent control feed give
    sow plant apply cut graze vaccinate shear spray harvest store irrigate lime test check tell know use make keep get
    take need happen cost spread die eat drink grow kill look start stop work help cause catch come live move sell buy mix
    inject drench milk wean lamb breed mate calve cure stack dry fertilise fertilize
    """.split()
) - {"lamb", "lime", "milk", "breed"}


def title_patterns(titles: Sequence[str]) -> list[re.Pattern[str]]:
    """One pattern per title and per its telling head ("Chronic copper poisoning in sheep" -> "copper poisoning")."""
    names: set[str] = set()
    for title in titles:
        names.add(title.lower())
        head = re.split(r"\s+(?:in|of|for|from|on|at|under|and its)\s+", title.lower())[0]
        head = re.sub(r"^(?:growing|making|feeding|managing|controlling|common|chronic|winter|good|taking a|the)\s+", "", head)
        for part in re.split(r"\s*(?:,| and | or )\s*", head):
            if len(part) > 3 and (" " in part or part not in _TOO_COMMON) and part not in STOPWORDS:
                names.add(part)
    return [
        re.compile(rf"(?<![\w-]){re.escape(name).replace(chr(39), chr(39) + '?')}(?:s|es)?(?![\w-])", re.IGNORECASE)
        for name in sorted(names, key=len, reverse=True)
    ]


_TOO_COMMON = frozenset(
    """
    sheep lambs lamb ewes rams water soil feed grain farm common handling growing climate signs helping diseases taking
    recognising protecting docking using season frost wheat rice maize potatoes soybean cotton citrus cattle goats straw
    salt minerals lice
    """.split()
)


def _phrases(question: str) -> list[str]:
    """Maximal runs of content words, as written."""
    runs: list[list[str]] = [[]]
    for token in re.findall(r"[\w'’.-]+", question.rstrip("?!. ")):
        if token.lower() in STOPWORDS or token.lower() in _VERBS:
            runs.append([])
        else:
            runs[-1].append(token)
    return [" ".join(run) for run in runs if run]


def _preposition(body: str) -> str:
    match = re.search(r"\b(for|in|with|on|about|after|before|during|when)\b", body, re.IGNORECASE)
    return match.group().lower() if match else "for"


def _starts_with_verb(body: str) -> bool:
    first = words(body)[:1]
    return bool(first) and first[0] in _VERBS


def _sentence_case(text: str) -> str:
    text = text.strip()
    if not text:
        return text
    # CJK and other uncased scripts are left as they are
    return text[0].upper() + text[1:]
