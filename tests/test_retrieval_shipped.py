"""Vectors that come with the documents: used where text and embedder agree, ignored and named everywhere else."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from lqr.cli import main
from lqr.corpus.ingest import ingest, taken_from
from lqr.corpus.store import Store
from lqr.retrieval.fake import HashingEmbedder
from lqr.retrieval.retriever import Retriever
from lqr.retrieval.shipped import FILE_NAME, read_shipped, text_hash, write_shipped
from lqr.settings import Settings
from lqr.types import Asked, Passage

TEXTS = ["Copper kills sheep.", "Bale hay dry.", "Lime acid soils.", "Zinc \ud800 sulphate."]


@pytest.fixture
def fake() -> HashingEmbedder:
    return HashingEmbedder(64)


@pytest.fixture
def written(fake: HashingEmbedder, tmp_path: Path) -> Path:
    path = tmp_path / FILE_NAME
    write_shipped(path, fake, dict(zip(map(text_hash, TEXTS), fake.encode(TEXTS), strict=True)))
    return path


def test_what_was_written_is_read(written: Path, fake: HashingEmbedder) -> None:
    read = read_shipped(written, fake)
    assert set(read) == set(map(text_hash, TEXTS))
    for text, vector in zip(TEXTS, fake.encode(TEXTS), strict=True):
        assert read[text_hash(text)].dtype == np.float32
        assert np.linalg.norm(read[text_hash(text)]) == pytest.approx(1.0, abs=1e-6)
        np.testing.assert_allclose(read[text_hash(text)], vector, atol=5e-4)


def test_the_same_vectors_give_the_same_bytes(written: Path, fake: HashingEmbedder, tmp_path: Path) -> None:
    again = tmp_path / "again.safetensors"
    for _ in range(5):
        write_shipped(again, fake, dict(zip(map(text_hash, TEXTS[::-1]), fake.encode(TEXTS[::-1]), strict=True)))
        assert again.read_bytes() == written.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.safetensors", FILE_NAME]


def test_no_vectors_at_all_make_a_file_too(fake: HashingEmbedder, tmp_path: Path) -> None:
    write_shipped(tmp_path / FILE_NAME, fake, {})
    assert read_shipped(tmp_path / FILE_NAME, fake) == {}
    assert read_shipped(tmp_path / "none", fake) == {}


@pytest.mark.parametrize(
    "other",
    [HashingEmbedder(64, "another"), HashingEmbedder(32), "revision"],
    ids=["name", "dimension", "revision"],
)
def test_another_embedder_ignores_it_and_says_so(
    written: Path, fake: HashingEmbedder, other: HashingEmbedder | str, caplog: pytest.LogCaptureFixture
) -> None:
    if isinstance(other, str):
        other = fake
        fake.revision = "2"
    with caplog.at_level(logging.INFO, "lqr"):
        assert read_shipped(written, other) == {}
    (record,) = caplog.records
    assert "vectors of hashing@1/64" in record.message
    assert FILE_NAME in record.message


def test_every_damage_is_named(written: Path, fake: HashingEmbedder, caplog: pytest.LogCaptureFixture) -> None:
    whole = written.read_bytes()
    # every byte of the header, and some of the numbers behind it
    places = [*range(8, 8 + int.from_bytes(whole[:8], "little"), 3), *range(len(whole) - 1, len(whole) // 2, -37)]
    damaged = [whole[: len(whole) // 2], b"", b"x" * 100, whole + b"\0"]
    damaged += [whole[:place] + bytes([whole[place] ^ 0x01]) + whole[place + 1 :] for place in places]
    for content in damaged:
        written.write_bytes(content)
        caplog.clear()
        with caplog.at_level(logging.INFO, "lqr"):
            read = read_shipped(written, fake)
        if read:  # a space between the header's entries may change without changing them
            np.testing.assert_allclose(read[text_hash(TEXTS[0])], fake.encode(TEXTS[:1])[0], atol=5e-4)
            assert set(read) == set(map(text_hash, TEXTS))
        else:
            assert FILE_NAME in caplog.text
            assert len(caplog.records) == 1


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    farm = tmp_path / "knowledge" / "farm"
    farm.mkdir(parents=True)
    (farm / "copper.md").write_text("# Copper\n\nSheep store copper in the liver and may die of it.\n")
    (farm / "hay.md").write_text("# Hay\n\nHay keeps when it is baled below 20 per cent moisture.\n")
    return Settings(profile="cpu", home=tmp_path / "home", knowledge=tmp_path / "knowledge", collection="farm")


def asked(passages: list[Passage]) -> dict[str, tuple[Asked, ...]]:
    both = tuple(Asked(question, "copper", "store copper") for question in ("what killed my ewe", "is copper bad"))
    return {p.id: both for p in passages if "copper" in p.text}


def start(settings: Settings, fake: HashingEmbedder, folder: Path, progress: list[int] | None = None) -> tuple[Retriever, Store]:
    """A first start in ``folder``, as the chat makes it."""
    farm = settings.knowledge / "farm"
    store = Store.open(folder)
    ingest([farm], store, prune=True)
    told = (lambda done, total: progress.append(total)) if progress is not None else None
    return Retriever.open(store, fake, settings, folder, told, asked_of=asked, shipped=farm / FILE_NAME), store  # type: ignore[arg-type]


def test_a_first_start_embeds_only_what_the_file_lacks(settings: Settings, fake: HashingEmbedder, tmp_path: Path) -> None:
    farm = settings.knowledge / "farm"
    retriever, store = start(settings, fake, tmp_path / "one")
    assert fake.encoded == 4  # two passages, two questions
    assert retriever.save_vectors(farm / FILE_NAME, taken_from(store, farm)) == 4

    fake.encoded = 0
    again, _ = start(settings, fake, tmp_path / "two")
    assert fake.encoded == 0
    for query in ("copper in the liver", "what killed my ewe", "moisture of hay"):
        assert [h.passage.id for h in again.search(query)] == [h.passage.id for h in retriever.search(query)]

    fake.encoded = 0
    (farm / "lime.md").write_text("# Lime\n\nLime acid soils before clover is sown.\n")
    totals: list[int] = []
    third, _ = start(settings, fake, tmp_path / "three", totals)
    assert fake.encoded == 1
    assert totals == [1, 1]  # told before and after
    assert len(third) == 3

    fake.encoded = 0
    fake.revision = "2"
    start(settings, fake, tmp_path / "four")
    assert fake.encoded == 5  # all passages and questions


def test_a_damaged_file_costs_the_vectors_only(
    settings: Settings, fake: HashingEmbedder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    farm = settings.knowledge / "farm"
    retriever, store = start(settings, fake, tmp_path / "one")
    retriever.save_vectors(farm / FILE_NAME, taken_from(store, farm))
    content = bytearray((farm / FILE_NAME).read_bytes())
    content[-1] ^= 0xFF
    (farm / FILE_NAME).write_bytes(content)
    fake.encoded = 0
    again, _ = start(settings, fake, tmp_path / "two")
    assert fake.encoded == 4
    assert "damaged" in caplog.text
    np.testing.assert_array_equal(again._snapshot.vectors, retriever._snapshot.vectors)


def test_documents_from_elsewhere_are_not_saved(settings: Settings, fake: HashingEmbedder, tmp_path: Path) -> None:
    """The file is published with the folder; what somebody took in besides is not."""
    farm = settings.knowledge / "farm"
    retriever, store = start(settings, fake, tmp_path / "one")
    (tmp_path / "private.md").write_text("# Private\n\nThe neighbour owes me forty ewes.\n")
    ingest([tmp_path / "private.md"], store)
    assert retriever.refresh()
    assert len(retriever) == 3
    assert retriever.save_vectors(farm / FILE_NAME, taken_from(store, farm)) == 4
    private = next(p for p in store.all_passages() if "neighbour" in p.text)
    assert text_hash(private.indexed_text) not in read_shipped(farm / FILE_NAME, fake)


def test_the_command(
    settings: Settings, fake: HashingEmbedder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lqr.retrieval.dense.load_embedder", lambda settings: fake)
    monkeypatch.setenv("LQR_KNOWLEDGE", str(settings.knowledge))
    monkeypatch.setenv("LQR_HOME", str(settings.home))
    assert main(["ingest", "--save-vectors", "--collection", "farm"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(f"{FILE_NAME}: 2 vectors, 0.0 MB")
    assert len(read_shipped(settings.knowledge / "farm" / FILE_NAME, fake)) == 2

    (settings.knowledge / "farm" / "hay.md").unlink()
    assert main(["ingest", "--save-vectors", "--collection", "farm"]) == 0
    assert "1 removed" in capsys.readouterr().out
    assert len(read_shipped(settings.knowledge / "farm" / FILE_NAME, fake)) == 1

    assert main(["ingest", "--save-vectors", "--collection", "nosuch"]) == 1
    assert "nosuch is no folder" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["ingest", "notes.md", "--save-vectors"])


def test_vectors_that_are_no_numbers_are_not_read(
    tmp_path: Path, fake: HashingEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / FILE_NAME
    write_shipped(path, fake, {text_hash("one"): np.full(fake.dimension, np.nan, dtype=np.float32)})
    assert read_shipped(path, fake) == {}
    assert "no numbers" in caplog.text
