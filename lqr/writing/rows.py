"""Table rows in an answer: which rows of a table a question names, and how a row reads. Scores come from elsewhere.

A row is named by a number that lies in its label's range ("68 °F (20 °C)" and the row "15 to 30" under "Temperature (°C)"), or
else by the words of its label. Knows no units: a number belongs to a table when the word beside it stands in the label or in
the name of the label's column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lqr.text import STOPWORDS, content_words, words
from lqr.types import Passage
from lqr.writing.units import Unit

MAX_ROWS = 6
ROW_SHARE = 0.25  # of the best row's score, for a row of a table whose rows the question does not name
STRANGE_SHARE = 0.5  # the same, for a row that has no word with the question in common that sets it apart from another row
BESIDE_SENTENCE = 0.8  # of the score of a sentence that answers, for a row that the question does not name
NAMED_SHARE = 0.1  # of the score of the table's best row: below it, a row that the question names is not the one that is meant
TWIN_SHARE = 0.5  # of the score of a row, for another that the question names by the very same words

# Words that say how much and of what unit, not which row: "30 kg lambs" does not ask for the row "Weaner, 20 to 25 kg".
_MEASURES = frozenset(
    """
    day days week weeks month months year years hour hours minute minutes kg g mg ml l litre litres cm mm m metre metres
    ha mu hectare hectares head c f ph per cent percent usual usually number many much
    """.split()
)
# "a tail, no legs": what is not there names no row.
_DENIED = re.compile(r"\b(?:no|without) (?:an? |any )?[\w-]+", re.IGNORECASE)
_LIMITS = frozenset("to and or of below above under over after before from up about more less than at least".split())
_VALUE = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_RANGE = re.compile(
    rf"(?P<low>{_VALUE})\s?(?:to|-|–|−)\s?(?P<high>{_VALUE})|(?:below|under|up to|less than|<)\s?(?P<most>{_VALUE})"
    rf"|(?:above|over|after|more than|from|>)\s?(?P<least>{_VALUE})|(?P<floor>{_VALUE})\s(?:or|and) (?:more|over|above)"
    rf"|(?P<exact>{_VALUE})",
    re.IGNORECASE,
)
# the word before a number from its beginning on: from each of its letters, a question of one long word would take seconds
_GIVEN = re.compile(rf"(?:(?<![^\W\d_])([^\W\d_]+)[\s:=]*)?(?<![\w.])({_VALUE})(?!\.?\d)[\s-]?[°º]?(?:degrees? )?([^\W\d_]+)?")


def whole_tables(question: str, chosen: Sequence[Unit], scored: Sequence[Unit]) -> list[Unit]:
    """``chosen`` with the rows that the question names of each table from which a row was chosen.

    If it names none: all rows of a table of steps or ranges, else the best; which row holds for the reader's own case is
    for the reader to see, not for a model to guess. Where a sentence answers better than the table, the chosen rows will do,
    or none of them if they are far behind it or but one step or range of many.
    """
    result = list(chosen)
    for place in dict.fromkeys(table_of(u) for u in chosen if u.kind == "row"):
        row = next(u for u in chosen if u.kind == "row" and table_of(u) == place)
        table, part = table_with(row, scored), row.part
        rows = _asked_for(question, table)
        if rows and max(u.score for u in rows) < NAMED_SHARE * max(u.score for u in table):
            rows = None
        lead = max((u for u in chosen if u.part == part), key=lambda u: u.score)
        if rows is None and not (lead.kind == "row" and table_of(lead) == place):
            result = [
                u
                for u in result
                if u.kind != "row"
                or table_of(u) != place
                or lead.kind == "row"
                or (u.score >= BESIDE_SENTENCE * lead.score and not _counted(u.text))
            ]
            continue
        rows = rows if rows is not None else _best(question, table)
        result = [u for u in result if u.kind != "row" or table_of(u) != place] + [replace(u, part=part) for u in rows]
    return result


def table_of(row: Unit) -> tuple[str, tuple[str, ...]]:
    """What the rows of one table have in common."""
    return row.passage.document_id, row.passage.section


def table_with(row: Unit, scored: Sequence[Unit]) -> list[Unit]:
    """The rows of the table of ``row``, in the table's order."""
    return sorted((u for u in scored if u.kind == "row" and table_of(u) == table_of(row)), key=lambda u: u.passage.position)


def shown(row: Unit, question: str, table: Sequence[Unit], *, first: bool = True) -> str:
    """``Stage: late pregnancy; Hay (kg/day): 1.2`` as ``late pregnancy — Hay (kg/day): 1.2``.

    The column that the question names comes first. A label that is but a number keeps the name of its column, which alone
    says what is counted.

    Args:
        table: all rows of the row's table; what every one of them names is a column, and a ``;`` elsewhere is the cell's own.
        first: whether no row of the table was shown before it, under which the label's column is known.
    """
    label, *cells = _cells(row.text)
    if not cells or ":" not in label:
        return row.text
    names = [{_name(cell) for cell in _cells(other.text)[1:]} for other in table]
    columns = set.intersection(*names) if names else set()
    whole: list[str] = []
    for cell in cells:
        if whole and _name(cell) not in columns:
            whole[-1] += f"; {cell}"
        else:
            whole.append(cell)
    if len(table) > 1:
        asked = {_stem(word) for word in words(question)}
        naming = [{_stem(w) for w in words(re.sub(r"\([^()]*\)", " ", _name(cell))) if w not in STOPWORDS} for cell in whole]
        common = set.intersection(*naming)
        title = {_stem(word) for word in words(row.passage.title)}  # names no column: "Action against rice blast"
        named = [len((words_of - common - title) & asked) for words_of in naming]
        asked_for = [cell for cell, count in zip(whole, named, strict=True) if count == max(named)]
        whole = [*asked_for, *(cell for cell in whole if cell not in asked_for)]
    column = (
        first and _counted(row.text) and not any(len(w) > 2 and w.isalpha() and w not in _LIMITS for w in words(_label(row.text)))
    )
    return f"{label if column else _label(row.text)} — {'; '.join(whole)}"


def heading(passage: Passage) -> str:
    """What stands over rows or a list: the section, and the title before it unless the section names the same subject."""
    if not passage.section:
        return passage.title
    section = passage.section[-1]
    named = {_stem(word) for word in words(section)}
    title = [_stem(word) for word in words(passage.title) if word not in STOPWORDS]
    # "Climate and farming calendar of Sichuan" is about its last word; half of the words will do for any other
    if len(named) > 2 and title and (title[-1] in named or 2 * len(named & set(title)) >= len(title)):
        return section
    return f"{passage.title} – {section}"


def _asked_for(question: str, table: Sequence[Unit]) -> list[Unit] | None:
    """The rows that the question names; None if it names none."""
    asked = {_stem(word) for word in words(_DENIED.sub(" ", question))}
    given = [(_stem(before.lower()), _number(value), _stem(after.lower())) for before, value, after in _GIVEN.findall(question)]
    if given and (inside := [row for row in table if _holds(asked, given, row.text)]):
        return inside[:MAX_ROWS]
    columns = {_stem(word) for row in table for cell in row.text.split(";")[1:] for word in words(cell.split(":", 1)[0])}
    labels = [_naming(row.text) for row in table]
    common = set.intersection(*labels)
    # "hay" in a label names no row where a column is called "Hay" too, but it may decide between two rows that are named
    named = [(len((label - common - columns) & asked), len((label - common) & asked)) for label in labels]
    if max(named) == (0, 0):
        return None
    rows = [row for row, count in zip(table, named, strict=True) if count == max(named)]
    words_of = {row.key: (label - common) & asked for row, label in zip(table, labels, strict=True)}
    rows = [
        row
        for row in rows
        if not any(words_of[row.key] == words_of[other.key] and row.score < TWIN_SHARE * other.score for other in rows)
    ]
    return rows if len(rows) <= MAX_ROWS else _first(rows, MAX_ROWS // 2)


def _best(question: str, table: Sequence[Unit]) -> list[Unit]:
    """The rows to show where none is named."""
    if len(table) <= MAX_ROWS and all(_counted(row.text) for row in table):
        return list(table)
    asked = {_stem(word) for word in content_words(question)}
    said = [{_stem(word) for cell in _cells(row.text) for word in words(cell.split(":", 1)[-1])} & asked for row in table]
    common = set.intersection(*said)
    best = max(row.score for row in table)
    kept = [
        row
        for row, shared in zip(table, said, strict=True)
        if row.score >= (ROW_SHARE if shared - common else STRANGE_SHARE) * best
    ]
    return _first(kept, MAX_ROWS if len(table) <= MAX_ROWS else MAX_ROWS // 2)


def _first(rows: Sequence[Unit], room: int) -> list[Unit]:
    """The ``room`` best of ``rows``, in their order."""
    kept = {row.key for row in sorted(rows, key=lambda row: -row.score)[:room]}
    return [row for row in rows if row.key in kept]


def _naming(row: str) -> set[str]:
    """The words of a row's label that may name it; a number does only beside words ("hay, 2 cuts"), else its range counts."""
    counted = _counted(row)
    return {
        _stem(word)
        for word in words(_label(row))
        if word not in STOPWORDS | _MEASURES | _LIMITS and not (counted and word.replace("-", "").replace(".", "").isdigit())
    }


def _holds(asked: set[str], given: Sequence[tuple[str, float, str]], row: str) -> bool:
    """Whether a number of the question lies in the range that is the row's label, or in a column that the question names.

    "Olsen P of 8 mg/kg" names the row "Grade: low; Olsen P (mg/kg): 5-10".

    Args:
        asked: the words of the question.
        given: its numbers, each between the words before and after it.
    """
    for place, cell in enumerate(_cells(row)):
        column, _, value = cell.rpartition(":")
        match = _RANGE.search(value)
        own = {_stem(word) for word in words(cell if place == 0 else column)} - _LIMITS
        named = {word for word in own if word not in STOPWORDS | _MEASURES and not word[0].isdigit()} & asked
        if match is None or not (named if place else _counted(row)):
            continue
        units = {_stem(word) for word in words(" ".join([*re.findall(r"\(([^()]*)\)", column), *([] if place else [value])]))}
        units = units - _LIMITS | own & _MEASURES
        if any(_of_column(before, after, own, units) and _inside(number, match) for before, number, after in given):
            return True
    return False


def _of_column(before: str, after: str, own: set[str], units: set[str]) -> bool:
    """Whether a number with these words around it is one of a column: "20 °C", or "score 2" but not "2 lambs"."""
    if after in units:
        return True
    return bool(before) and before in own and after not in _MEASURES and f"{after}s" not in _MEASURES


def _inside(value: float, found: re.Match[str]) -> bool:
    if found["low"]:
        return _number(found["low"]) <= value <= _number(found["high"])
    if found["most"]:
        return value <= _number(found["most"])
    if found["least"] or found["floor"]:
        return value >= _number(found["least"] or found["floor"])
    return value == _number(found["exact"])


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _counted(row: str) -> bool:
    """Whether the row's label is a number, with its unit or its column's name at most."""
    cell = row.split(";", 1)[0]
    column, _, label = cell.rpartition(":")
    told = {_stem(word) for word in words(column)}
    return bool(re.search(r"\d", label)) and all(
        re.match(r"\d", word) or word in _MEASURES or word in _LIMITS or _stem(word) in told for word in words(label)
    )


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split(";") if cell.strip()]


def _name(cell: str) -> str:
    """The name of a cell's column; empty where it has none."""
    return cell.split(":", 1)[0].strip() if ":" in cell else ""


def _label(row: str) -> str:
    """The first cell of a row, without its column's name."""
    return row.split(";", 1)[0].split(":", 1)[-1].strip()


def _stem(word: str) -> str:
    return word.rstrip("s")
