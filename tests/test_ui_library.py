"""The tabs beside the chat, without a browser: what they show of hostile names, texts and files, and what uploads leave."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ui_fakes import HOSTILE

from lqr.app import Application, build
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.graph import _KINDS
from lqr.retrieval.rule_edges import DECLARED, USES
from lqr.service.sessions import DroppedError, Sessions
from lqr.service.uploads import NotNowError, Upload
from lqr.settings import Settings
from lqr.types import Hit, Passage
from lqr.ui.library import Library, _table, size
from lqr.ui.markup import escape
from lqr.ui.models_tab import ModelsTab, markdown, tables
from lqr.ui.reasons import reached
from lqr.ui.search_tab import SearchTab, columns
from lqr.ui.texts import EN, LANGUAGES


def request(key: str = "session-of-anna", language: str = "en") -> Any:
    return SimpleNamespace(session_hash=key, headers={"accept-language": language})


def event(**data: Any) -> Any:
    return SimpleNamespace(_data=data)


class Tags(HTMLParser):
    """What a browser would make of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def harmless(html: str) -> None:
    """No tag that acts, no handler, no address but of the web and of pictures inside the page."""
    for tag, attributes in Tags(html).found:
        assert tag not in ("script", "iframe", "object", "embed", "form", "link", "style", "svg", "base", "meta")
        assert not [name for name in attributes if name.startswith("on")]
        for address in filter(None, (attributes.get("href"), attributes.get("src"))):
            assert address.startswith(("https://", "http://", "data:image/")), address
    assert "\u202e" not in html


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    root = tmp_path_factory.mktemp("base")
    (root / "knowledge" / "farm").mkdir(parents=True)
    (root / "knowledge" / "farm" / "salt.md").write_text(
        "# Salt\n\nA sheep needs about 9 g of salt each day.\n", encoding="utf-8"
    )
    settings = Settings(
        profile="cpu", home=root / "home", knowledge=root / "knowledge", collection="farm", models=root / "none", upload_files=2
    )
    made = build(settings, embedder=HashingEmbedder(256))
    yield made
    made.close()


@pytest.fixture
def library(base: Application) -> Iterator[Library]:
    sessions = Sessions(base)
    yield Library(base, sessions)
    sessions.close()


def upload(library: Library, tmp_path: Path, files: dict[str, bytes], key: str = "session-of-anna") -> list[str]:
    """What the panel showed after each step."""
    paths = []
    for number, (name, data) in enumerate(files.items()):
        (tmp_path / str(number)).mkdir(exist_ok=True)
        path = tmp_path / str(number) / name
        path.write_bytes(data)
        paths.append(str(path))
    shown = [panel for _, panel in library.add(paths, request(key))]
    assert not any(Path(path).exists() for path in paths)  # Gradio's copies can be fetched by their address
    return shown


def test_progress_is_told_for_each_file_and_a_bad_one_stops_none(library: Library, tmp_path: Path) -> None:
    shown = upload(library, tmp_path, {"a.md": b"# A\n\nText of a.\n", "b.png": b"\x89PNG\r\n", "c.md": b"# C\n\nText of c.\n"})
    states = [re.findall(r'data-state="(\w+)"', panel) for panel in shown]
    assert states[0] == ["reading", "waiting", "waiting"]
    assert states[-1] == ["ready", "failed", "ready"]
    assert "an image; only text can be read" in shown[-1]
    assert re.findall(r'<td dir="auto">([^<]+)</td>', shown[-1]) == ["a.md", "c.md"]


def test_quotas_are_told_in_the_list(library: Library, tmp_path: Path) -> None:
    shown = upload(library, tmp_path, {f"{n}.md": f"# N\n\nText {n}.\n".encode() for n in range(3)})
    assert "at most 2 files" in shown[-1]


def test_a_list_belongs_to_its_session(library: Library, tmp_path: Path) -> None:
    upload(library, tmp_path, {"secret.md": b"# A\n\nText of a.\n"})
    assert "secret.md" in library.show(request())[1]
    for other in ("session-of-bert", "", None):
        assert "secret.md" not in library.show(request(other))[1]  # type: ignore[arg-type]
    identifier = re.findall(r'data-remove="(\w+)"', library.show(request())[1])[0]
    library.remove(event(id=identifier), request("session-of-bert"))
    assert "secret.md" in library.show(request())[1]
    assert "secret.md was removed" in library.remove(event(id=identifier), request())
    assert "data-remove" not in library.show(request())[1]
    assert "data-remove" not in library.remove(event(id=[identifier]), request())


def test_the_scope_is_chosen_in_the_panel(library: Library, tmp_path: Path) -> None:
    upload(library, tmp_path, {"a.md": b"# A\n\nText of a.\n"})
    assert re.findall(r'value="(\w+)" checked', library.show(request())[1]) == ["both"]
    assert re.findall(r'value="(\w+)" checked', library.scope(event(scope="own"), request())) == ["own"]
    assert re.findall(r'value="(\w+)" checked', library.scope(event(scope={"x": 1}), request())) == ["own"]
    library.end(request())
    assert "data-remove" not in library.show(request())[1]


def test_a_page_that_takes_no_files_says_so(base: Application, library: Library) -> None:
    off = SimpleNamespace(settings=SimpleNamespace(upload_files=0))
    lead, panel = Library(off, library.sessions).show(request())  # type: ignore[arg-type]
    assert EN.library_off in unescape(lead)
    assert EN.library_yours not in panel
    assert LANGUAGES["zh"].library_lead in library.show(request(language="zh-CN"))[0]


def test_hostile_names_and_texts_stay_text(library: Library) -> None:
    for html in (
        _table([Upload('"><img src=x onerror=1>', HOSTILE, 10, 1, HOSTILE)], EN),
        columns([("bm25", [hostile_hit()]), ("graph", [hostile_hit()])], EN),
        markdown(f"---\ntitle: x\n---\n# {HOSTILE}\n\n| a |\n|---|\n| {HOSTILE} |\n\n[a](data:text/html,x) <https://x.org>\n"),
        tables({HOSTILE: {HOSTILE: {HOSTILE: HOSTILE}}, "a": HOSTILE}),
    ):
        harmless(html)
        assert "pwned=1" in html  # it is shown, as text


def hostile_hit() -> Hit:
    passage = Passage("x-1", "x", HOSTILE, (HOSTILE,), HOSTILE, 1, 0, 3, page=4)
    return Hit(passage, 0.5, {"bm25": 7.31, "graph": 0.5}, HOSTILE)


def test_the_check_for_harmless_markup_can_fail() -> None:
    for html in ("<script>1</script>", "<b onclick=1>", '<a href="javascript:1">', "\u202e"):
        with pytest.raises(AssertionError):
            harmless(html)


def test_search_shows_what_each_way_finds(base: Application) -> None:
    tab = SearchTab(lambda request, shown: base)
    html = tab.search("salt for a sheep", {}, request())
    assert re.findall(r"<h3>([^<]+)</h3>", html) == [EN.search_bm25, EN.search_dense, EN.search_hybrid, EN.search_graph]
    bm25 = base.retriever.search("salt for a sheep", mode="bm25")[0].scores["bm25"]
    assert EN.score.format(score=f"{bm25:.2f}") in html
    assert html.count("about 9 g of salt") >= 3
    assert tab.search("  ", {}, request()) == ""
    assert EN.search_none in tab.search("?!", None, request())


@pytest.mark.parametrize(
    ("why", "en", "zh"),
    [
        (
            "“Worms > Drugs” shares ‘macrocyclic’ with “Ticks”",
            "“Worms › Drugs” and this passage both mention “macrocyclic”",
            "“Worms › Drugs”和这一段都提到“macrocyclic”",
        ),
        ("“A” links to “B”", "“A” has a link to this passage", "“A”有一个指向这一段的链接"),
        ("“A” is linked from “B”", "This passage has a link to “A”", "这一段有一个指向“A”的链接"),
        (
            "“A” names “B”; “B” is in the same section as “B”",
            "“A” mentions “B”; “B” and this passage are in the same section",
            "“A”提到“B”；“B”和这一段在同一节",
        ),
        (
            "“A” uses the term ‘flock’ of “B”",
            "“A” uses the term “flock”, which this passage explains",
            "“A”用到“flock”，由这一段解释",
        ),
        ("about goats", "about goats", "about goats"),  # no way through the graph
    ],
)
def test_the_way_to_a_passage_is_told_in_plain_words(why: str, en: str, zh: str) -> None:
    assert reached(why, EN) == en
    assert reached(why, LANGUAGES["zh"]) == zh


def test_every_kind_of_edge_has_plain_words() -> None:
    edges = [*_KINDS, *DECLARED, "stands next to", "is in the same section as", "shares ‘x’ with", f"{USES} ‘x’ of"]
    for texts in LANGUAGES.values():
        for edge in edges:
            said = reached(f"“A” {edge} “B”", texts)
            assert "A" in said, edge
            assert texts.way_this.lower() in said.lower(), edge


def test_scores_and_ways_in_a_list_are_named_in_plain_words(base: Application) -> None:
    passage = base.retriever.search("salt")[0].passage
    hit = Hit(passage, 0.5, {"bm25": 2.0, "dense": 0.5, "rrf": 0.02, "graph": 0.3}, "“Barn” shares ‘salt’ with “Sheep”")
    for texts in LANGUAGES.values():
        html = columns([("graph", [hit])], texts)
        assert f"{texts.score_bm25} 2.00 · {texts.score_dense} 0.50 · {texts.score_rrf} 0.0200 · {texts.score_graph} 0.30" in html
        assert reached(hit.why, texts) in html
        assert "shares" not in html


def test_a_search_that_fails_shows_no_trace() -> None:
    def broken(request: Any, shown: Any) -> Application:
        if shown.get("scope") == "both":
            raise NotNowError("being read")
        raise DroppedError(60) if shown else RuntimeError("/srv/secret/path")

    html = SearchTab(broken).search("salt", {}, request())
    assert "secret" not in html
    assert "report number" in html
    assert escape(EN.own_gone.format(minutes=60)) in SearchTab(broken).search("salt", {"scope": "own"}, request())
    assert escape(EN.own_not_now) in SearchTab(broken).search("salt", {"scope": "both"}, request())


def test_models_are_shown_with_their_figures(tmp_path: Path) -> None:
    folder, results = tmp_path / "models" / "relevance", tmp_path / "results"
    folder.mkdir(parents=True)
    results.mkdir()
    (folder / "README.md").write_text("---\nlicense: x\n---\n# Card\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", encoding="utf-8")
    (folder / "evaluation.json").write_text(json.dumps({"seed": 13, "held_out": {"one": {"n": 150, "f1": 0.86505}}}))
    (folder / "plot.png").write_bytes(b"\x89PNG")
    (tmp_path / "models" / "empty").mkdir()
    (results / "run.json").write_text(json.dumps({"summary": {"rows": 169, "recall": "88 %"}, "rows": [{"id": "row-1"}]}))
    (results / "broken.json").write_text("{")
    app: Any = SimpleNamespace(settings=SimpleNamespace(models=tmp_path / "models"))
    html = ModelsTab(app, results).show(request())
    harmless(html)
    assert "license: x" not in html
    assert "<td>0.865</td>" in html.replace("0.8651", "0.865")
    assert "<td>150</td>" in html
    assert "88 %" in html
    assert "row-1" not in html
    assert "empty" not in html
    assert 'src="data:image/png;base64,iVBORw=="' in html
    nothing: Any = SimpleNamespace(settings=SimpleNamespace(models=tmp_path / "none"))
    assert EN.models_none in ModelsTab(nothing, tmp_path / "none").show(request())


def test_sizes() -> None:
    assert [size(n) for n in (0, 900, 2048, 3 * 2**20)] == ["1 kB", "1 kB", "2 kB", "3.0 MB"]


def copies(tmp_path: Path, *names: str) -> list[str]:
    for name in names:
        (tmp_path / name).write_text(f"# {name}\n\nText of {name}.\n")
    return [str(tmp_path / name) for name in names]


def test_a_page_closed_in_the_middle_of_an_upload_leaves_no_copy_and_no_collection(library: Library, tmp_path: Path) -> None:
    adding = library.add(copies(tmp_path, "a.md", "b.md", "c.md"), request())
    next(adding)
    adding.close()  # what Gradio does when the page is gone
    assert list(tmp_path.iterdir()) == []
    adding = library.add(copies(tmp_path, "a.md", "b.md"), request())
    while "a.md</td>" not in next(adding)[1]:
        pass
    library.end(request())  # and what happens when it lets the upload run on
    *_, (_, panel) = adding
    assert re.findall(r'data-state="(\w+)"', panel) == ["ready", "failed"]
    assert len(library.sessions) == 0
    assert list(tmp_path.iterdir()) == []


def test_one_address_cannot_take_all_places(base: Application, tmp_path: Path) -> None:
    settings = replace(base.settings, upload_sessions=10, trusted_proxies=1)
    sessions = Sessions(replace(base, settings=settings))
    library = Library(replace(base, settings=settings), sessions)

    def added(number: int, forwarded: str) -> str:
        asking = request(f"session-number-{number}")
        asking.headers["X-Forwarded-For"] = forwarded
        asking.client = SimpleNamespace(host="10.0.0.1")
        *_, (_, panel) = library.add(copies(tmp_path, "a.md"), asking)
        return str(panel)

    try:
        for number in range(2):
            assert 'data-state="ready"' in added(number, "9.9.9.9, 1.1.1.1")
        assert "2 pages of your address" in added(2, "8.8.8.8, 1.1.1.1")  # what the client wrote itself is not believed
        assert 'data-state="ready"' in added(3, "2.2.2.2")
        sessions.drop("session-number-0")
        assert 'data-state="ready"' in added(4, "1.1.1.1")
    finally:
        sessions.close()


@pytest.mark.parametrize(("peer", "counted"), [("10.16.3.4", False), ("127.0.0.1", False), ("::1", False), ("9.9.9.9", True)])
def test_visitors_behind_a_proxy_that_is_not_named_share_no_places(
    base: Application, tmp_path: Path, peer: str, counted: bool
) -> None:
    settings = replace(base.settings, upload_sessions=5, trusted_proxies=0)
    sessions = Sessions(replace(base, settings=settings))
    library = Library(replace(base, settings=settings), sessions)
    try:
        for number in range(3):
            asking = request(f"session-number-{number}")
            asking.client = SimpleNamespace(host=peer)
            *_, (_, panel) = library.add(copies(tmp_path, "a.md"), asking)
        assert ("2 pages of your address" in panel) == counted
        assert len(sessions) == (2 if counted else 3)
    finally:
        sessions.close()
