"""Declared edges against an obvious walk, and the embedded graph against a real server that speaks Bolt."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from lqr.corpus.ingest import ingest
from lqr.corpus.store import Store
from lqr.errors import RetrievalError
from lqr.retrieval.bolt import BoltGraph
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.graph import PassageGraph
from lqr.retrieval.retriever import Retriever
from lqr.retrieval.rule_edges import RuleNames, declared_edges
from lqr.settings import Settings
from lqr.types import Document, Passage

PASSWORD = "only-for-this-test"
START_SECONDS = 240.0  # a JVM on a busy machine
_SERVER = """
import sys
import arcadedb_embedded as arcade
root, port, password = sys.argv[1], int(sys.argv[2]), sys.argv[3]
plugin = "Bolt:com.arcadedb.bolt.BoltProtocolPlugin"
config = {"http_port": int(sys.argv[4]), "server_plugins": plugin, "bolt_port": port, "mode": "test"}
server = arcade.create_server(root_path=root, root_password=password, config=config)
server.start()
server.create_database("lqr")
print("READY", flush=True)
sys.stdin.read()
"""


def rule(row: int, number: str, text: str, document: str = "d", **metadata: object) -> Passage:
    return Passage(
        f"{document}-{row}", document, "Book", ("One",), text, row, 0, len(text), metadata={"number": number, **metadata}
    )


RULES = (
    rule(0, "A 1", "A firm must pay. See A 2 and B 7.", cites=["A 2", "B 7"], edges={"cites": 1.0}, chapter="A"),
    rule(1, "A 2", "No need on a holiday.", chapter="A"),
    rule(2, "A 3", "Payment was due weekly.", replaced_by="A 1", chapter="A"),
    rule(3, "A 1(1)", "by transfer", parent="A 1", chapter="A"),
    rule(4, "A 4", "“Firm” means a company.", defines={"term": "firm", "within": ""}, chapter="A"),
    rule(5, "A 5", "In this chapter, “firm” means a person.", defines={"term": "firm", "within": "B"}, chapter="B"),
    rule(6, "B 1", "Firms must write.", chapter="B", cites=["A 2(9)"]),
)


def test_declared_edges_are_what_the_documents_say() -> None:
    found = {(edge.source, edge.target, edge.phrase) for edge in declared_edges(RULES)}
    assert found == {
        (0, 1, "cites"),
        (1, 0, "is cited by"),
        (2, 0, "was replaced by"),
        (0, 2, "replaces"),
        (3, 0, "is part of"),
        (0, 3, "has the part"),
        (6, 1, "cites"),  # a part that is no passage leads to its rule
        (1, 6, "is cited by"),
        (0, 4, "uses the term ‘firm’ of"),
        (6, 5, "uses the term ‘firm’ of"),  # the meaning of its own chapter goes first
    }


def test_rule_names() -> None:
    names = RuleNames(RULES)
    assert names.rows("A 1") == (0,)
    assert names.rows("A 1(2)(b)") == (0,)
    assert names.rows("A 1(1)") == (3,)
    assert names.rows("A 9") == ()


def test_the_graph_holds_them_and_says_why() -> None:
    graph = embedded()
    assert ("d-1", 1.0, "cites") in graph.edges("d-0")
    reached = {passage_id: why for passage_id, _, why in graph.expand({"d-2": 1.0}, 2, 10)}
    assert "“d-2” was replaced by “d-0”" in reached["d-0"]
    assert "d-1" in reached  # two hops: the exception to the rule that took its place


def embedded() -> PassageGraph:
    document = Document("d", "Book", " ".join(passage.text for passage in RULES), (), "book.md")
    return PassageGraph.build(RULES, lambda _: document)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("arcadedb_embedded", reason="no Bolt server: pip install arcadedb-embedded")
    pytest.importorskip("neo4j", reason="no driver: pip install 'lqr[graph]'")
    root = tmp_path_factory.mktemp("bolt")
    port, http = free_port(), free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(root), str(port), PASSWORD, str(http)],
        stdin=subprocess.PIPE,
        stdout=(root / "out").open("w"),
        stderr=subprocess.STDOUT,
        env={**os.environ, "ARCADEDB_JVM_ARGS": "-Xmx512m", "HOME": str(root)},
        cwd=root,
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while "READY" not in (root / "out").read_text(errors="replace"):
            if process.poll() is not None:
                pytest.skip(f"the Bolt server can't run here: {(root / 'out').read_text(errors='replace')[-300:]}")
            if time.monotonic() > deadline:
                pytest.skip(f"the Bolt server did not start within {START_SECONDS:.0f} s")
            time.sleep(0.2)
        yield f"bolt://127.0.0.1:{port}/lqr"
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.bolt
def test_the_server_answers_as_the_embedded_graph_does(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = embedded()
    monkeypatch.setenv("LQR_GRAPH_USER", "root")
    monkeypatch.setenv("LQR_GRAPH_KEY", PASSWORD)
    bolt = BoltGraph.of_settings(Settings(graph=server), "first")
    assert bolt is not None
    assert bolt.publish(graph, RULES)
    assert not bolt.publish(graph, RULES)  # already equal
    for passage in RULES:
        assert bolt.edges(passage.id) == graph.edges(passage.id)
        for hops in (1, 2):
            assert bolt.expand({passage.id: 1.0}, hops, 20) == graph.expand({passage.id: 1.0}, hops, 20)
    seeds = {"d-0": 1.0, "d-6": 0.4, "unknown": 0.3}
    assert bolt.expand(seeds, 2, 20, str.upper) == graph.expand(seeds, 2, 20, str.upper)
    assert bolt.edges("unknown") == bolt.expand({"unknown": 1.0}) == bolt.find("Z 9") == []
    assert bolt.find("A 1(1)") == ["d-3"]

    other = BoltGraph.connect(server, "second", user="root", password=PASSWORD)  # collections do not see one another
    assert other.edges("d-0") == []
    other.clear()
    assert bolt.edges("d-0") == graph.edges("d-0")

    smaller = PassageGraph.build(RULES[:2], lambda _: Document("d", "Book", "", (), "book.md"))
    assert bolt.publish(smaller, RULES[:2])  # what is gone from the store is gone from the server
    assert bolt.edges("d-6") == []
    assert bolt.edges("d-0") == smaller.edges("d-0")
    with pytest.raises(RetrievalError, match="LQR_GRAPH_KEY"):
        BoltGraph.connect(server, "first", user="root", password="wrong")
    bolt.close()
    other.close()


def test_an_address_that_is_not_bolt_or_answers_nothing(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="bolt://"):
        BoltGraph.connect("http://localhost", "x")
    pytest.importorskip("neo4j", reason="no driver: pip install 'lqr[graph]'")
    with pytest.raises(RetrievalError, match="LQR_GRAPH"):
        BoltGraph.connect(f"bolt://127.0.0.1:{free_port()}", "x")


class Lame:
    """A server's copy that fails on demand, and holds a passage that is not in the collection."""

    def __init__(self) -> None:
        self.graph = PassageGraph.build((), lambda _: Document("d", "", "", (), ""))
        self.down = False

    def publish(self, graph: PassageGraph, passages: Sequence[Passage]) -> bool:
        self._answer()
        self.graph = graph
        return True

    def edges(self, passage_id: str) -> list[tuple[str, float, str]]:
        self._answer()
        return [*self.graph.edges(passage_id), ("stranger-0", 0.5, "cites")]

    def expand(
        self, seeds: Mapping[str, float], hops: int = 2, limit: int = 10, label: Callable[[str], str] = str
    ) -> list[tuple[str, float, str]]:
        self._answer()
        return [("stranger-0", 0.9, label("stranger-0")), *self.graph.expand(seeds, hops, limit, label)]

    def close(self) -> None:
        self.down = True

    def _answer(self) -> None:
        if self.down:
            raise RetrievalError("the graph server nowhere failed")


def test_a_lame_server_costs_no_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "store"
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "one.md").write_text(
        "# One\n\nSalt is good for sheep.\n\n## Two\n\nSalt is in the lick.\n\n## Three\n\nLicks are dry.\n"
    )
    server = Lame()
    monkeypatch.setattr(BoltGraph, "of_settings", lambda *_: server)
    with Store.open(store) as opened:
        ingest([docs], opened)
        retriever = Retriever.open(opened, HashingEmbedder(64), Settings(profile="cpu"), store)
        hits = retriever.search("salt for sheep", 1)
        with_server = retriever.expand(hits)  # the stranger is left out
        assert with_server
        assert retriever.company(hits[0].passage.id) == []
        server.down = True
        with caplog.at_level("WARNING"):
            for _ in range(3):
                assert retriever.expand(hits) == with_server
        assert [record.message for record in caplog.records if "walked in memory" in record.message] == [
            "the graph server nowhere failed; the graph is walked in memory until the collection changes or is opened again"
        ]
        (docs / "two.md").write_text("# Other\n\nHay is dear.\n")
        ingest([docs], opened)
        assert retriever.refresh()  # a server that is down keeps no change from being found
        assert retriever.search("hay dear", 1)[0].passage.text.startswith("Hay")
        server.down = False
        (docs / "three.md").write_text("# Third\n\nStraw is cheap.\n")
        ingest([docs], opened)
        retriever.refresh()
        assert server.graph is retriever._snapshot.graph
        retriever.close()
    assert server.down


def test_embedded_is_the_default() -> None:
    assert BoltGraph.of_settings(Settings(), "x") is None
