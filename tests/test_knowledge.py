"""The shipped collection itself: articles, questions and profile are checked as code is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from lqr.corpus.asked import FILE_NAME as ASKED
from lqr.corpus.asked import asked_of, read_asked
from lqr.corpus.ingest import ingest
from lqr.corpus.profile import load_profile
from lqr.corpus.store import Store
from lqr.evaluation.questions import Item, facts_found, forbidden_found, load
from lqr.grounding.refusal import out_of_scope
from lqr.retrieval.dense import SentenceEmbedder
from lqr.retrieval.shipped import FILE_NAME as VECTORS
from lqr.retrieval.shipped import read_shipped, text_hash

FOLDER = Path(__file__).resolve().parent.parent / "knowledge" / "agriculture"
ARTICLES = sorted(FOLDER.rglob("*.md"))
SECTIONS = re.compile(r"^##+ ", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@cache
def parts(path: Path) -> tuple[dict[str, Any], str]:
    """Front matter and body."""
    text = path.read_text(encoding="utf-8")
    match = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    assert match, path
    return yaml.safe_load(match[1]), match[2]


def faults(check: Any) -> list[str]:
    """``path: fault`` for every article in which ``check(front, body, path)`` finds one."""
    found = []
    for path in ARTICLES:
        front, body = parts(path)
        found.extend(f"{path.relative_to(FOLDER)}: {fault}" for fault in check(front, body, path))
    return found


def test_there_are_enough_articles() -> None:
    assert len(ARTICLES) >= 100


def test_front_matter_is_complete() -> None:
    def check(front: dict[str, Any], body: str, path: Path) -> Iterator[str]:
        for key in ("title", "topic", "region", "season", "sources"):
            if not front.get(key):
                yield f"lacks {key}"
        if not isinstance(front.get("species", []), list) or not isinstance(front.get("crop", []), list):
            yield "species and crop are lists"
        if "species" not in front and "crop" not in front:
            yield "lacks species or crop"

    assert faults(check) == []


def test_every_article_names_at_least_two_sources() -> None:
    def check(front: dict[str, Any], body: str, path: Path) -> Iterator[str]:
        if len(front["sources"]) < 2:
            yield "fewer than two"
        for source in front["sources"]:
            if not (source.get("title") and source.get("publisher") and isinstance(source.get("year"), int)):
                yield str(source)
            elif not 1950 <= source["year"] <= 2026:
                yield f"year {source['year']}"

    assert faults(check) == []


def test_titles_are_unique() -> None:
    titles = Counter(parts(path)[0]["title"] for path in ARTICLES)
    assert [title for title, count in titles.items() if count > 1] == []


def test_length_and_sections() -> None:
    def check(front: dict[str, Any], body: str, path: Path) -> Iterator[str]:
        words = len(re.sub(r"\]\([^)]*\)", "]", body).split())
        if not 300 <= words <= 760:
            yield f"{words} words"
        if len(SECTIONS.findall(body)) < 3:
            yield "fewer than three sections"
        if re.search(r"^# ", body, re.MULTILINE):
            yield "a # heading; the title stands in the front matter"

    assert faults(check) == []


def test_every_relative_link_resolves() -> None:
    def check(front: dict[str, Any], body: str, path: Path) -> Iterator[str]:
        for target in LINK.findall(body):
            if not target.startswith(("http://", "https://")) and not (path.parent / target.partition("#")[0]).is_file():
                yield target

    assert faults(check) == []


def test_every_article_links_to_others() -> None:
    def check(front: dict[str, Any], body: str, path: Path) -> Iterator[str]:
        if not [target for target in LINK.findall(body) if (path.parent / target).resolve() != path]:
            yield "no link"

    assert faults(check) == []


def test_tables_are_well_formed() -> None:
    """A header, a rule of as many columns, and rows of as many cells, none of the first empty."""

    def check(front: dict[str, Any], body: str, path: Path) -> Iterator[str]:
        for table in re.findall(r"(?:^\|.*\n?)+", body, re.MULTILINE):
            rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.strip().splitlines()]
            if len(rows) < 3:
                yield f"{len(rows)} lines: {rows[0]}"
            elif not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
                yield f"no rule under {rows[0]}"
            elif len(set(map(len, rows))) > 1:
                yield f"uneven: {[len(row) for row in rows]}"
            elif not all(row[0] for row in rows[2:]) or not all(rows[0]):
                yield f"an empty header or label: {rows[0]}"
        if re.search(r"^[^|\n]+\|[^|\n]*\|", body, re.MULTILINE):
            yield "a table row without its first bar"

    assert faults(check) == []


def test_no_html_latex_or_images() -> None:
    def check(front: dict[str, Any], body: str, path: Path) -> Iterator[str]:
        for pattern in (r"</?[a-zA-Z][^>]*>", r"&[a-z]+;", r"!\[", r"\$[^$\n]+\$", r"\\\("):
            if match := re.search(pattern, body):
                yield match.group()

    assert faults(check) == []


def test_no_section_begins_with_a_pronoun() -> None:
    """Sentences are quoted alone."""

    def check(front: dict[str, Any], body: str, path: Path) -> Iterator[str]:
        for section in re.split(r"^##+ .*$", body, flags=re.MULTILINE):
            first = section.strip().split("\n")[0]
            if re.match(r"(?:It|They|This|These|That|Those|He|She)\b(?! (?:is|are) (?:a|the) )", first):
                yield first[:60]

    assert faults(check) == []


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("store")) as opened:
        report = ingest([FOLDER], opened)
        assert report.failed == ()
        assert report.duplicates == ()
        yield opened


@pytest.fixture(scope="module")
def items(store: Store) -> list[Item]:
    return load(FOLDER / "questions.jsonl", store)


def test_every_article_is_a_document_and_nothing_else_is(store: Store) -> None:
    assert {info.source for info in store.documents()} == {path.relative_to(FOLDER).as_posix() for path in ARTICLES}


def test_question_counts(items: list[Item]) -> None:
    kinds = Counter(item.kind for item in items)
    assert kinds["simple"] >= 70
    assert kinds["two_step"] >= 60
    assert kinds["refuse"] >= 30
    assert sum(len(item.turns) >= 3 for item in items if item.kind == "dialogue") >= 40
    assert all(len(item.turns) == 1 for item in items if item.kind != "dialogue")


def test_both_splits_hold_every_kind(items: list[Item]) -> None:
    counts = Counter((item.split, item.kind) for item in items)
    assert all(counts[split, kind] >= 10 for split in ("dev", "test") for kind in ("simple", "two_step", "dialogue", "refuse"))


def test_no_question_is_asked_twice(items: list[Item]) -> None:
    asked = Counter(re.sub(r"\W+", " ", turn.standalone.lower()) for item in items for turn in item.turns)
    assert [question for question, count in asked.items() if count > 1] == []


def test_turns_hold_what_their_expectation_wants(items: list[Item]) -> None:
    for item in items:
        for turn in item.turns:
            if turn.expect == "refuse":
                assert turn.gold == (), item.id
            else:
                assert turn.gold, item.id
                assert turn.key_facts, item.id
            if turn.route == "complex":
                assert len(turn.sub_questions) == 2, item.id
        if item.kind == "two_step":
            assert len(item.turns[0].gold) >= 2, item.id
        if item.kind == "refuse":
            assert item.turns[0].expect in ("refuse", "correct"), item.id
        if item.kind in ("simple", "two_step"):
            assert item.turns[0].expect != "refuse", item.id


def test_nearly_every_snippet_marks_one_passage(items: list[Item]) -> None:
    """The check on writing is against the document; a snippet may lie in two passages where they overlap."""
    several = [(item.id, ids) for item in items for turn in item.turns for ids in turn.marked if len(ids) > 1]
    assert all(len({i.rsplit("-", 1)[0] for i in ids}) == 1 for _, ids in several)
    assert len(several) <= 5, several


def test_the_gold_holds_the_facts_and_not_what_must_not_be_said(items: list[Item], store: Store) -> None:
    lacking, contradicted = [], []
    for item in items:
        for turn in item.turns:
            if turn.expect == "refuse":
                continue
            held = "\n".join(store.passage(i).text for ids in turn.marked for i in ids)
            lacking.extend(
                (item.id, fact) for fact, found in zip(turn.key_facts, facts_found(turn, held), strict=True) if not found
            )
            contradicted.extend((item.id, bad) for bad in forbidden_found(turn, held))
    assert contradicted == []
    assert lacking == []


def test_the_profile_bars_no_gold_passage(items: list[Item], store: Store) -> None:
    """A scope name that is an everyday word ("does" of goats), or a wish-word in an answerable question, shows here."""
    profile = load_profile(FOLDER)
    barred = []
    for item in items:
        for turn in item.turns:
            if turn.expect == "refuse":
                continue
            if profile.cannot_hold(turn.standalone):
                barred.append((item.id, "not held"))
            if turn.route == "simple":
                for ids in turn.gold:
                    reasons = [out_of_scope(profile, turn.standalone, store.passage(i)) for i in ids]
                    barred.extend([(item.id, reasons[0])] if all(reasons) else [])
    assert barred == []


def test_everyday_words_name_no_animal_and_no_crop() -> None:
    profile = load_profile(FOLDER)
    everyday = "How much does it need, when do I sow, how do I dock with a rubber ring, is orange rust bad, how does it look?"
    assert profile.mentions(everyday) == []


def test_the_profile_has_what_the_pages_show() -> None:
    profile = load_profile(FOLDER)
    assert profile.title
    assert profile.description
    assert len(profile.examples) >= 4
    for key in ("refusal", "near", "rephrase"):
        assert profile.text(key, "en") != profile.text(key, "zh")
    for entry in profile.not_held:
        assert {"en", "zh"} <= set(entry.texts)
    for question in profile.examples:
        assert question.endswith("?")
        assert profile.cannot_hold(question) is None
    for question in (
        "What is the price of hay?",
        "羊的价格是多少",
        "barley price this year",
        "what does straw cost now",
        "is it going to snow",
    ):
        assert profile.cannot_hold(question)
    for question in ("What sets the price of a fleece?", "Do clean fleeces fetch more?", "Which months are dry in Gansu?"):
        assert profile.cannot_hold(question) is None


def test_every_name_stands_once_in_its_kind() -> None:
    profile = load_profile(FOLDER)
    for groups in (profile.scope, profile.classes):
        for kind, things in groups.items():
            names = Counter(name.lower() for thing in things for name in thing)
            assert [name for name, count in names.items() if count > 1] == [], kind


def test_the_name_behind_a_synonym_stands_in_an_article() -> None:
    text = " ".join(f"{front['title']} {body}" for front, body in map(parts, ARTICLES)).lower()
    words = re.compile(r"\W+")
    held = f" {words.sub(' ', text)} "
    assert [name for name in load_profile(FOLDER).synonyms if f" {words.sub(' ', name.lower()).strip()} " not in held] == []


def test_no_synonym_is_an_everyday_word_or_one_of_two_diseases() -> None:
    everyday = """
    the a my one it do does go went get put down off out up on in back side end way day night week year time place part
    yellow black white red blue stiff sick ill dead dying weak fat thin hot cold dry wet good bad big small old young new
    feed food eat drink give take buy sell keep kill stop start help use move turn run walk stand lie fall drop spray cut
    cake nuts pit pen bag ball bearing bearings camp crush dip dog head leg foot jaw belly bolt belt crop drill drum hand
    lick licks limp map super mop bed cast blown scab staggers rot blight rust mould stones fly flies pine husk freeze
    """.split()
    said = {word.lower() for alike in load_profile(FOLDER).synonyms.values() for word in alike}
    assert said & {*everyday, "lambing sickness", "马", "毒", "日", "果", "根", "种", "虫", "天", "越冬", "退化", "高原"} == set()


@pytest.mark.parametrize(
    ("said", "other"),
    [
        ("阿维菌素", "ivermectin"),  # abamectin, with another margin of safety
        ("closamectin", "closantel"),  # ivermectin is in it too
        ("pen-strep", "penicillin"),
        ("quicklime", "lime"),  # burns, and half of it does
        ("borax", "boron"),  # a tenth of it is boron
        ("DAP", "phosphate"),
        ("ionophores", "monensin"),
        ("mag flakes", "calcined magnesite"),  # magnesium chloride
    ],
)
def test_no_substance_is_taken_for_another(said: str, other: str) -> None:
    profile = load_profile(FOLDER)
    assert profile.renamed(f"{said} for a ewe").strip().lower() != f"{other} for a ewe".lower()
    assert f"({other.lower()})" not in profile.glossed(f"{said} for a ewe").lower()


@pytest.mark.parametrize(
    "question",
    [
        "hypothermia in calves",
        "玉米锈病",
        "肉牛育肥",
        "棉花蚜虫",
        "水稻钻心虫",
        "空怀母牛",
        "兔子疥螨",
        "牛圈舍",
        "psylla on pears",
    ],
)
def test_no_synonym_brings_in_another_animal_or_crop(question: str) -> None:
    """What was asked about then no longer bars an answer on the other one."""
    things = load_profile(FOLDER).things(load_profile(FOLDER).glossed(question))
    assert [kind for kind, named in things.items() if len(named) > 1] == []
    assert "sheep" not in things.get("animal", ())
    assert not {"wheat", "citrus"} & things.get("crop", set())


def test_a_price_is_refused_in_chinese_too() -> None:
    profile = load_profile(FOLDER)
    for entry in profile.not_held:
        for word in entry.words:
            assert profile.cannot_hold(profile.renamed(word)) == entry.texts["en"], word
    assert profile.cannot_hold("What is a cheap way to bed lambs?") is None


@pytest.mark.model
def test_the_shipped_vectors_are_those_of_the_articles(store: Store, embedder: SentenceEmbedder) -> None:
    """A start embeds what is missing: two texts in a hundred cost some seconds, and not each typo a new file of 7 MB."""
    passages = store.all_passages()
    asked = asked_of(read_asked(FOLDER / ASKED), passages, {info.id: info.source for info in store.documents()})
    texts = {
        text_hash(text): text
        for text in [p.indexed_text for p in passages] + [item.question for items in asked.values() for item in items]
    }
    shipped = read_shipped(FOLDER / VECTORS, embedder)
    missing = texts.keys() - shipped.keys()
    remedy = "run `lqr ingest --save-vectors --collection agriculture`"
    assert len(missing) <= 0.02 * len(texts), f"{len(missing)} texts are new: {remedy}"
    assert len(shipped.keys() - texts.keys()) <= 0.1 * len(texts), f"many are of texts that are gone: {remedy}"
    assert (FOLDER / VECTORS).stat().st_size <= 810 * len(shipped)  # 384 numbers of two bytes, a hash, and little else
    sample = sorted(texts.keys() & shipped.keys())[:: len(texts) // 20]
    for key, vector in zip(sample, embedder.encode([texts[key] for key in sample]), strict=True):
        assert float(shipped[key] @ vector) > 0.99, f"another vector than that of {texts[key]!r}"
