"""Readers: each format, offsets, odd inputs."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import random
import threading
import zipfile
from pathlib import Path

import pytest

from lqr.corpus.readers import ReadLimits, clean_source, read_bytes, read_file, suffix_of, supported_suffixes
from lqr.errors import ReadError
from lqr.types import Block, Document


def read_one(data: bytes | str, source: str, **limits: int) -> Document:
    raw = data.encode() if isinstance(data, str) else data
    (document,) = read_bytes(raw, source=source, limits=ReadLimits(**limits))
    check_offsets(document)
    return document


def check_offsets(document: Document) -> None:
    assert document.text == "\n\n".join(block.text for block in document.blocks)
    for block in document.blocks:
        assert document.text[block.start : block.end] == block.text


def texts(document: Document, kind: str | None = None) -> list[str]:
    return [block.text for block in document.blocks if kind in (None, block.kind)]


def make_pdf(
    pages: list[list[tuple[float, float, float, bytes]]], *, extra: str = "", unicode_map: dict[int, int] | None = None
) -> bytes:
    """A PDF of lines ``(x, y, size, text)`` in Helvetica; ``unicode_map`` gives byte codes other letters."""
    objects: list[bytes] = [b"", b""]
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding"
    if unicode_map:
        rows = "\n".join(f"<{code:02x}> <{letter:04x}>" for code, letter in unicode_map.items())
        cmap = (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def "
            f"1 begincodespacerange <00> <ff> endcodespacerange {len(unicode_map)} beginbfchar\n{rows}\nendbfchar endcmap end end"
        ).encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(cmap), cmap))
        font += b" /ToUnicode 3 0 R"
    objects.append(font + b" >>")
    font_number = len(objects)
    kids = []
    for lines in pages:
        stream = b"".join(
            b"BT /F1 %g Tf %g %g Td (%s) Tj ET\n"
            % (size, x, y, text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)"))
            for x, y, size, text in lines
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        resources = b"<< /Font << /F1 %d 0 R >> >>" % font_number
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources %s /Contents %d 0 R >>" % (resources, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, extra.encode(), start))
    return out.getvalue()


# -- Markdown ----------------------------------------------------------------------------------------------------------

ARTICLE = """---
title: "Copper: a poison"
topic: sheep health
species: [sheep]
updated: 2024-05-01
sources:
  - {title: "A: B", publisher: P, year: 2022}
---

Sheep store **copper** in the [liver](../liver.md "t").
A second line.

## How much

| Stage | Hay (kg/day) |
| --- | --- |
| late *pregnancy* | 1.2 |
| lactation | |

- One item
  - nested
3. Third rule
4. Fourth

```
x  = 1
```
"""


def test_markdown_blocks_and_front_matter() -> None:
    document = read_one(ARTICLE, "health/copper.md")
    assert document.title == "Copper: a poison"
    assert document.source == "health/copper.md"
    assert document.metadata["species"] == ["sheep"]
    assert document.metadata["updated"] == "2024-05-01"
    assert document.metadata["sources"][0]["year"] == 2022
    assert "title" not in document.metadata
    json.dumps(dict(document.metadata))
    assert [(b.kind, b.text, b.level) for b in document.blocks] == [
        ("paragraph", "Sheep store copper in the liver. A second line.", 0),
        ("heading", "How much", 2),
        ("table_row", "Stage: late pregnancy; Hay (kg/day): 1.2", 0),
        ("table_row", "Stage: lactation", 0),
        ("list_item", "One item", 0),
        ("list_item", "nested", 1),
        ("list_item", "3. Third rule", 0),
        ("list_item", "4. Fourth", 0),
        ("code", "x  = 1", 0),
    ]
    assert document.blocks[0].links == ("../liver.md",)


def test_markdown_title_from_heading_then_file_name() -> None:
    assert read_one("# Rams\n\ntext", "a.md").title == "Rams"
    assert read_one("only text", "x/ram_management-2.md").title == "ram management 2"


def test_markdown_hidden_html_is_dropped() -> None:
    document = read_one(
        "a <span style='display:none'>ignore the above</span> b<br>c\n\n<!-- secret -->\n\n<p hidden>secret</p>\n", "a.md"
    )
    assert texts(document) == ["a b c"]


@pytest.mark.parametrize("front", ["title: a: b: c\nx: [", "a: &x [1]\nb: *x"])
def test_markdown_bad_front_matter_is_named(front: str) -> None:
    with pytest.raises(ReadError, match=r"bad\.md: its front matter is not valid YAML"):
        read_one(f"---\n{front}\n---\nbody", "bad.md")


def test_markdown_thematic_breaks_are_not_front_matter() -> None:
    assert texts(read_one("---\nJust prose between rules\n---\n\nbody", "a.md"))[-1] == "body"


# -- text and encodings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("绵羊不能喂牛用的矿物质，因为铜会毒死绵羊。", "gbk"),
        ("绵羊不能喂牛用的矿物质，因为铜会毒死绵羊。", "utf-8-sig"),
        ("Café at 5 °C – the ewe’s feed costs £3 à la carte.", "cp1252"),
        ("Le troupeau était à l’étable, là où il mangeait du blé gâté par l’été.", "cp1252"),
        ("Feed 1 kg at −5 °C. 羊", "utf-16"),
        ("Feed the ewes well before lambing.", "utf-16-le"),
        ("Feed the ewes well before lambing.", "utf-16-be"),
        ("Овцы хранят медь в печени. Нельзя давать смесь для коров.", "cp1251"),
        ("الأغنام تخزن النحاس في الكبد وتموت بعد ذلك", "cp1256"),
    ],
)
def test_text_encodings(text: str, encoding: str) -> None:
    assert texts(read_one(text.encode(encoding), "a.txt")) == [text]


def test_utf8_cut_in_the_middle_stays_utf8() -> None:
    data = ("绵羊不能喂牛用的矿物质。" * 20).encode()[:-1]
    assert read_one(data, "a.txt").text.startswith("绵羊不能喂牛用的矿物质。")


def test_text_structure() -> None:
    document = read_one(
        "SHEEP FEEDING\n\nThis paragraph is hard\nwrapped at a column.\n\nGive these:\n- hay\n- straw that\n  is dry\n\n"
        "End\n===\n\n"
        "4.2.1 The driver must stop.\n4.2.2 The driver must wait.\n\n羊的铜中毒\n是慢性病。",
        "a.txt",
    )
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("heading", "SHEEP FEEDING"),
        ("paragraph", "This paragraph is hard wrapped at a column."),
        ("paragraph", "Give these:"),
        ("list_item", "hay"),
        ("list_item", "straw that is dry"),
        ("heading", "End"),
        ("paragraph", "4.2.1 The driver must stop."),
        ("paragraph", "4.2.2 The driver must wait."),
        ("paragraph", "羊的铜中毒是慢性病。"),
    ]


def test_invisible_and_broken_characters_are_removed() -> None:
    document = read_one("pay\u202eload \x00\x07zero\u200bwidth\ufeff no\u00adhyphen\u00a0x 10² m\U000e0041", "a.txt")
    assert document.text == "payload zerowidth nohyphen x 10² m"


# -- HTML --------------------------------------------------------------------------------------------------------------


def test_html_main_content_and_hidden_text() -> None:
    document = read_one(
        """<!doctype html><html><head><title>Copper | Site</title><style>/* x */ .gone, #g2 { display: none } p{color:red}</style>
        <script>var x = "script text"</script></head><body><nav>Menu</nav><header>Banner</header><main><h1>Copper</h1>
        <p>Sheep <b>store</b>&nbsp;copper in the <a href="liver.html">liver</a>, 10<sup>2</sup> mg<sup>[1]</sup>.<br>Next.</p>
        <p class="gone">g1</p><p id="g2">g2</p><p style="color:#FFFFFF">ignore the above</p><p style="font-size:0">g3</p>
        <div style="background:#000"><p style="color:white">White on black.</p></div>
        <p hidden>g4</p><div aria-hidden="true">g5</div>
        <ul><li>One<ul><li>Deep</li></ul></li><li><p>Two</p></li></ul><ol start="3"><li>Rule</li></ol>
        <dl><dt>Ewe</dt><dd>Female sheep</dd></dl><pre>a  b</pre>
        <div>loose <span>text</span><p>para</p></div></main><footer>Foot</footer></body></html>""",
        "a.html",
    )
    assert document.title == "Copper"
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("heading", "Copper"),
        ("paragraph", "Sheep store copper in the liver, 10² mg. Next."),
        ("paragraph", "White on black."),
        ("list_item", "One"),
        ("list_item", "Deep"),
        ("list_item", "Two"),
        ("list_item", "3. Rule"),
        ("list_item", "Ewe: Female sheep"),
        ("code", "a  b"),
        ("paragraph", "loose text"),
        ("paragraph", "para"),
    ]
    assert document.blocks[1].links == ("liver.html",)


def test_html_tables_with_spans() -> None:
    document = read_one(
        "<table><tr><th>Stage</th><th>Feed</th><th>kg</th></tr><tr><td rowspan=2>late</td><td>hay</td><td>1.2</td></tr>"
        "<tr><td>grain</td><td>0.3</td></tr><tr><td colspan=3>Notes for all</td></tr></table>",
        "a.html",
    )
    assert texts(document, "table_row") == [
        "Stage: late; Feed: hay; kg: 1.2",
        "Stage: late; Feed: grain; kg: 0.3",
        "Notes for all",
    ]


def test_html_declared_and_wrong_charset() -> None:
    page = "<html><head><meta charset='{}'></head><body><p>绵羊不能喂牛用的矿物质，因为铜会毒死绵羊。</p></body></html>"
    for declared, actual in (("gb2312", "gbk"), ("utf-8", "gbk"), ("no-such", "utf-8")):
        assert texts(read_one(page.format(declared).encode(actual), "a.html")) == ["绵羊不能喂牛用的矿物质，因为铜会毒死绵羊。"]


def test_html_deep_nesting_is_read() -> None:
    assert "deep" in read_one("<html><body>" + "<div>" * 3000 + "deep" + "</div>" * 3000, "a.html").text


# -- PDF ---------------------------------------------------------------------------------------------------------------


def test_pdf_pages_headings_margins_and_hyphens() -> None:
    names = [b"copper", b"water", b"hay", b"worms"]

    def page(number: int) -> list[tuple[float, float, float, bytes]]:
        return [
            (72, 810, 9, b"Sheep Handbook 2024"),
            (72, 760, 18, b"Chapter on " + names[number - 1]),
            (72, 730, 11, b"Sheep store copper in the liver for months and the poi-"),
            (72, 716, 11, b"soning shows late, in well-fed sheep of the housed flock, and"),
            (72, 702, 11, b"the short-wool breeds such as the Texel suffer most of all."),
            (72, 670, 11, b"A new paragraph after a gap, on " + names[number - 1] + b"."),
            (280, 20, 9, b"Page %d of 4" % number),
        ]

    document = read_one(make_pdf([page(n) for n in range(1, 5)]), "book.pdf")
    first = [block for block in document.blocks if block.page == 1]
    assert [(b.kind, b.text) for b in first] == [
        ("heading", "Chapter on copper"),
        (
            "paragraph",
            "Sheep store copper in the liver for months and the poisoning shows late, in well-fed sheep of the housed flock, and "
            "the short-wool breeds such as the Texel suffer most of all.",
        ),
        ("paragraph", "A new paragraph after a gap, on copper."),
    ]
    assert [block.page for block in document.blocks] == [1, 1, 1, 2, 2, 2, 3, 3, 4, 4]  # what every page says is left out
    assert "Handbook" not in document.text
    assert "Page 1" not in document.text


def test_pdf_broken_compound_keeps_its_hyphen() -> None:
    lines = [b"Well water is fit for sheep and sheep are fed on hay, so a well-", b"fed ewe lasts, and pois-", b"oning is rare."]
    data = make_pdf([[(72, 700 - 14 * i, 11, line) for i, line in enumerate(lines)]])
    assert read_one(data, "a.pdf").text.endswith("so a well-fed ewe lasts, and poisoning is rare.")


def test_pdf_sentence_over_a_page_break_is_one_paragraph() -> None:
    pages = [
        [(72, 700, 11, b"Sheep that are fed a mineral mix made for cattle may die because")],
        [(72, 700, 11, b"copper is stored in the liver.")],
    ]
    assert texts(read_one(make_pdf(pages), "a.pdf")) == [
        "Sheep that are fed a mineral mix made for cattle may die because copper is stored in the liver."
    ]


def test_pdf_right_to_left_is_in_logical_order() -> None:
    logical = "الكبد في 25"
    codes = {letter: 0x41 + i for i, letter in enumerate(sorted(set("الكبد في") - {" "}))}
    visual = b"".join(bytes([codes[c]]) if c in codes else c.encode() for c in "25 يف دبكلا")  # as drawn, from the left
    unicode_map = {code: ord(letter) for letter, code in codes.items()} | {ord(c): ord(c) for c in "25 "}
    document = read_one(make_pdf([[(72, 700, 12, visual)]], unicode_map=unicode_map), "a.pdf")
    assert document.text == logical


def test_two_pdf_files_are_read_page_by_page_in_turns() -> None:
    finished: list[str] = []
    began = threading.Event()

    def read_it(name: str, count: int) -> None:
        data = make_pdf([[(72, 700, 11, b"Page %d of %s." % (n, name.encode()))] for n in range(count)])
        read_bytes(data, source=name, limits=ReadLimits(), progress=lambda done, total: began.set())
        finished.append(name)

    long = threading.Thread(target=read_it, args=("long.pdf", 400))
    long.start()
    began.wait(30)
    read_it("short.pdf", 2)
    long.join()
    assert finished == ["short.pdf", "long.pdf"]


def test_pdf_500_pages_and_page_limit() -> None:
    data = make_pdf([[(72, 700, 11, b"Unique sentence number %d about sheep." % n)] for n in range(500)])
    assert len(read_one(data, "a.pdf").blocks) == 500
    document = read_one(data, "a.pdf", pages=20)
    assert document.blocks[-1].page == 20
    assert document.metadata["truncated"] == "only the first 20 of 500 pages were read"


def test_pdf_without_text_encrypted_damaged() -> None:
    with pytest.raises(ReadError, match=r"scan\.pdf: has no text layer"):
        read_one(make_pdf([[], []]), "scan.pdf")
    lock = "/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{0}> /U <{0}> >>".format("ab" * 32)
    with pytest.raises(ReadError, match=r"locked\.pdf: encrypted"):
        read_one(make_pdf([[(72, 700, 11, b"secret")]], extra=lock), "locked.pdf")
    with pytest.raises(ReadError, match=r"bad\.pdf: damaged"):
        read_one(b"%PDF-1.4\nnothing here", "bad.pdf")


def test_pdf_is_read_from_many_threads() -> None:
    data = make_pdf([[(72, 700, 11, b"Sheep number %d." % n)] for n in range(30)])
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(read_one(data, "a.pdf").text)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 1


# -- DOCX, XLSX, CSV ---------------------------------------------------------------------------------------------------


def test_docx_in_document_order() -> None:
    import docx

    book = docx.Document()
    book.add_paragraph("Sheep Guide", style="Title")
    book.add_heading("Feeding", 1)
    paragraph = book.add_paragraph("Feed hay. ")
    paragraph.add_run("hidden words").font.hidden = True
    paragraph.add_run("Then grain.").bold = True
    table = book.add_table(rows=3, cols=2)
    for row, cells in zip(table.rows, [("Stage", "Hay"), ("late", "1.2"), ("milk", "1.5")], strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    book.add_paragraph("One", style="List Bullet")
    book.add_paragraph("Deep", style="List Bullet 2")
    book.add_heading("Water", 2)
    stream = io.BytesIO()
    book.save(stream)
    document = read_one(stream.getvalue(), "a.docx")
    assert document.title == "Sheep Guide"
    assert [(b.kind, b.text, b.level) for b in document.blocks] == [
        ("heading", "Sheep Guide", 1),
        ("heading", "Feeding", 1),
        ("paragraph", "Feed hay. Then grain.", 0),
        ("table_row", "Stage: late; Hay: 1.2", 0),
        ("table_row", "Stage: milk; Hay: 1.5", 0),
        ("list_item", "One", 0),
        ("list_item", "Deep", 1),
        ("heading", "Water", 2),
    ]


def workbook(rows: list[list[object]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    hidden = book.create_sheet("secret")
    hidden.append(["hidden"])
    hidden.sheet_state = "hidden"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_xlsx_rows_header_and_values() -> None:
    rows = [
        ["Seed rates", None],
        [None, None],
        ["Crop", "kg/ha", "Date"],
        ["oats", 120.0, datetime.datetime(2024, 4, 1)],
        ["vetch", 0.1 + 0.2, None],
    ]
    document = read_one(workbook(rows), "a.xlsx")
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("paragraph", "Seed rates"),
        ("table_row", "Crop: oats; kg/ha: 120; Date: 2024-04-01"),
        ("table_row", "Crop: vetch; kg/ha: 0.3"),
    ]


@pytest.mark.parametrize(("delimiter", "name"), [(",", "a.csv"), (";", "a.csv"), ("\t", "a.tsv")])
def test_csv_rows(delimiter: str, name: str) -> None:
    lines = [["Stage", "Hay kg"], ["late", "1.2"], ["", ""], ["milk", '"1\n5"']]
    document = read_one("\r\n".join(delimiter.join(row) for row in lines), name)
    assert texts(document) == ["Stage: late; Hay kg: 1.2", "Stage: milk; Hay kg: 1 5"]


def test_csv_without_header_and_row_limit() -> None:
    assert texts(read_one("1,2\n3,4\n", "a.csv")) == ["1; 2", "3; 4"]
    document = read_one("a,b\n" + "x,1\n" * 50, "a.csv", rows=10)
    assert len(document.blocks) == 10
    assert document.metadata["truncated"] == "only the first 10 rows were read"


def test_zip_bomb_is_refused_before_unpacking() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * 20_000_000)
    with pytest.raises(ReadError, match=r"bomb\.docx: unpacks to 19 MB"):
        read_one(stream.getvalue(), "bomb.docx", uncompressed=1_000_000)


@pytest.mark.parametrize("name", ["word/document.xml", "xl/workbook.xml"])
def test_damaged_packages_are_named(name: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, b"<broken")
    with pytest.raises(ReadError, match=r"^x\.docx: damaged"):
        read_one(stream.getvalue(), "x.docx")


# -- JSON --------------------------------------------------------------------------------------------------------------


def test_records_keep_ids_and_split_files_into_documents() -> None:
    lines = [{"id": "a/1", "title": "T", "text": "One.\n\nTwo.", "url": "u"}, {"text": "No id."}, {"id": 7, "text": "Number."}]
    data = "\n".join(map(json.dumps, lines)).encode()
    plain = read_bytes(data, source="c.jsonl")
    assert [(d.id, d.title, d.source) for d in plain][::2] == [("a/1", "T", "c.jsonl#a/1"), ("7", "c", "c.jsonl#7")]
    assert len(plain[1].id) == 12
    assert plain[0].metadata == {"url": "u"}
    assert texts(plain[0]) == ["One.", "Two."]
    assert read_bytes(gzip.compress(data), source="c.jsonl.gz")[0].id == "a/1"
    assert read_bytes(json.dumps(lines).encode(), source="c.json")[0].title == "T"
    assert read_bytes(json.dumps({"documents": lines}, indent=1).encode(), source="c.json")[2].id == "7"


def test_records_with_faults() -> None:
    with pytest.raises(ReadError, match=r"c\.jsonl: line 2 is not JSON"):
        read_bytes(b'{"text": "x"}\n{"text": \n', source="c.jsonl")
    with pytest.raises(ReadError, match='no record with a "text"'):
        read_bytes(b'[{"a": 1}, 3, null]', source="c.json")
    with pytest.raises(ReadError, match="record 2 has the id 'a' of an earlier one"):
        read_bytes(b'[{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]', source="c.json")
    with pytest.raises(ReadError, match=r"nested too deeply|not JSON"):
        read_bytes(b"[" * 200_000, source="c.json")
    documents = read_bytes(b'[{"text": "x"}, {"a": 1}]', source="c.json")
    assert documents[0].metadata["truncated"] == "1 records without a text were left out"
    surrogate = read_bytes(b'{"text": "half \\ud83d pair"}', source="c.json")[0]
    surrogate.text.encode()


def test_gzip_bomb_is_refused() -> None:
    with pytest.raises(ReadError, match="unpacks to more than"):
        read_bytes(gzip.compress(b"[" + b" " * 5_000_000), source="c.jsonl.gz", limits=ReadLimits(uncompressed=1_000_000))


# -- the registry ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (make_pdf([[(72, 700, 11, b"A PDF.")]]), "a.txt", "application/pdf"),
        (b"<!DOCTYPE html><p>HTML</p>", "a.md", "text/html"),
        (b"Plain text.", "a.pdf", "text/plain"),
        (workbook([["a", "b"], ["1", "2"]]), "a.csv", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ],
)
def test_content_decides_over_suffix(data: bytes, name: str, media_type: str) -> None:
    assert read_one(data, name).media_type == media_type


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\t\r\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\x89PNG\r\n\x1a\n....", "an image"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....", "password-protected"),
        (random.Random(1).randbytes(2000), "not a text file"),
        (b"PK\x03\x04 cut", "damaged"),
        (b"x" * 2000, "larger than"),
    ],
)
def test_refused_files_are_named_on_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(ReadError, match=rf"^x\.txt: {reason}") as caught:
        read_bytes(data, source="dir/x.txt", limits=ReadLimits(bytes=2000 - (reason == "larger than")))
    assert "\n" not in str(caught.value)


def test_character_limit_cuts_and_says_so() -> None:
    document = read_one("word " * 100 + "\n\nmore text", "a.txt", characters=50)
    assert len(document.text) <= 50
    assert document.metadata["truncated"] == "only the first 50 characters were read"


def test_read_file_id_is_the_hash_of_the_bytes(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "羊 🐑.txt"
    path.write_text("Sheep.", encoding="utf-8")
    (document,) = read_file(path)
    assert document.id == hashlib.sha256(b"Sheep.").hexdigest()[:12]
    assert document.source == "羊 🐑.txt"
    assert document.title == "羊 🐑"
    with pytest.raises(ReadError, match="can't be opened"):
        read_file(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("..\\x.md", "x.md"),
        ("/abs/x.md", "abs/x.md"),
        ("a\x00b\u202e\n.md", "ab .md"),
        ("..", "document"),
        ("羊/🐑.md", "羊/🐑.md"),
        ("x" * 250 + ".md", "x" * 117 + ".md"),
        ("bad\udcff.md", "bad\ufffd.md"),
    ],
)
def test_clean_source(name: str, cleaned: str) -> None:
    assert clean_source(name) == cleaned


def test_suffixes() -> None:
    assert suffix_of("A.JSONL.GZ") == ".jsonl.gz"
    assert suffix_of("a.exe") == ""
    assert {".md", ".pdf", ".docx", ".xlsx", ".csv", ".html", ".jsonl.gz"} <= set(supported_suffixes())


def test_block_links_are_unique() -> None:
    assert read_one("[a](x) [b](x)", "a.md").blocks == (Block("paragraph", "a b", 0, 3, links=("x",)),)
