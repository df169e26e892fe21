"""Rule books of four styles through one splitter: passages, types, status, references, definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lqr.corpus.profile import load_profile
from lqr.corpus.readers import read_bytes
from lqr.corpus.rulebook import references, resolve, split
from lqr.corpus.rulebook_style import RuleStyle, rule_style
from lqr.errors import SettingsError
from lqr.types import Block, Document, Passage

HANDBOOK: dict[str, Any] = {
    "number": r"(?P<number>(?:[A-Z]{3,5} )?\d+\.\d+\.\d+[A-Z]?\s?(?P<type>[RGED]))(?=\s|$)",
    "book": r"^[A-Z]{3,5}\b",
    "chapter": r"[A-Z]{3,5} \d+",
    "part": r"\((?:\d{1,2}|[a-z]|[ivx]+)\)\s",
    "reference": r"\b[A-Z]{3,5} \d+\.\d+\.\d+[A-Z]?\s?[RGED](?:\(\w+\))*",
    "outside": r"\bsection \d+[A-Z]? of the Act\b",
    "definition": r"“(?P<term>[^”]+)” means",
    "local": r"\bIn this chapter\b",
    "since": r"\b(\d\d/\d\d/\d{4})\b",
    "types": {"R": "rule", "G": "guidance", "E": "evidential provision", "D": "direction"},
    "status": [
        {"name": "repealed", "barred": True, "pattern": r"\[deleted (?P<until>\d{4})(?:; see (?P<by>[A-Z]{3,5} [\d.]+[RGED]))?\]"}
    ],
    "entities": {"deadline": r"\bwithin \d+ days"},
}  # fmt: skip
STYLE = rule_style(HANDBOOK)


def document(text: str, title: str = "ABC Conduct", name: str = "abc.md") -> Document:
    return read_bytes(f"# {title}\n\n{text}".encode(), source=name)[0]


def passages(text: str, style: RuleStyle = STYLE, **named: str) -> tuple[Passage, ...]:
    return split(document(text, **named), style)


def by_number(found: tuple[Passage, ...]) -> dict[str, Passage]:
    return {str(passage.metadata["number"]): passage for passage in found if "number" in passage.metadata}


def test_one_passage_for_each_rule_with_its_type() -> None:
    found = by_number(
        passages(
            "Some words before.\n\nABC 1.1.1R A firm must act.\n\nABC 1.1.2G It may act soon.\n\n"
            "ABC 1.1.3E Delay tends to show.\n\nABC 1.1.4D Write on form A."
        )
    )
    assert {number: passage.metadata["type"] for number, passage in found.items()} == {
        "ABC 1.1.1R": "rule",
        "ABC 1.1.2G": "guidance",
        "ABC 1.1.3E": "evidential provision",
        "ABC 1.1.4D": "direction",
    }
    assert found["ABC 1.1.2G"].text == "ABC 1.1.2G It may act soon."
    assert found["ABC 1.1.1R"].metadata["chapter"] == "ABC 1"


def test_text_is_a_slice_of_the_document_and_nothing_is_lost() -> None:
    read = document("Before.\n\n## 1.1 First\n\nABC 1.1.1R One.\n\n- (1) a\n- (2) b\n\n## 1.2 Second\n\nABC 1.2.1R Two.")
    found = split(read, STYLE)
    assert all(passage.text == read.text[passage.start : passage.end] for passage in found)
    covered = "".join(passage.text for passage in found)
    for block in read.blocks:
        if block.kind != "heading":
            assert block.text in covered
    assert [passage.id for passage in found] == [f"{read.id}-{i}" for i in range(len(found))]


def test_a_number_without_its_book_takes_it_from_the_title_and_a_space_before_the_type_goes() -> None:
    """As PDF and HTML editions print them: number, type and text apart."""
    found = by_number(passages("4.2.1 R\n\nA firm must write.\n\n4.2.2 G\n\nSee ABC 4.2.1 R and XYZ 9.1.1R."))
    assert set(found) == {"ABC 4.2.1R", "ABC 4.2.2G"}
    assert "A firm must write." in found["ABC 4.2.1R"].text
    assert found["ABC 4.2.2G"].metadata["cites"] == ["ABC 4.2.1R", "XYZ 9.1.1R"]


def test_html_edition() -> None:
    body = b"<h2>ABC 4.2</h2><p>ABC 4.2.1R 01/02/2020</p><p>A firm must write.</p>"
    page = b"<html><head><title>ABC Conduct</title></head><body>" + body + b"</body></html>"
    found = by_number(split(read_bytes(page, source="abc.html")[0], STYLE))
    assert "A firm must write." in found["ABC 4.2.1R"].text
    assert found["ABC 4.2.1R"].metadata["since"] == "01/02/2020"


def test_a_long_rule_is_cut_at_its_parts() -> None:
    part = " ".join(["word"] * 90)
    found = by_number(
        passages(f"ABC 1.1.1R A firm must:\n\n(1) {part} one;\n\n(a) beneath one;\n\n(2) {part} two.\n\nABC 1.1.2R Short.")
    )
    assert list(found) == ["ABC 1.1.1R", "ABC 1.1.1R(1)", "ABC 1.1.1R(2)", "ABC 1.1.2R"]
    assert found["ABC 1.1.1R(1)"].metadata["parent"] == "ABC 1.1.1R"
    assert found["ABC 1.1.1R(1)"].metadata["type"] == "rule"
    assert "beneath one" in found["ABC 1.1.1R(1)"].text


def test_a_short_rule_keeps_its_parts() -> None:
    found = by_number(passages("ABC 1.1.1R A firm must:\n\n(1) ask;\n\n(2) write."))
    assert list(found) == ["ABC 1.1.1R"]
    assert "(2) write." in found["ABC 1.1.1R"].text


def test_table_rows_belong_to_the_rule_above() -> None:
    found = passages("ABC 1.1.1R The fees are:\n\n| Kind | Fee |\n|---|---|\n| small | 10 |\n| large | 20 |")
    rows = [passage for passage in found if passage.kind == "table_row"]
    assert len(rows) == 2
    assert {row.metadata["parent"] for row in rows} == {"ABC 1.1.1R"}


def test_status_dates_and_successor() -> None:
    old = by_number(passages("ABC 1.1.1R Pay in 9 days. [deleted 2020; see ABC 1.1.2R]\n\nABC 1.1.2R Pay within 5 days."))
    repealed, present = old["ABC 1.1.1R"].metadata, old["ABC 1.1.2R"].metadata
    assert (repealed["status"], repealed["until"], repealed["replaced_by"], repealed["barred"]) == (
        "repealed",
        "2020",
        "ABC 1.1.2R",
        True,
    )
    assert "cites" not in repealed  # its successor is an edge of its own
    assert present["status"] == "in force"
    assert "barred" not in present
    assert present["entities"] == {"deadline": ["within 5 days"]}


def test_references_are_resolved_open_or_outside() -> None:
    found = passages("ABC 1.1.1R See ABC 1.1.2R(3)(a), XYZ 1.1.1R and section 138D of the Act.\n\nABC 1.1.2R Text.")
    counted = references(found)
    assert counted.resolved == (("ABC 1.1.1R", "ABC 1.1.2R"),)
    assert counted.open == (("ABC 1.1.1R", "XYZ 1.1.1R"),)
    assert counted.outside == (("ABC 1.1.1R", "section 138D of the Act"),)
    assert str(counted) == "1 resolved, 1 open, 1 to other works"


def test_resolve_climbs_only_by_whole_parts() -> None:
    assert resolve("ABC 1.1.1R(2)(a)", {"ABC 1.1.1R(2)"}) == "ABC 1.1.1R(2)"
    assert resolve("ABC 1.1.10R", {"ABC 1.1.1R"}) == ""


def test_definitions_general_and_local() -> None:
    found = by_number(passages("ABC 1.1.1R “Client” means a person.\n\nABC 1.1.2R In this chapter, “client” means a firm."))
    assert found["ABC 1.1.1R"].metadata["defines"] == {"term": "client", "within": ""}
    assert found["ABC 1.1.2R"].metadata["defines"] == {"term": "client", "within": "ABC 1"}


@pytest.mark.parametrize(
    ("number", "reference", "text", "expected", "cites"),
    [
        (
            r"(?P<number>Article \d+)\b",
            r"Article \d+(?:\(\d+\))?",
            "Article 12 Duty. See Article 13(2).\n\nArticle 13 Time.",
            ["Article 12", "Article 13"],
            ["Article 13(2)"],
        ),
        (r"(?P<number>§ \d+)\b", r"§ \d+", "§ 7 Frist, siehe § 8.\n\n§ 8 Form.", ["§ 7", "§ 8"], ["§ 8"]),
        (
            r"(?P<number>\d+(?:\.\d+)+)\s",
            r"(?<=clause )\d+(?:\.\d+)+",
            "8.5.1 Control of production. See clause 8.5.2.\n\n8.5.2 Identification.",
            ["8.5.1", "8.5.2"],
            ["8.5.2"],
        ),
    ],
)
def test_other_numberings_by_pattern_alone(number: str, reference: str, text: str, expected: list[str], cites: list[str]) -> None:
    found = by_number(passages(text, rule_style({"number": number, "reference": reference})))
    assert list(found) == expected
    assert found[expected[0]].metadata["cites"] == cites
    assert {passage.metadata["type"] for passage in found.values()} == {"rule"}
    assert len(references(tuple(found.values())).resolved) == 1


def test_a_document_without_rules_is_split_as_prose() -> None:
    plain = Document("d" * 12, "Notes", "Only prose.", (Block("paragraph", "Only prose.", 0, 11),), "notes.md")
    assert [passage.metadata for passage in split(plain, STYLE)] == [{}]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"number": "("}, "regular expression"),
        ({"number": r"\d+"}, "number"),
        ({"colour": "red"}, "colour"),
        ({"edges": {"loves": 1.0}}, "loves"),
        ({"notes": {"lapsed": "x"}}, "lapsed"),
    ],
)
def test_a_malformed_table_is_named(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    raw = {"number": r"(?P<number>\d+\.\d+)\s", "reference": r"\d+\.\d+", **change}
    tables = {key: value for key, value in raw.items() if isinstance(value, dict)}
    lines = [f"{key} = {value!r}" for key, value in raw.items() if key not in tables]
    lines += [f"{key}.{name} = {value!r}" for key, table in tables.items() for name, value in table.items()]
    (tmp_path / "collection.toml").write_text("[rules]\n" + "\n".join(lines))
    with pytest.raises(SettingsError, match=named):
        load_profile(tmp_path)


def test_another_pattern_has_another_fingerprint() -> None:
    assert rule_style(HANDBOOK).fingerprint == STYLE.fingerprint
    assert rule_style({**HANDBOOK, "reference": "x"}).fingerprint != STYLE.fingerprint
