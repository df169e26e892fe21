from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lqr.errors import RetrievalError
from lqr.retrieval import index as index_module
from lqr.retrieval.dense import SentenceEmbedder
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.fusion import reciprocal_rank_fusion
from lqr.retrieval.retriever import Retriever
from lqr.retrieval.tokenizer import tokenize
from lqr.settings import Settings
from lqr.types import Block, Document, Passage

TEXTS = {
    "copper": ("Copper poisoning in sheep", "Sheep store copper in the liver and may die of it.", ()),
    "foot": ("Foot rot", "Lame ewes often have foot rot; walk them through zinc sulphate.", ("copper.md",)),
    "hay": ("Making hay", "Hay keeps when baled below 20 % moisture.", ()),
    "lime": ("Liming", "Lime acid soils to pH 6.5 before clover is sown.", ()),
}


class MemoryStore:
    """A store in memory, for the part of it that the indexes read."""

    def __init__(self) -> None:
        self.generation = 0
        self.held: dict[str, tuple[Document, Passage]] = {}
        for name, (title, text, links) in TEXTS.items():
            self.add(name, title, text, links)

    def add(self, name: str, title: str, text: str, links: tuple[str, ...] = ()) -> None:
        document = Document(name, title, text, (Block("paragraph", text, 0, len(text), links=links),), f"{name}.md")
        self.held[name] = (document, Passage(f"{name}-0", name, title, (), text, 0, 0, len(text)))
        self.generation += 1

    def delete(self, name: str) -> None:
        del self.held[name]
        self.generation += 1

    def all_passages(self) -> list[Passage]:
        return [passage for _, (_, passage) in sorted(self.held.items())]

    def document(self, document_id: str) -> Document:
        return self.held[document_id][0]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def fake() -> HashingEmbedder:
    return HashingEmbedder(256)


@pytest.fixture
def make(store: MemoryStore, fake: HashingEmbedder, tmp_path: Path) -> Callable[[], Retriever]:
    settings = Settings(profile="cpu", home=tmp_path)
    return lambda: Retriever.open(store, fake, settings, tmp_path / "demo")


def current(tmp_path: Path) -> Path:
    root = tmp_path / "demo" / "index"
    return root / (root / "CURRENT").read_text()


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "dense"])
def test_finds(make: Callable[[], Retriever], mode: str) -> None:
    hits = make().search("why did copper kill my sheep?", 2, mode=mode)  # type: ignore[arg-type]
    assert hits[0].passage.id == "copper-0"
    assert {"bm25", "dense"} <= set(hits[0].scores)
    assert hits[0].score == hits[0].scores["rrf" if mode == "hybrid" else mode]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_hybrid_is_the_fusion_of_both(make: Callable[[], Retriever], fake: HashingEmbedder, store: MemoryStore) -> None:
    retriever, query = make(), "zinc for lame sheep on acid soils"
    passages = store.all_passages()
    cosines = fake.encode([p.indexed_text for p in passages]) @ fake.encode([query])[0]
    dense = [passages[i].id for i in sorted(range(len(passages)), key=lambda i: (-cosines[i], i))]
    bm25 = [hit.passage.id for hit in retriever.search(query, mode="bm25")]
    expected = reciprocal_rank_fusion([bm25, dense])
    hits = retriever.search(query)
    assert [(hit.passage.id, hit.score) for hit in hits] == expected
    for hit in hits:
        assert hit.scores["dense"] == pytest.approx(float(cosines[passages.index(hit.passage)]), abs=1e-5)


@pytest.mark.parametrize("query", ["", "   ", "🐑🐑", "?!", "\n"])
def test_nothing_asked_nothing_found(make: Callable[[], Retriever], query: str) -> None:
    assert make().search(query) == []


def test_odd_queries(make: Callable[[], Retriever]) -> None:
    retriever = make()
    assert retriever.search("sheep " * 20_000, 1)[0].passage.id == "copper-0"
    assert retriever.search("xyzzy qwerty", mode="bm25") == []
    assert retriever.search("sheep", 0) == []
    assert len(retriever.search("sheep", 10_000)) <= len(TEXTS)
    assert retriever.search_many([]) == []
    with pytest.raises(RetrievalError, match="sparse"):
        retriever.search("sheep", mode="sparse")  # type: ignore[arg-type]


def test_many_equals_one_by_one(make: Callable[[], Retriever]) -> None:
    retriever, queries = make(), ["copper", "", "hay moisture", "copper"]
    assert retriever.search_many(queries, 3) == [retriever.search(query, 3) for query in queries]


def test_saved_index_is_loaded_not_built(make: Callable[[], Retriever], fake: HashingEmbedder) -> None:
    before = make().search("lame ewes")
    count = fake.encoded
    assert make().search("lame ewes") == before
    assert fake.encoded == count + 1  # the question alone


def test_only_new_texts_are_embedded_and_deleted_ones_are_gone(
    make: Callable[[], Retriever], store: MemoryStore, fake: HashingEmbedder
) -> None:
    retriever = make()
    assert not retriever.refresh()
    count = fake.encoded
    store.add("orf", "Orf", "Scabs on the lips of lambs are orf.")
    assert retriever.search("orf scabs", 1)[0].passage.id != "orf-0"
    assert retriever.refresh()
    assert fake.encoded == count + 2  # the question before, and the one new passage
    assert retriever.search("orf scabs", 1)[0].passage.id == "orf-0"
    store.delete("orf")
    assert retriever.refresh()
    assert len(retriever) == len(TEXTS)
    for mode in ("hybrid", "bm25", "dense"):
        assert "orf-0" not in {hit.passage.id for hit in retriever.search("orf scabs on lambs", mode=mode)}  # type: ignore[arg-type]
    assert "orf-0" not in {hit.passage.id for hit in retriever.expand(retriever.search("orf scabs on lambs"))}
    assert retriever.generation == store.generation


def test_same_generation_other_content_is_rebuilt(make: Callable[[], Retriever], store: MemoryStore) -> None:
    make()
    store.delete("hay")
    store.add("oats", "Oats", "Oats are sown in spring.")
    store.generation = len(TEXTS)  # a store made anew counts from the beginning
    assert make().search("oats sown", 1)[0].passage.id == "oats-0"


def test_other_embedder_or_tokenizer_is_rebuilt(
    make: Callable[[], Retriever], fake: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    count = fake.encoded
    fake.revision = "2"
    make()
    assert fake.encoded == count + len(TEXTS)
    monkeypatch.setattr(index_module, "TOKENIZER_VERSION", "other")
    make()
    assert fake.encoded == count + len(TEXTS)  # vectors do not depend on the tokenizer


def all_files(make: Callable[[], Retriever], tmp_path: Path) -> list[str]:
    make()
    return sorted(p.relative_to(current(tmp_path)).as_posix() for p in current(tmp_path).rglob("*") if p.is_file())


@pytest.mark.parametrize("damage", ["flip", "truncate", "delete"])
def test_every_damaged_file_is_named_and_rebuilt(
    make: Callable[[], Retriever], tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    expected = make().search("lame ewes on acid soil")
    for name in all_files(make, tmp_path):
        path = current(tmp_path) / name
        content = bytearray(path.read_bytes())
        caplog.clear()
        if damage == "delete":
            path.unlink()
        elif damage == "truncate":
            path.write_bytes(content[: len(content) // 2])
        else:
            content[len(content) // 2] ^= 0xFF
            path.write_bytes(content)
        retriever = make()
        assert retriever.search("lame ewes on acid soil") == expected, name
        assert "damaged" in caplog.text, name
        caplog.clear()
        make()
        assert "damaged" not in caplog.text, name


def test_damaged_bm25_keeps_the_vectors(make: Callable[[], Retriever], tmp_path: Path, fake: HashingEmbedder) -> None:
    make()
    count = fake.encoded
    (current(tmp_path) / "bm25" / "params.index.json").write_text("{")
    make()
    assert fake.encoded == count


@pytest.mark.parametrize("pointer", ["", "../..", "nowhere", "\0"])
def test_bad_pointer(make: Callable[[], Retriever], tmp_path: Path, pointer: str) -> None:
    make()
    (tmp_path / "demo" / "index" / "CURRENT").write_text(pointer)
    assert make().search("copper", 1)[0].passage.id == "copper-0"


def test_kill_at_any_file_operation_leaves_old_or_new(
    make: Callable[[], Retriever], store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    store.add("orf", "Orf", "Scabs are orf.")
    for broken in ("rename", "replace"):

        def kill(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(*((Path, "rename") if broken == "rename" else (os, "replace")), kill)
            with pytest.raises(KeyboardInterrupt):
                make()
        manifest = json.loads((current(tmp_path) / "manifest.json").read_text())
        assert manifest["stamp"]["generation"] == len(TEXTS)
    assert make().search("orf", 1)[0].passage.id == "orf-0"
    folders = [path for path in (tmp_path / "demo" / "index").iterdir() if path.is_dir()]
    assert folders == [current(tmp_path)]


def test_unwritable_folder_still_searches(
    make: Callable[[], Retriever], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "index").write_text("a file is in the way")
    assert make().search("copper", 1)[0].passage.id == "copper-0"
    assert "can't be written" in caplog.text


def test_nothing_is_pickled(make: Callable[[], Retriever], tmp_path: Path) -> None:
    assert {Path(name).suffix for name in all_files(make, tmp_path)} == {".json", ".npy"}


def test_empty_store(store: MemoryStore, make: Callable[[], Retriever]) -> None:
    for name in TEXTS:
        store.delete(name)
    for _ in range(2):  # built, then loaded
        retriever = make()
        assert retriever.search("sheep") == []
        assert retriever.expand([]) == []
        assert len(retriever) == 0


def test_document_deleted_while_indexing(store: MemoryStore, fake: HashingEmbedder, tmp_path: Path) -> None:
    class Racing(MemoryStore):
        raced = False

        def document(self, document_id: str) -> Document:
            if not self.raced:
                self.raced = True
                self.delete("hay")
            return super().document(document_id)

    retriever = Retriever.open(Racing(), fake, Settings(profile="cpu"), tmp_path)
    assert "hay-0" not in {hit.passage.id for hit in retriever.search("hay moisture")}


def test_restless_store(store: MemoryStore, fake: HashingEmbedder, tmp_path: Path) -> None:
    class Restless(MemoryStore):
        def all_passages(self) -> list[Passage]:
            self.generation += 1
            return super().all_passages()

    with pytest.raises(RetrievalError, match="try again"):
        Retriever.open(Restless(), fake, Settings(profile="cpu"), tmp_path)


def test_expand(make: Callable[[], Retriever]) -> None:
    retriever = make()
    hits = retriever.search("zinc for lame ewes", 1)
    (found,) = retriever.expand(hits)
    assert (found.passage.id, found.why) == ("copper-0", "“Foot rot” links to “Copper poisoning in sheep”")
    assert found.score == found.scores["graph"] > 0
    (scored,) = retriever.expand(hits, query="is copper stored in the liver?")
    assert scored.score == pytest.approx(scored.scores["graph"] * scored.scores["dense"])
    assert retriever.expand(hits, limit=0) == []
    assert retriever.expand(hits, hops=0) == []


def test_graph_mode_lends_to_what_a_good_passage_links_to(make: Callable[[], Retriever], store: MemoryStore) -> None:
    store.add("orf", "Scabby mouth", "Lips get sore.", ("xylem.md",))
    store.add("xylem", "Bluetongue", "Midges carry it.")
    first, second = make().search("scabby mouth and sore lips", 2, mode="graph")
    assert (first.passage.document_id, second.passage.document_id) == ("orf", "xylem")
    assert first.score == first.scores["graph"] >= second.score > second.scores["bm25"] == 0.0  # no word in common


def test_saturations_times_rarity_are_bm25(make: Callable[[], Retriever]) -> None:
    retriever = make()
    terms, ids = tokenize("copper and lime for sheep, copper"), ["lime-0", "gone", "copper-0"]
    snapshot = retriever._snapshot
    rarities = [snapshot.bm25.rarity(term) for term in terms]
    found = np.array(rarities) @ retriever.saturations(terms, ids)
    scores = snapshot.bm25.scores(terms)
    assert found == pytest.approx([0.0 if i == "gone" else scores[snapshot.rows[i]] for i in ids])
    assert found.max() > 0
    assert [retriever.holders(term) for term in terms] == [int((snapshot.bm25.scores([term]) > 0).sum()) for term in terms]


def test_passages_of_a_document_are_in_reading_order(make: Callable[[], Retriever]) -> None:
    retriever = make()
    for document in {passage.document_id for passage in retriever._snapshot.passages}:
        expected = [passage for passage in retriever._snapshot.passages if passage.document_id == document]
        assert retriever.passages_of(document) == expected
    assert retriever.passages_of("none") == []


def test_progress(store: MemoryStore, fake: HashingEmbedder, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    Retriever.open(store, fake, Settings(profile="cpu"), tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 4), (4, 4)]


def test_searches_during_refreshes(make: Callable[[], Retriever], store: MemoryStore) -> None:
    """Each search sees one whole snapshot: either both documents of a pair or neither."""
    retriever, stop, torn = make(), threading.Event(), []

    def ask() -> None:
        while not stop.is_set():
            found = {hit.passage.document_id for hit in retriever.search("twins first second", 20, mode="bm25")}
            if len(found & {"twin1", "twin2"}) == 1:
                torn.append(found)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(8):
            store.add("twin1", "Twins", "The twins first.")
            store.add("twin2", "Twins", "The twins second.")
            retriever.refresh()
            store.delete("twin1")
            store.delete("twin2")
            retriever.refresh()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not torn


def test_heading_weight_counts_the_heading(store: MemoryStore) -> None:
    passage = store.held["hay"][1]
    assert index_module.index_terms(passage, 1) == tokenize(passage.indexed_text)
    assert index_module.index_terms(passage, 3).count("hay") == index_module.index_terms(passage, 1).count("hay") + 2


@pytest.mark.model
def test_minilm_finds_by_meaning(embedder: SentenceEmbedder, store: MemoryStore, tmp_path: Path) -> None:
    retriever = Retriever.open(store, embedder, Settings(profile="cpu"), tmp_path)
    assert retriever.search("my animals are limping", 1, mode="dense")[0].passage.id == "foot-0"


def test_paths_mode_needs_a_ranker_and_uses_it(store: MemoryStore, tmp_path: Path) -> None:
    from lqr.retrieval.paths import FEATURES
    from lqr.retrieval.ranker import Ranker, Tree, Trees

    without = Retriever.open(store, HashingEmbedder(), Settings(models=tmp_path / "none"), tmp_path / "a")
    with pytest.raises(RetrievalError, match=r"models/ranker"):
        without.search("foot rot", mode="paths")
    place = FEATURES.index("lent_names")
    tree = Tree((place, -1, -1), (0.01, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (0.0, 0.0, 5.0))
    # the second round's first column is the first round's score
    as_before = Tree((0, -1, -1), (0.0, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (0.0, -1.0, 5.0))
    Ranker(Trees((tree,)), Trees((as_before,))).save(tmp_path / "models" / "ranker", {})
    retriever = Retriever.open(store, HashingEmbedder(), Settings(models=tmp_path / "models"), tmp_path / "b")
    assert (without.ranks_paths, retriever.ranks_paths) == (False, True)
    hits = retriever.search("Lame ewes", mode="paths")
    assert hits[0].passage.id == "copper-0"  # linked from the passage that matches, and the tree likes nothing else
    assert hits[0].score == pytest.approx(5.0)
    assert retriever.search("zzz", mode="paths") == []
    with pytest.raises(RetrievalError, match=r"relevance model"):
        retriever.search("Lame ewes", mode="read")
    retriever.read_with(lambda pairs: [0.0001 if "opper" in heading else 0.9999 for _, (heading, _) in pairs])
    assert retriever.search("Lame ewes", 1, mode="read")[0].passage.id != "copper-0"
    store.delete("copper")
    retriever.refresh()
    assert "copper-0" not in [hit.passage.id for hit in retriever.search("Lame ewes", mode="paths")]
