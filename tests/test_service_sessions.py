"""Own documents of sessions: found by their session alone, gone when deleted, bounded, dropped in time."""

from __future__ import annotations

import inspect
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from lqr.app import Application, build, collection_folder
from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.errors import LqrError, ReadError, SettingsError, StoreError
from lqr.retrieval.bm25 import BM25Index, how_rare
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.index import index_terms
from lqr.retrieval.retriever import Retriever
from lqr.retrieval.tokenizer import tokenize
from lqr.service.joined import JoinedRetriever
from lqr.service.scratch import Scratch
from lqr.service.sessions import DroppedError, Sessions
from lqr.service.uploads import Collection, NotNowError, QuotaError, Scope
from lqr.settings import Settings
from lqr.types import Document, Passage

ANNA, BERT = "session-of-anna", "session-of-bert"
PAGES = {
    "salt": "# Salt for sheep\n\nA sheep needs about 9 g of salt each day.\n\n## Shortage\n\nSheep short of salt lick walls.\n",
    "water": "# Water\n\nA ewe in milk drinks 8 to 10 litres of water a day.\n",
    "hay": "# Hay\n\nHay is stacked when it holds less than 18 % water.\n",
}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    root = tmp_path_factory.mktemp("base")
    (root / "knowledge" / "farm").mkdir(parents=True)
    for name, text in PAGES.items():
        (root / "knowledge" / "farm" / f"{name}.md").write_text(text, encoding="utf-8")
    settings = Settings(
        profile="cpu",
        home=root / "home",
        knowledge=root / "knowledge",
        collection="farm",
        models=root / "none",
        upload_files=3,
        upload_megabytes=1,
        upload_passages=20,
        upload_sessions=2,
    )
    profile = '[[not_held]]\nwords = ["phone"]\nen = "Phone numbers are not in these documents."\n'
    (root / "knowledge" / "farm" / "collection.toml").write_text(profile, encoding="utf-8")
    made = build(settings, embedder=HashingEmbedder(256))
    yield made
    made.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(base: Application, clock: Clock) -> Iterator[Sessions]:
    made = Sessions(base, clock)
    yield made
    made.close()


def note(word: str) -> bytes:
    return f"# Note on {word}\n\nThe code of the {word} barn is {word}4711.\n".encode()


def written(name: str) -> tuple[Document, list[Passage]]:
    text = f"{name} is told here."
    return Document(name, name.title(), text, (), f"{name}.md"), [Passage(f"{name}-0", name, name, (), text, 0, 0, len(text))]


def found(application: Application, query: str) -> str:
    """Everything that a search for ``query`` shows in any mode."""
    hits = [hit for mode in ("hybrid", "bm25", "dense", "graph") for hit in application.retriever.search(query, mode=mode)]
    hits += application.retriever.expand(hits, query=query)
    return " ".join(hit.passage.text for hit in hits)


def test_a_fact_of_an_own_document_is_answered_beside_the_library(sessions: Sessions, base: Application) -> None:
    sessions.open(ANNA).add("barn.md", note("walnut"))
    application = sessions.application(ANNA)
    answer = application.pipeline.ask("What is the code of the walnut barn?")
    assert "walnut4711" in answer.text
    assert not answer.refused
    assert application.store.document(answer.sources[0].document_id).source == "barn.md"
    assert "9 g" in application.pipeline.ask("How much salt does a sheep need each day?").text
    assert "walnut4711" not in base.pipeline.ask("What is the code of the walnut barn?").text
    assert sessions.application(BERT) is base
    assert sessions.application(None) is base


def test_the_scope_says_which_documents_answer(sessions: Sessions, base: Application) -> None:
    mine = sessions.open(ANNA)
    mine.add("barn.md", note("walnut"))
    both = "walnut barn salt sheep"
    mine.choose("own")
    assert "walnut4711" in found(sessions.application(ANNA), both)
    assert "9 g" not in found(sessions.application(ANNA), both)
    mine.choose("library")
    assert sessions.application(ANNA) is base
    mine.choose("everything of everybody")
    assert mine.scope == "library"
    mine.choose("both")
    assert "walnut4711" in found(sessions.application(ANNA), both)
    assert "9 g" in found(sessions.application(ANNA), both)


def test_what_the_library_cannot_hold_an_own_document_may(sessions: Sessions, base: Application) -> None:
    question = "What is the phone of the walnut barn?"
    assert "Phone numbers are not" in base.pipeline.ask(question).text
    sessions.open(ANNA).add("barn.md", b"# Walnut barn\n\nCall the walnut barn under 555-0199.\n")
    assert "555-0199" in sessions.application(ANNA).pipeline.ask(question).text
    assert "Phone numbers are not" in sessions.application(ANNA).pipeline.ask("What is the phone of the salt office?").text


def test_deleted_is_gone_before_the_call_returns(sessions: Sessions, base: Application) -> None:
    mine = sessions.open(ANNA)
    walnut, birch = mine.add("a.md", note("walnut")), mine.add("b.md", note("birch"))
    before = mine.application
    document = next(info.id for info in before.store.documents() if info.source == "a.md")
    assert mine.delete(walnut.id) == walnut
    for application in (mine.application, before):  # an answer under way holds the old one
        assert "walnut4711" not in found(application, "code of the walnut barn")
        assert "birch4711" in found(application, "code of the birch barn")
        with pytest.raises(KeyError):
            application.store.document(document)
    assert mine.uploads == (birch,)
    assert mine.delete(walnut.id) is None
    mine.delete(birch.id)
    assert mine.application is base
    again = mine.add("a.md", note("walnut"))
    assert again.id != walnut.id
    assert "walnut4711" in found(mine.application, "code of the walnut barn")


def test_two_sessions_mixed_at_random_never_see_one_another(sessions: Sessions) -> None:
    """The long form is ``python -m benchmarks.uploads``."""
    from benchmarks import uploads

    result = uploads.run(sessions, steps=150, seed=5)
    assert result.crossed == []
    assert result.lost == []
    assert result.kept == []
    assert min(result.added, result.deleted, result.searched) > 20


def test_quotas_are_held_and_leave_no_trace(sessions: Sessions) -> None:
    mine = sessions.open(ANNA)
    with pytest.raises(QuotaError, match="1 MB"):
        mine.add("big.txt", b"words " * 200_000)
    many = "".join(f"# Part {n}\n\nText number {n}.\n\n" for n in range(30))
    with pytest.raises(QuotaError, match="room for 20"):
        mine.add("many.md", many.encode())
    for number in range(3):
        mine.add(f"{number}.md", note(f"word{number}"))
    with pytest.raises(QuotaError, match="at most 3 files"):
        mine.add("more.md", note("more"))
    assert "Text number" not in found(mine.application, "Text number 7")
    assert len(mine.uploads) == 3
    sessions.open(BERT)
    with pytest.raises(QuotaError, match="too many visitors"):
        sessions.open("session-of-carl")
    for key in (None, "", "short"):
        with pytest.raises(QuotaError):
            sessions.open(key)


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        "a" * 250 + ".md",
        "🐑🐑.md",
        "资料.md",
        "a\x00b\nc.md",
        "CON",
        "<b>x</b>.md",
        "‮dm.exe.md",
    ],
)
def test_a_hostile_name_is_shown_and_is_no_path(sessions: Sessions, base: Application, name: str) -> None:
    before = {path for path in base.settings.home.rglob("*") if "sessions" not in path.parts}
    first = sessions.open(ANNA).add(name, note("walnut"))
    second = sessions.open(ANNA).add(name, note("birch"))
    assert first.name != second.name
    for upload in (first, second):
        assert 0 < len(upload.name) <= 130
        assert not set(upload.name) & set("/\\\n\x00\u202e")
    assert {path for path in base.settings.home.rglob("*") if "sessions" not in path.parts} == before
    names = {path.name for path in (base.settings.home / "sessions").rglob("*")}
    assert not {first.name, second.name} & names


def test_what_cannot_be_read_is_refused_and_costs_nothing(sessions: Sessions) -> None:
    mine = sessions.open(ANNA)
    for data in (b"", b"\x89PNG\r\n\x1a\n", b"%PDF-1.7 broken", b"PK\x03\x04 no zip"):
        with pytest.raises(LqrError):
            mine.add("x.pdf", data)
    assert mine.uploads == ()
    mine.add("a.md", note("walnut"))
    with pytest.raises(ReadError, match=r"the same file is here as a\.md"):
        mine.add("b.md", note("walnut"))


def test_a_record_with_the_id_of_a_common_document_does_not_replace_it(sessions: Sessions, base: Application) -> None:
    salt = next(info for info in base.store.documents() if info.source == "salt.md")
    record = f'{{"id": "{salt.id}", "title": "Salt", "text": "A sheep needs 900 kg of salt each day."}}\n'
    sessions.open(ANNA).add("records.jsonl", record.encode())
    application = sessions.application(ANNA)
    assert "9 g" in application.store.document(salt.id).text
    texts = {hit.passage.id: hit.passage.text for hit in application.retriever.search("salt sheep day")}
    assert any("900 kg" in text for text in texts.values())
    assert any("about 9 g" in text for text in texts.values())


def test_time_up_drops_documents_and_files(sessions: Sessions, base: Application, clock: Clock) -> None:
    mine = sessions.open(ANNA)
    mine.add("a.md", note("walnut"))
    folder = base.settings.home / "sessions"
    held = len(list(folder.rglob("store.sqlite3")))
    clock.now += 59 * 60
    assert sessions.get(ANNA) is mine
    clock.now += 59 * 60
    assert sessions.get(ANNA) is mine  # it was used meanwhile
    clock.now += 61 * 60
    assert sessions.application(ANNA) is base
    assert len(sessions) == 0
    assert len(list(folder.rglob("store.sqlite3"))) == held - 1
    with pytest.raises(QuotaError, match="session had ended"):
        mine.add("b.md", note("birch"))
    with pytest.raises(DroppedError, match="60 minutes"):  # the page still shows that own documents answer
        sessions.application(ANNA, scope="own")
    sessions.open(ANNA)
    with pytest.raises(DroppedError):
        sessions.application(ANNA, scope="both")  # a collection without a document is none
    sessions.open(ANNA).add("a.md", note("walnut"))
    assert sessions.application(ANNA, scope="both") is not base


def test_the_library_that_the_page_shows_answers_when_the_choice_was_forgotten(base: Application, tmp_path: Path) -> None:
    settings = replace(base.settings, home=tmp_path / "home", libraries="fish")
    with Store.open(collection_folder(settings, "fish")) as store:
        store.add(*written("carp"))
    clock = Clock()
    sessions = Sessions(replace(base, settings=settings), clock)
    try:
        sessions.choose_library(ANNA, "fish")
        fish = sessions.application(ANNA)
        assert fish is not base
        clock.now += 61 * 60
        assert sessions.application(ANNA, library="fish") is fish
        assert sessions.library(ANNA) == "fish"
        assert sessions.application(BERT, library="fish") is fish  # a page that outlived the program
        assert sessions.application(BERT, library="farm").settings.collection == "farm"
        with pytest.raises(KeyError):
            sessions.application(ANNA, library="trout")
    finally:
        sessions.close()


def during(mine: Collection, ask: Callable[[], Application]) -> Application:
    """What ``ask`` gives while a file is read, which holds the collection's lock; fails when it waits for that."""
    with ThreadPoolExecutor(1) as pool, mine._lock:
        return pool.submit(ask).result(timeout=20)


@pytest.mark.parametrize(("chosen", "shown"), [(a, b) for a in get_args(Scope) for b in get_args(Scope)])
def test_what_the_page_shows_answers_at_once_during_an_upload(
    sessions: Sessions, base: Application, chosen: str, shown: str
) -> None:
    """The choice made before the upload, and the one that the page shows, whether or not the server has heard of it."""
    mine = sessions.open(ANNA)
    mine.add("barn.md", note("walnut"))
    mine.choose(chosen)
    seen = found(during(mine, lambda: sessions.application(ANNA, library="farm", scope=shown)), "walnut barn salt sheep")
    assert ("walnut4711" in seen, "9 g" in seen) == (shown != "library", shown != "own")
    assert mine.scope == chosen

    def choose() -> Application:
        mine.choose(shown)
        return sessions.application(ANNA)

    assert during(mine, choose) is sessions.application(ANNA, scope=shown)


def test_another_library_shown_during_an_upload_answers_alone_or_not_at_all(base: Application, tmp_path: Path) -> None:
    settings = replace(base.settings, home=tmp_path / "home", libraries="fish")
    with Store.open(collection_folder(settings, "fish")) as store:
        store.add(*written("carp"))
    sessions = Sessions(replace(base, settings=settings))
    try:
        mine = sessions.open(ANNA)
        mine.add("barn.md", note("walnut"))
        for scope in ("own", "both"):
            with pytest.raises(NotNowError, match="being read"):
                during(mine, lambda scope=scope: sessions.application(ANNA, library="fish", scope=scope))  # type: ignore[misc]
        fish = during(mine, lambda: sessions.application(ANNA, library="fish", scope="library"))
        assert "carp is told" in found(fish, "carp")
        farm = during(mine, lambda: sessions.application(ANNA, library="farm", scope="both"))  # built before: answers again
        assert "9 g" in found(farm, "salt sheep")
        both = sessions.application(ANNA, library="fish", scope="both")  # the upload is over
        assert "walnut4711" in found(both, "walnut barn")
        assert "carp is told" in found(both, "carp")
        assert "9 g" not in found(both, "salt sheep")
    finally:
        sessions.close()


def test_a_real_upload_under_way_holds_up_no_question(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = sessions.open(ANNA)
    mine.add("barn.md", note("walnut"))
    begun, go_on = threading.Event(), threading.Event()
    refresh = mine._retriever.refresh

    def slow(*args: Any) -> bool:
        begun.set()
        assert go_on.wait(20)
        return refresh(*args)

    monkeypatch.setattr(mine._retriever, "refresh", slow)
    with ThreadPoolExecutor(2) as pool:
        added = pool.submit(mine.add, "b.md", note("birch"))
        try:
            assert begun.wait(20)
            for scope in get_args(Scope):
                application = pool.submit(sessions.application, ANNA, library="farm", scope=scope).result(timeout=20)
                assert ("walnut4711" in found(application, "walnut barn")) == (scope != "library")
            assert not added.done()
        finally:
            go_on.set()
    assert "birch4711" in found(sessions.application(ANNA, scope="own"), "birch barn")


def test_the_end_of_a_session_takes_its_documents_along(sessions: Sessions, base: Application) -> None:
    sessions.open(ANNA).add("a.md", note("walnut"))
    sessions.open(BERT).add("b.md", note("birch"))
    sessions.drop(ANNA)
    sessions.drop("of-nobody-at-all")
    assert sessions.application(ANNA) is base
    assert "birch4711" in found(sessions.application(BERT), "birch barn")
    assert "walnut4711" not in found(sessions.application(BERT), "walnut barn")


def test_a_killed_process_leaves_nothing_for_long(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from lqr.service.scratch import Scratch\n"
        "s = Scratch(Path(sys.argv[1])); (s.folder / 'secret').write_text('x'); print('ready', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    living = Scratch(tmp_path)
    assert len(list(tmp_path.rglob("secret"))) == 1  # the other process lives
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    after = Scratch(tmp_path)
    assert list(tmp_path.rglob("secret")) == []
    assert living.folder.is_dir()
    assert living.folder.stat().st_mode & 0o077 == 0
    for scratch in (living, after):
        scratch.close()
    assert list(tmp_path.iterdir()) == []


def test_another_library_is_asked_with_the_same_own_documents(base: Application, tmp_path: Path) -> None:
    settings = replace(base.settings, home=tmp_path / "home")
    second = tmp_path / "fish"
    second.mkdir()
    (second / "carp.md").write_text("# Carp\n\nA carp pond is 2 m deep.\n", encoding="utf-8")
    with Store.open(collection_folder(settings, "fish")) as store:
        ingest([second], store)
    with Store.open(collection_folder(settings, "private")) as store:  # on the same machine, and offered to nobody
        ingest([second], store)
    with pytest.raises(SettingsError, match="LQR_LIBRARIES names 'trout'"):
        Sessions(replace(base, settings=replace(settings, libraries="trout")))
    first = build(replace(settings, libraries="fish, farm"), embedder=base.retriever.embedder)
    sessions = Sessions(first)
    try:
        assert dict(sessions.libraries.titles) == {"farm": "farm", "fish": "fish"}
        mine = sessions.open(ANNA)
        mine.add("barn.md", note("walnut"))
        sessions.choose_library(ANNA, "fish")
        seen = found(sessions.application(ANNA), "walnut barn salt sheep carp pond")
        assert "walnut4711" in seen
        assert "2 m deep" in seen
        assert "9 g" not in seen
        mine.choose("library")
        assert "2 m deep" in sessions.application(ANNA).pipeline.ask("How deep is a carp pond?").text
        assert sessions.application(BERT) is first
        for name in ("nowhere", "private", "../farm", ""):
            with pytest.raises(KeyError):
                sessions.choose_library(ANNA, name)
        sessions.drop(ANNA)
        assert sessions.application(ANNA) is first
    finally:
        sessions.close()
        first.close()


def test_each_library_has_its_own_prompt_to_the_one_model(base: Application, tmp_path: Path) -> None:
    settings = replace(base.settings, home=tmp_path / "home", knowledge=tmp_path / "knowledge", llm="fake", libraries="fish")
    for name in ("farm", "fish"):
        folder = settings.knowledge / name
        folder.mkdir(parents=True)
        (folder / "pond.md").write_text("# Pond\n\nA carp pond is 2 m deep.\n", encoding="utf-8")
        (folder / "collection.toml").write_text(f'prompt = "You are a {name}er."\n', encoding="utf-8")
    first = build(settings, embedder=base.retriever.embedder)
    sessions = Sessions(first)
    model = first.pipeline.model_writer.model  # type: ignore[union-attr]

    def told(application: Application) -> str:
        model.calls.clear()  # type: ignore[attr-defined]
        application.pipeline.ask("How deep is a carp pond?")
        return str(model.calls[0])  # type: ignore[attr-defined]

    try:
        mine = sessions.open(ANNA)
        mine.add("own.md", b"# Carp pond of ours\n\nOur carp pond is 3 m deep.\n")
        assert "You are a farmer." in told(mine.application)
        sessions.choose_library(ANNA, "fish")
        assert "You are a fisher." in told(mine.application)
        assert "farmer" not in told(mine.application)
        assert "You are a fisher." in told(sessions.libraries.application("fish"))
        mine.choose("own")
        assert "You are a" not in told(mine.application)
        sessions.close()  # the model is the first library's, and goes on
        assert "You are a farmer." in told(first)
    finally:
        sessions.close()
        first.close()


def test_what_could_not_be_deleted_stays_listed_and_is_found_no_more(
    sessions: Sessions, base: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = sessions.open(ANNA)
    walnut = mine.add("a.md", note("walnut"))

    def fail(*_: object) -> None:
        raise StoreError("disk full")

    for owner, method in ((mine._store, "delete_source"), (mine._retriever, "refresh")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, method, fail)
            with pytest.raises(StoreError):
                mine.delete(walnut.id)
        assert mine.uploads == (walnut,)
        for scope in ("own", "both", ""):  # as the page shows it; the library does not answer in their place
            with pytest.raises(NotNowError, match="try to remove it again"):
                sessions.application(ANNA, scope=scope)
        assert sessions.application(ANNA, scope="library") is base
    assert mine.delete(walnut.id) == walnut
    assert mine.uploads == ()
    assert "walnut4711" not in found(mine.application, "code of the walnut barn")


# -- the joined retriever ----------------------------------------------------------------------------------------------


def test_the_joined_retriever_answers_every_question_of_the_stages() -> None:
    # of the two retrievers, not of both together
    life = {"open", "close", "refresh", "generation", "embedder", "read_with", "save_vectors"}
    for name, member in inspect.getmembers(Retriever):
        if name.startswith("_") or name in life:
            continue
        joined = getattr(JoinedRetriever, name, None)
        if isinstance(member, property):
            assert isinstance(joined, property), name
        else:
            assert joined is not None, name
            assert inspect.signature(joined) == inspect.signature(member), name


@pytest.fixture
def mine(sessions: Sessions) -> Collection:
    collection = sessions.open(ANNA)
    collection.add("a.md", note("walnut"))
    collection.add("b.md", b"# Sheep of ours\n\nOur sheep get 12 g of salt.\n\n## Barn\n\nThe barn holds sheep and hay.\n")
    return collection


def test_statistics_are_those_of_one_collection(mine: Collection, base: Application, tmp_path: Path) -> None:
    """Against one index over all passages."""
    retriever = mine.application.retriever
    own, common = mine._retriever._snapshot.passages, base.retriever._snapshot.passages
    everything = BM25Index.build([index_terms(p) for p in (*own, *common)])
    assert len(retriever) == len(own) + len(common)
    ids = [p.id for p in own]
    for query in ("salt for sheep", "barn of walnut", "sheep hay barn"):
        slow = everything.scores(tokenize(query))[: len(own)]
        quick = retriever.signals(query, ids)[1]
        assert [i for i, s in enumerate(quick) if s == 0] == [i for i, s in enumerate(slow) if s == 0]
        assert sorted(range(len(own)), key=lambda i: -quick[i])[0] == sorted(range(len(own)), key=lambda i: -slow[i])[0]
        for a, b in zip(quick, slow, strict=True):
            assert a == pytest.approx(b, rel=0.6)  # the mean length of a passage is that of each collection
        found = retriever.search(query, 50, mode="bm25")  # those of the library are scored anew as well
        assert [hit.score for hit in found] == retriever.signals(query, [hit.passage.id for hit in found])[1]
    for term in tokenize("sheep walnut barn qwertz"):
        assert retriever.rarity(term) == how_rare(everything.holders(term), everything.size)
    assert retriever.rarity("qwertz") == 1.0
    assert retriever.rarity(tokenize("sheep")[0]) < retriever.rarity(tokenize("walnut")[0])


def test_signals_keep_the_order_of_the_ids(mine: Collection) -> None:
    retriever = mine.application.retriever
    ids = [hit.passage.id for hit in retriever.search("salt sheep barn")]
    random.Random(3).shuffle(ids)
    whole = retriever.signals("salt sheep", ids)
    for place, passage_id in enumerate(ids):
        alone = retriever.signals("salt sheep", [passage_id])
        assert whole[0][place] == pytest.approx(alone[0][0])
        assert whole[2][place] == pytest.approx(alone[2][0])


def test_the_walk_begins_with_the_best_of_both(mine: Collection, base: Application) -> None:
    retriever, own = mine.application.retriever, mine._retriever
    hits = [replace(own.search("our sheep get salt", 1)[0], score=0.2)]
    alone = {hit.passage.id: hit.scores["graph"] for hit in own.expand(hits)}
    assert alone
    best = replace(base.retriever.search("salt sheep", 1)[0], score=0.8)
    joined = {hit.passage.id: hit.scores["graph"] for hit in retriever.expand([best, *hits])}
    assert {i: joined[i] for i in alone} == pytest.approx({i: weight / 4 for i, weight in alone.items()})


def test_fusion_keeps_each_collection_s_order_and_lets_neither_starve(mine: Collection, base: Application) -> None:
    retriever = mine.application.retriever
    hits = retriever.search("salt sheep barn hay")
    order = [hit.passage.id for hit in hits]
    assert order == list(dict.fromkeys(order))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert {i for i in order if mine._is_own(i)}
    assert {i for i in order if not mine._is_own(i)}
    assert set(order) >= {hit.passage.id for hit in base.retriever.search("salt sheep barn hay")}
    assert retriever.search("salt", 2) == retriever.search("salt")[:2] or len(retriever.search("salt", 2)) == 2
    assert retriever.search("?!") == []
    for mode in ("bm25", "dense"):  # one scale for both collections
        hits = retriever.search("salt sheep barn hay", mode=mode)
        assert [hit.scores[mode] for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert {mine._is_own(hit.passage.id) for hit in hits} == {True, False}


def test_no_shared_graph_server_gets_private_passages(base: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = replace(base, settings=replace(base.settings, graph="bolt://nowhere.invalid:7687/x"))
    sessions = Sessions(shared)
    try:
        assert sessions.open(ANNA).add("a.md", note("walnut")).passages == 1
    finally:
        sessions.close()
