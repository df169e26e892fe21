"""Every sentence the page itself says: English here, the other languages in ``assets/<language>.json``.

Components take theirs through ``gr.I18n``; what the server renders takes a :class:`Texts`, chosen from the browser's
``Accept-Language``. Knows nothing of answers; the documents' own words are not translated here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

ASSETS = Path(__file__).parent / "assets"


@dataclass(frozen=True, slots=True)
class Texts:
    """One language; the defaults are English. Names in braces are filled in with ``str.format``."""

    language: str = "en"
    # The frame of the page
    chat: str = "Chat"
    new: str = "New conversation"
    ask: str = "Your question"
    placeholder: str = "Ask the documents"
    send: str = "Ask"
    stop: str = "Stop"
    disclaimer: str = "Answers quote these documents. They can miss things; a vet or agronomist on the spot knows more."
    try_one: str = "For example"
    you: str = "You asked"
    answer: str = "Answer"
    thinking: str = "Reading your question"
    ready: str = "The answer is ready."
    stopped: str = "Stopped before the end."
    failed: str = "Something went wrong here, not with your question. Please try again; if it stays, report number {id}."
    not_sent: str = "The question was not sent. Please try again."
    copy: str = "Copy"
    copied: str = "Copied"
    retry: str = "Try again"
    edit: str = "Edit"
    editing: str = "You are editing your last question; its answer will be replaced."
    cancel: str = "Cancel"
    suggestions: str = "You could ask next"
    # Sources and documents
    sources: str = "Sources"
    sources_empty: str = "The passages that an answer stands on will appear here, with the sentence that supports it marked."
    no_sources: str = "This answer cites no document."
    source: str = "Source {number}"
    page: str = "page {page}"
    open_document: str = "Open the document"
    references: str = "The document draws on"
    web: str = "Web page"
    back: str = "Back to the sources"
    document: str = "Document"
    document_gone: str = "This document is no longer in the collection."
    table: str = "Table"
    # Confidence, and how each sentence is supported
    rich: str = "Well covered"
    thin: str = "Thinly covered"
    none: str = "Not in the documents"
    passage_count: str = "{n} passage(s)"
    document_count: str = "{n} document(s)"
    stands_on: str = "stands on {passages} from {documents}"
    because_refused: str = "no passage answers this"
    because_doubt: str = "{n} sentence(s) only partly supported"
    because_half: str = "the question has two parts and one passage must serve both"
    because_loose: str = "they answer it only loosely"
    quoted: str = "quoted word for word"
    supported: str = "supported by its source"
    partial: str = "partly supported"
    unsupported: str = "not supported"
    claims: str = "Sentences"
    # How it was answered
    how: str = "How this was answered"
    standalone: str = "Understood as"
    standalone_ask: str = "Ask this instead"
    standalone_help: str = "Change it if it was misunderstood; it is then asked without the earlier conversation."
    route: str = "Kind of question"
    route_simple: str = "One look-up"
    route_complex: str = "Two steps"
    why_simple: str = "The question asks for one thing, so looking once was enough."
    why_complex: str = "The question needs two facts, so each was looked up on its own, the second with what the first one found."
    why_whole: str = "The question seemed to need more than one fact but could not be split, so it was searched for as a whole."
    why_set: str = "You chose this in the settings."
    sub_questions: str = "Split into"
    queries: str = "Searched for"
    kept: str = "Passages used"
    dropped: str = "Passages left out"
    nothing: str = "none"
    show: str = "Show"
    checks: str = "Checks"
    checks_text: str = "citations removed: {citations}; sentences replaced: {claims}"
    asked_with: str = "Asked with"
    numbers: str = "The numbers behind it"
    probability: str = "Probability of two steps"
    reason: str = "Reason"
    writer: str = "Written by"
    seconds: str = "Seconds"
    # Settings of the next question
    settings: str = "How to answer"
    settings_note: str = "These hold for your next questions, in this browser only."
    set_route: str = "Looking things up"
    auto: str = "Decide for me"
    auto_help: str = "Simple questions are looked up once, others in two steps."
    simple: str = "Once"
    simple_help: str = "Fastest. May miss half of a question that needs two facts."
    complex: str = "In two steps"
    complex_help: str = "Slower. Finds facts that depend on another one; may wander on a plain question."
    set_strictness: str = "When unsure"
    cautious: str = "Rather refuse"
    cautious_help: str = "Fewer answers, and fewer that miss the point."
    balanced: str = "Balanced"
    balanced_help: str = "The usual line between answering and refusing."
    open: str = "Rather answer"
    open_help: str = "More answers, and more that miss the point: check the sources."
    set_passages: str = "Passages read for an answer"
    passages_help: str = "Fewer make a short answer from the best places; more make a longer one that may stray."
    reset: str = "Usual settings"
    # Conversations kept in the browser
    conversations: str = "Conversations"
    conversations_note: str = "They are kept in this browser, not on the server."
    conversations_none: str = "None yet."
    conversations_unfound: str = "No conversation holds these words."
    search: str = "Search conversations"
    rename: str = "Rename"
    delete: str = "Delete"
    delete_sure: str = "Delete for good"
    close: str = "Close"
    storage_full: str = "The browser's storage is full; the oldest conversation was removed."
    export: str = "Save or share this conversation"
    export_note: str = "A file can be opened again here by whoever you give it to; nothing is put on a server."
    export_markdown: str = "Markdown"
    export_json: str = "File to share (JSON)"
    export_print: str = "Print or PDF"
    import_file: str = "Open a shared file"
    import_bad: str = "This file holds no conversation of this page."
    exported: str = "Saved from {title}"
    # Thumbs
    good: str = "Good answer"
    bad: str = "Bad answer"
    bad_why: str = "What is wrong with it?"
    bad_wrong: str = "It is wrong"
    bad_missing: str = "Something is missing"
    bad_beside: str = "It is beside the point"
    bad_source: str = "The source does not say so"
    bad_refused: str = "It should have answered"
    bad_comment: str = "In your words (optional)"
    feedback_note: str = "Question, answer and what you say here are kept by whoever runs this page."
    feedback_send: str = "Send"
    feedback_thanks: str = "Thank you, it was noted."
    feedback_lost: str = "It could not be saved."
    # The tabs beside the chat
    documents: str = "Documents"
    search_tab: str = "Search"
    models: str = "Models"
    library_lead: str = "Add files of your own and ask about them in the chat."
    library_private: str = "Only you see them. They are dropped when you close or reload the page, or leave it for {minutes} min."
    library_room: str = "PDF, Word, Excel, CSV, text, HTML, JSON: {files} files, {megabytes} MB, {passages} passages at most."
    library_off: str = "Documents of your own can't be added here."
    upload: str = "Your files"
    scope: str = "Answer from"
    scope_both: str = "The library and my documents"
    scope_own: str = "My documents only"
    scope_library: str = "The library only"
    library_which: str = "Library to ask"
    own_gone: str = (
        "Nothing was looked up: your own documents are no longer here (not used for {minutes} min, or the program was started "
        "anew). Add them again under Documents, or choose “The library only” there."
    )
    own_not_now: str = (
        "Nothing was looked up: your own documents are being changed, or one of them could not be removed. Ask again in a "
        "moment, remove it again, or choose “The library only” under Documents."
    )
    library_unopened: str = "This library can't be opened just now."
    library_yours: str = "Your documents"
    library_none: str = "You have added none yet."
    name: str = "Name"
    size: str = "Size"
    passages: str = "Passages"
    remove: str = "Remove"
    remove_it: str = "Remove {name}"
    removed: str = "{name} was removed."
    upload_waiting: str = "waiting"
    upload_reading: str = "being read"
    upload_pages: str = "page {done} of {total}"
    upload_indexing: str = "passage {done} of {total}"
    upload_ready: str = "ready"
    upload_failed: str = "not added"
    upload_cut: str = "Left out: {what}"
    search_lead: str = "See what each way of searching finds, without an answer being written."
    search_for: str = "Search for"
    search_go: str = "Search"
    search_bm25: str = "Same words as you wrote"
    search_dense: str = "Closest in meaning"
    search_hybrid: str = "Words and meaning together"
    search_graph: str = "Connected with the best of these"
    search_none: str = "Nothing found."
    score: str = "score {score}"
    score_bm25: str = "words (BM25)"
    score_dense: str = "meaning (cosine)"
    score_rrf: str = "both, by rank (RRF)"
    score_graph: str = "connection"
    # How one passage leads to the next; {x} is a term
    way_this: str = "this passage"
    way_links: str = "{a} has a link to {b}"
    way_names: str = "{a} mentions {b}"
    way_shares: str = "{a} and {b} both mention “{x}”"
    way_section: str = "{a} and {b} are in the same section"
    way_beside: str = "{a} and {b} follow one another in the document"
    way_cites: str = "{a} refers to {b}"
    way_part: str = "{a} is part of {b}"
    way_replaced: str = "{a} was replaced by {b}"
    way_uses: str = "{a} uses the term “{x}”, which {b} explains"
    models_lead: str = "The trained models that ship with this program, and how they were measured."
    models_none: str = "No trained model is installed; rules take their places."
    card: str = "Model card"
    evaluation: str = "Evaluation"
    benchmarks: str = "Results of benchmarks"
    # How the answers of this server measure up
    groundedness: str = "Sentences with a source"
    grounded_all: str = "every sentence stands in a cited passage"
    grounded_some: str = "{share} of the sentences stand in a cited passage"
    relevance: str = "Relevance of the answer"
    running: str = "Answers of this server"
    running_lead: str = (
        "Means of the last {window} questions since the program was started, renewed every {every}. "
        "Only numbers are kept, nothing of what was asked or answered."
    )
    running_none: str = "A chart appears here after {every} questions; {asked} have been asked since the program was started."
    running_latest: str = (
        "The last {questions} of {total} questions: sentences with a source {groundedness}, relevance {relevance}, "
        "refused {refused}."
    )
    running_axis: str = "Questions so far"
    running_refused: str = "Refused"
    running_note: str = (
        "A sentence has a source if it was found quoted from, or supported by, the passage it cites. That says where an answer "
        "comes from, not whether it is right. Answers without a language model only quote, so theirs is 100 % by construction. "
        "Relevance is how likely the relevance model holds it that the answer helps with the question. Refusals count for "
        "neither."
    )


EN = Texts()


def _read() -> Mapping[str, Texts]:
    files = sorted(ASSETS.glob("[a-z][a-z].json"))
    return MappingProxyType({"en": EN} | {path.stem: Texts(**json.loads(path.read_text(encoding="utf-8"))) for path in files})


LANGUAGES = _read()


def choose(accept_language: str | None) -> Texts:
    """The first language of an ``Accept-Language`` header that the page speaks, else English."""
    for part in (accept_language or "").split(","):
        texts = LANGUAGES.get(part.split(";")[0].strip().split("-")[0].lower())
        if texts is not None:
            return texts
    return EN


def component_texts() -> Any:
    """All texts as ``gr.I18n``, for the components that the browser labels."""
    import gradio as gr

    return gr.I18n(**{name: {key: str(value) for key, value in asdict(texts).items()} for name, texts in LANGUAGES.items()})
