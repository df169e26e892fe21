"""Nothing that was written by someone else becomes markup."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from ui_fakes import COPPER, DOCUMENT, HOSTILE, ScriptedPipeline

from lqr.ui import document, markup, views
from lqr.ui.exchange import Conversation, Exchange, is_answer
from lqr.ui.options import Options
from lqr.ui.texts import EN, LANGUAGES, choose

TAGS = set(
    "p br ul ol li a span strong mark article section header div h2 h3 h4 h5 h6 blockquote details summary "
    "dl dt dd table thead tbody tr td th small button nav pre textarea label form fieldset legend input".split()
)


class Reader(HTMLParser):
    """Collects tags, attributes and text as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.marked: list[str] = []
        self.in_mark = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "mark":
            self.marked.append("")
            self.in_mark = True

    def handle_endtag(self, tag: str) -> None:
        self.in_mark = self.in_mark and tag != "mark"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.in_mark:
            self.marked[-1] += data


def check_harmless(html: str) -> Reader:
    reader = Reader(html)
    for tag, attributes in reader.tags:
        assert tag in TAGS, tag
        assert not any(name.startswith("on") or name in ("style", "src", "srcdoc") for name in attributes), attributes
        assert (attributes.get("href") or "#").startswith(("#", "http://", "https://"))
    return reader


def answered(question: str, history: tuple[()] = ()) -> Exchange:
    *_, last = ScriptedPipeline(pause=0).stream(question, history)
    return Exchange(question, last.to_dict())  # type: ignore[union-attr]


def test_hostile_strings_stay_text_everywhere() -> None:
    item = answered(f"hostile {HOSTILE}")
    reader = check_harmless(views.exchange(0, item, EN, last=True))
    assert reader.text.count("<script>window.pwned=1</script>") >= 5  # question, answer, card, trace, suggestion
    assert "pH <5.5 costs $3-$5/ha" in reader.text
    assert "\u202e" not in reader.text
    assert [a for t, a in reader.tags if t == "a"] == [
        {"class": "cite", "href": "#s0-1", "data-cite": "1", "aria-label": "Source 1"}
    ]  # neither [99] nor the javascript: address is a link
    check_harmless(views.welcome(HOSTILE, HOSTILE, [HOSTILE], EN))
    check_harmless(views.exchange(0, item, EN, last=True, rated=True))
    whole = check_harmless(document.page(DOCUMENT, HOSTILE, (), (HOSTILE,), EN))
    assert "![x](http://evil.invalid/x.png)" in whole.text


@settings(max_examples=150, deadline=None)
@given(st.text(), st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_any_text_is_shown_as_it_is(text: str, other: str, quotes: list[str]) -> None:
    claims = [{"text": other, "support": "partial", "note": text}]
    check_harmless(markup.answer(text, claims, {1, 2}, "s0-", EN))
    html = markup.highlight(text, quotes)
    assert {tag for tag, _ in check_harmless(html).tags} <= {"mark"}
    # A parser turns \r into \n; nothing else may change.
    assert (
        Reader(html).text.replace("\r", "\n") == markup._UNSAFE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
        or "\r" in text
    )


def test_citations_link_to_their_cards_and_lists_are_lists() -> None:
    reader = Reader(markup.answer("Yes [1][2]. No [7].\n\n- one [1]\n- two\n\n1. first\n2. second", (), {1, 2}, "s3-", EN))
    assert [a["href"] for t, a in reader.tags if t == "a"] == ["#s3-1", "#s3-2", "#s3-1"]
    assert "[7]" in reader.text
    assert [t for t, _ in reader.tags if t in ("ul", "ol", "li")] == ["ul", "li", "li", "ol", "li", "li"]


def test_a_partly_supported_claim_is_marked_after_its_citations() -> None:
    claims = [{"text": "B is so.", "support": "partial", "note": "only in spring"}, {"text": "A is.", "support": "supported"}]
    html = markup.answer("A is [1]. B is so [2]. C.", claims, {1, 2}, "s0-", EN)
    assert html.index(">2</a>") < html.index("partly supported") < html.index("C.")
    assert html.index(">1</a>") < html.index('aria-label="supported by its source"') < html.index("B is so")
    assert html.count('class="doubt"') == html.count('class="support"') == 1
    assert 'title="only in spring"' in html


def test_a_sentence_said_twice_is_marked_in_both_places() -> None:
    claims = [{"text": "A is.", "support": "quoted"}, {"text": "A is.", "support": "partial"}]
    html = markup.answer("A is [1]. A is [2].", claims, {1, 2}, "s0-", EN)
    assert html.index('data-support="quoted"') < html.index(">2</a>") < html.index('class="doubt"')


def test_fixed_replies_have_no_badge_no_sources_and_no_trace() -> None:
    item = answered("hello there")
    assert item.answer is not None
    greeting = {**item.answer, "sources": [], "claims": [], "confidence": {"level": "none", "reason": "not a question"}}
    for kind in ("small_talk", "meta", "unclear", "empty", "too_long"):
        answer = {**greeting, "trace": {**item.answer["trace"], "turn_kind": kind}}
        html = views.exchange(0, Exchange("hello", answer), EN, last=True, rated=True)
        for absent in ('class="confidence"', EN.none, EN.no_sources, EN.how, "data-rating"):
            assert absent not in html
        assert EN.copy in html
    refused = views.exchange(0, answered("nothing"), EN, last=True)
    assert EN.none in refused
    assert EN.no_sources in refused


def test_the_way_is_told_in_plain_words_and_the_numbers_apart() -> None:
    html = views.exchange(0, answered("a"), EN, last=True)
    way, numbers = html.split('class="numbers"')
    assert EN.why_complex in way
    assert "compares two feeds" not in way
    assert "compares two feeds" in numbers
    assert "0.83" in numbers
    assert EN.groundedness not in html  # of an older answer, kept in a browser without figures
    assert '<textarea id="standalone-0"' in way


def test_the_figures_of_an_answer_stand_among_the_numbers() -> None:
    item = answered("a")
    figures = {"groundedness": 1.0, "relevance": 0.625, "quoted": 3}
    shown = replace(item, answer={**(item.answer or {}), "evaluation": figures})
    numbers = views.exchange(0, shown, EN, last=True).split('class="numbers"')[1]
    assert (
        f"<dt>{EN.groundedness}</dt><dd>every sentence stands in a cited passage</dd><dt>{EN.relevance}</dt><dd>0.62</dd>"
        in numbers
    )
    shown = replace(item, answer={**(item.answer or {}), "evaluation": figures | {"groundedness": 0.75}})
    assert "<dd>75\N{NO-BREAK SPACE}% of the sentences stand in a cited passage</dd>" in views.exchange(0, shown, EN, last=True)
    almost = replace(item, answer={**(item.answer or {}), "evaluation": figures | {"groundedness": 0.997}})
    assert "every sentence" not in views.exchange(0, almost, EN, last=True)
    assert "100" not in views.exchange(0, almost, EN, last=True).split(EN.groundedness)[1].split("</dd>")[0]
    for odd in ("text", {"groundedness": "<b>", "relevance": None}):
        odd_html = views.exchange(0, replace(item, answer={**(item.answer or {}), "evaluation": odd}), EN, last=True)
        assert EN.groundedness not in odd_html


def test_chinese_pages_say_nothing_in_english_but_what_documents_say() -> None:
    item = answered("铜")
    assert item.answer is not None
    reader = Reader(views.exchange(0, item, LANGUAGES["zh"], last=True).split('class="numbers"')[0])
    assert "依据1 篇文献中的1 个段落" in reader.text
    for text in ("passage", "agree", "supported", "Understood", "Sources", "look"):
        assert text not in reader.text.split("How is copper")[0].replace(item.text, "")[:120]


def test_only_plain_web_addresses_become_links() -> None:
    assert markup.web_address("https://example.org/a?b=1&c=2") == "https://example.org/a?b=1&amp;c=2"
    for bad in ("javascript:alert(1)", "data:text/html,x", "//evil", "http://a b", " java\tscript:1", "", None):
        assert markup.web_address(bad) is None


def test_highlight_survives_white_space_and_overlap() -> None:
    assert (
        markup.highlight("one\n two three four", ["one two three", "three four"])
        == "<mark>one\n two three</mark><mark> four</mark>"
    )
    assert markup.highlight("a<b", ["a<b"]) == "<mark>a&lt;b</mark>"
    assert markup.highlight("abc", ["xyz", " "]) == "abc"


def test_the_document_opens_at_the_cited_passage_only() -> None:
    html = document.page(DOCUMENT, DOCUMENT.blocks[6].text, ("Signs",), (COPPER[1],), EN)
    assert Reader(html).marked == [COPPER[1]]
    assert html.count('class="cited"') == 1
    assert [DOCUMENT.blocks[i].kind for i in document.cited_blocks(DOCUMENT, DOCUMENT.blocks[2].text, ("Elsewhere",))] == [
        "paragraph"
    ]


def test_rows_are_a_table_with_the_cited_one_marked() -> None:
    row = "Feed: Cattle mineral mix; Copper (mg/kg): 500 to 2,500"
    html = document.page(DOCUMENT, row, ("What to do",), (row,), EN)
    reader = check_harmless(html)
    assert [t for t, _ in reader.tags if t in ("table", "th", "td")] == ["table", "th", "th", "td", "td", "td", "td"]
    assert reader.marked == ["Cattle mineral mix", "500 to 2,500"]
    assert html.count('<tr class="cited">') == 1
    cell = document.page(DOCUMENT, row, ("What to do",), ("500 to 2,500",), EN)
    assert Reader(cell).marked == ["500 to 2,500"]


def test_a_reload_shows_exactly_what_was_shown() -> None:
    import json

    rated = replace(answered("a"), rating="up", options=Options("complex", "open", 8))
    conversation = Conversation((rated, Exchange("b", draft="half", stopped=True)), "0123456789abcdef")
    again = Conversation.from_json(json.loads(json.dumps(conversation.to_json())))
    for before, after in zip(conversation.exchanges, again.exchanges, strict=True):
        assert views.exchange(0, before, EN, last=True) == views.exchange(0, after, EN, last=True)
    assert [turn.role for turn in again.turns()] == ["user", "assistant", "user", "assistant"]
    assert again.id == conversation.id


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_anything_in_the_browser_store_is_survived(raw: object) -> None:
    wrapped = {"version": 1, "exchanges": [{"question": "q", "answer": raw, "options": raw, "rating": raw}, raw], "id": raw}
    for stored in (raw, wrapped):
        for index, item in enumerate(Conversation.from_json(stored).exchanges):
            check_harmless(views.exchange(index, item, EN, last=True))


def test_a_damaged_answer_is_dropped_and_the_rest_kept() -> None:
    good = answered("a").to_json()
    for key in ("sources", "claims", "trace", "confidence", "text"):
        assert not is_answer({**good["answer"], key: 3})
    answer = good["answer"]
    for wrong in (["rich"], {"rich": 1}, 3):
        assert not is_answer({**answer, "confidence": {**answer["confidence"], "level": wrong}})
        assert not is_answer({**answer, "sources": [{**answer["sources"][0], "document_id": wrong}]})
    assert is_answer({**answer, "confidence": {}})
    stored = {"version": 1, "exchanges": [{**good, "answer": {"text": "x"}}, good]}
    assert len(Conversation.from_json(stored).exchanges) == 1


def test_language_follows_the_browser() -> None:
    assert choose("fr-FR,zh-CN;q=0.8,en;q=0.5").language == "zh"
    assert choose(None).language == choose("fr").language == "en"
    for texts in LANGUAGES.values():
        html = views.exchange(0, answered("a"), texts, last=True)
        assert texts.how in html
        check_harmless(html)
