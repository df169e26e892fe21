"""Turns a message and its history into one standalone question, or says that the message is not a question.

By rules, without a model: a decision first (standalone, follow-up, topic change, small talk, meta, unclear...), then the
rewrite. A rewrite only ever uses words of the history and of the message, so it cannot bring in a thing that nobody
mentioned; and a question with a topic of its own is left alone, for a topic carried over wrongly is worse than none.
Knows the collection's profile and document titles; knows nothing of retrieval and holds no conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lqr.conversation._case import with_condition
from lqr.conversation._focus import Focus, after_question, with_reply
from lqr.conversation._leaning import bare_question_word, repeat_action, with_topic
from lqr.conversation._names import Name, Names, title_patterns, without_overlaps
from lqr.conversation._patterns import (
    BACK_TO,
    CHINESE_CUE,
    COURTESY,
    COURTESY_END,
    DOUBT,
    GENERIC,
    LEAD,
    META,
    MORE,
    OTHER,
    PRONOUN,
    QUOTED,
    TURN_TO,
    YES,
)
from lqr.conversation._pointing import point_back
from lqr.conversation._swapping import fragment, of_the_pair, one_of_two
from lqr.conversation._words import shares, tidy
from lqr.corpus.profile import Profile
from lqr.text import content_words, is_cjk, normalise, without_markup
from lqr.types import Rewrite, Turn

__all__ = ["Name", "Names", "Rewriter", "title_patterns", "without_overlaps"]

_PERSON = re.compile(r"\b(?:he|she|him|his|her)\b", re.IGNORECASE)


class Rewriter:
    """Rewrites messages for one collection; safe to use from several threads."""

    def __init__(self, profile: Profile, titles: Sequence[str], *, max_chars: int = 2000, history_turns: int = 8) -> None:
        """``titles`` are the documents' titles; of the history the last ``history_turns`` user turns are read."""
        self._names = Names(profile, titles)
        self._max_chars = max_chars
        self._history_turns = history_turns

    def rewrite(self, message: str, history: Sequence[Turn]) -> Rewrite:
        """Decide what ``message`` is and make it standalone.

        Earlier user turns are folded oldest first, so a chain of follow-ups ("and for lambs?", "how often?") resolves
        against what each one meant, not against its bare words.
        """
        focus, reply = Focus(), ""
        for turn in history[-2 * self._history_turns :] if self._history_turns else ():
            if turn.role == "assistant":
                reply = turn.content
                focus = with_reply(focus, reply, self._names) if focus.question else focus
                continue
            if len(turn.content) <= self._max_chars:
                result = self._step(turn.content, focus, reply)
                if result.kind in ("standalone", "follow_up", "topic_change"):
                    focus = self._after(result, focus)
            if _PERSON.search(turn.content):
                focus = replace(focus, person=True, who=focus.who or focus.main)
            reply = ""  # until the answer to this turn comes
        result = self._step(message, focus, reply)
        offered = QUOTED.search(reply)
        if result.kind != "follow_up" or (offered and result.standalone == offered[1]):  # "yes" to a question that is whole
            return result
        return replace(result, beside=f"{focus.question.rstrip('?!. ')}. {normalise(without_markup(message))}")

    def _after(self, result: Rewrite, focus: Focus) -> Focus:
        return after_question(result.standalone, self._names, Focus() if result.kind == "topic_change" else focus)

    def _step(self, message: str, focus: Focus, reply: str) -> Rewrite:
        text = normalise(without_markup(message))
        if len(text) > self._max_chars:
            return Rewrite("too_long", text[: self._max_chars], f"{len(text)} characters; at most {self._max_chars} are read")
        if not any(c.isalnum() for c in text):
            return Rewrite("empty", "")
        body = _without_courtesy(text)
        if not any(c.isalnum() for c in body):
            return Rewrite("small_talk", text)
        if META.match(body):
            return Rewrite("meta", body)
        if back := BACK_TO.match(body):
            return self._back(back["topic"], back["rest"], focus, reply)
        turned = TURN_TO.sub("", body)
        changed = turned != body and any(c.isalnum() for c in turned)
        body = turned if changed else body
        if not focus.question:
            return self._first(body)
        if is_cjk(body):
            return self._chinese(body, focus)
        return self._small(body, focus, reply) or self._follow_up(body, focus, reply, changed)

    def _first(self, body: str) -> Rewrite:
        """Without a history there is nothing to lean on: "yes", "how often?", "is it?" need a question back."""
        telling = any(word not in GENERIC for word in content_words(body)) or self._names.find(body)
        if YES.match(body) or MORE.match(body) or OTHER.match(body) or not telling:
            return Rewrite("unclear", body)
        return Rewrite("standalone", tidy(body))

    def _small(self, body: str, focus: Focus, reply: str) -> Rewrite | None:
        """Yes, more, are you sure, the other one."""
        if YES.match(body):
            offered = QUOTED.search(reply)
            if offered and not re.match(r"(?:no|nope|不)\b", body, re.IGNORECASE):
                return Rewrite("follow_up", offered.group(1), "yes to the question that was offered")
            return Rewrite("unclear", body)
        if MORE.match(body) or DOUBT.match(body):
            return Rewrite("follow_up", focus.question, "the last question again")
        if match := OTHER.match(body):
            picked = one_of_two(body, match["which"].lower(), focus, reply)
            return Rewrite("follow_up", *picked) if picked else Rewrite("unclear", body)
        return None

    def _follow_up(self, body: str, focus: Focus, reply: str, changed: bool) -> Rewrite:
        names = self._names
        if focus.kind != "name" and (done := with_condition(body, focus.question)):
            return Rewrite("follow_up", *done)
        if changed and (done := fragment(body, focus, names)):
            return Rewrite("topic_change", *done)
        if changed:
            return Rewrite("topic_change", tidy(body))
        for rule in (of_the_pair, bare_question_word, fragment):
            if done := rule(body, focus, names):
                return Rewrite("topic_change" if done[1].startswith("now ") else "follow_up", *done)
        if done := repeat_action(body, focus):
            return Rewrite("follow_up", *done)
        resolved = point_back(body, focus, names)
        text = resolved[0] if resolved else body
        if leaning := with_topic(text, focus, names, body):
            notes = [note for note in (resolved[1] if resolved else "", leaning[1]) if note]
            return Rewrite("follow_up", leaning[0], "; ".join(notes))
        if resolved:
            return Rewrite("follow_up", *resolved)
        if not content_words(body) and not names.find(body) and not PRONOUN.search(body):
            return Rewrite("unclear", body)
        return Rewrite("standalone", tidy(LEAD.sub("", body) if LEAD.match(body) and len(body.split()) > 3 else body))

    def _back(self, topic: str, rest: str, focus: Focus, reply: str) -> Rewrite:
        """ "back to the cow, how fast may I raise her concentrate": the named topic is the focus again."""
        bare = re.sub(r"^(?:the|my|our)\s+", "", topic.strip(), flags=re.IGNORECASE)
        old = after_question(bare, self._names, Focus())
        beings = old.beings or (bare if self._names.things(bare) else "")
        back = Focus(question=focus.question or bare, topic=bare, beings=beings, counted="", place=focus.place)
        done = point_back(rest, back, self._names)
        text = done[0] if done else rest
        if not shares(text, bare):
            text = f"{text.rstrip('?!. ')} ({bare})?"
        return Rewrite("topic_change", tidy(text), f"back to {bare}")

    def _chinese(self, body: str, focus: Focus) -> Rewrite:
        """No word boundaries and no lexicon here: a message that leans on the last question is put after it, whole."""
        if CHINESE_CUE.search(body) or len(body.strip("？?。！! ")) <= 4:
            joint = " " if not is_cjk(focus.question) else "" if focus.question[-1:] in "?!.。！？" else "，"
            return Rewrite("follow_up", f"{focus.question}{joint}{body}", "the last question and this one")
        return Rewrite("standalone", body)


def _without_courtesy(text: str) -> str:
    """``text`` without the greetings and thanks in front; "good hay" and "right side" are none."""
    match = COURTESY.match(text)
    if match and (match.end() == len(text) or COURTESY_END.search(match.group())):
        return text[match.end() :]
    return text
