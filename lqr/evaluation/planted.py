"""Plants errors into right sentences, and rewrites them harmlessly, to see what the checks of claims catch.

The sentences are a collection's own, each with the passage it stands in as its evidence. An error changes one thing that
matters (a number, a unit, a decimal point, a range, an animal, a crop, a date, a negation); a harmless rewrite says the same
with other signs (500 g and 0.5 kg, °C and °F, "10" and "ten"). Deterministic for a seed. Knows nothing of how they are judged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lqr.corpus.passages import split
from lqr.corpus.readers import read_file
from lqr.text import content_words, sentence_spans
from lqr.types import Passage


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage; right by definition."""

    text: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class Planted:
    """A sentence after a change. ``kind`` names the change; ``wrong`` says whether it makes the sentence false."""

    text: str
    original: str
    passage: Passage
    kind: str
    wrong: bool


Change = Callable[[str, random.Random], "str | None"]

NUMERIC = ("number", "decimal", "unit", "range", "exchanged")
OTHER = ("species", "crop", "date", "negation")
HARMLESS = ("untouched", "shortened", "converted", "degrees", "separator", "spelled", "dash", "percent")


def sentences_of(folder: Path, suffix: str = ".md") -> list[Sentence]:
    """All sentences and table rows of the documents under ``folder``, in the order of their paths."""
    found = []
    for path in sorted(folder.rglob(f"*{suffix}")):
        for document in read_file(path, source=path.relative_to(folder).as_posix()):
            for passage in split(document):
                if passage.kind == "table_row":
                    found.append(Sentence(passage.text, passage))
                    continue
                for start, end in sentence_spans(passage.text):
                    text = re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", passage.text[start:end])
                    if len(content_words(text)) >= 4 and not text.endswith((":", "?")):
                        found.append(Sentence(text, passage))
    return found


def plant(sentences: Sequence[Sentence], kinds: Sequence[str], each: int, seed: int) -> list[Planted]:
    """Up to ``each`` changed sentences of every kind in ``kinds``; no sentence twice for one kind."""
    changed: list[Planted] = []
    for kind in kinds:
        rng = random.Random(f"{seed} {kind}")
        order = list(sentences)
        rng.shuffle(order)
        taken = 0
        for sentence in order:
            # every third error stands in a part of the sentence, as a writer would say it
            original = (rng.random() < 1 / 3 and _shortened(sentence.text, rng)) or sentence.text
            text = CHANGES[kind](original, rng)
            if text is None or (text == original and kind != "untouched"):
                continue
            changed.append(Planted(text, original, sentence.passage, kind, kind not in HARMLESS))
            taken += 1
            if taken == each:
                break
    return changed


# --- errors ---------------------------------------------------------------------------------------------------------


def _pairs(spaced: str) -> dict[str, str]:
    """``"a>b c>d"`` as a mapping."""
    found = {}
    for pair in spaced.split():
        old, new = pair.split(">")
        found[old] = new
    return found


_NUMBER = re.compile(
    r"(?<![\w.,/-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,.]*\d)|(?<![\w.,/-])\d+(?:\.\d+)?(?![\d,.]*\d)(?![-–/]?[A-Za-z]?\d)"
)
_RANGE = re.compile(r"(?<![\w.,/-])(\d+(?:\.\d+)?)(\s?(?:-|–|to)\s?)(\d+(?:\.\d+)?)(?![\w.,]*\d)")
_WRONG_UNIT = _pairs(
    "mg/kg>g/kg kg/ha>kg/mu t/ha>kg/ha ml/kg>l/kg mg>g g>kg kg>g ml>l litres>ml l>ml cm>mm mm>cm m>km km>m °C>°F %>ppm "
    "days>weeks weeks>months hours>days months>days minutes>hours years>months t>kg ha>mu MJ>kJ micron>mm"
)
_UNIT = re.compile(rf"(?<=\d)(\s?)({'|'.join(sorted(map(re.escape, _WRONG_UNIT), key=len, reverse=True))})(?![\w/²³°])")
_SPECIES = _pairs(
    "sheep>goats ewes>cows ewe>cow lambs>calves lamb>calf rams>bulls goats>sheep goat>sheep kids>piglets cattle>pigs "
    "cows>mares cow>mare calves>foals calf>foal horses>sheep yaks>camels"
)
_CROP = _pairs(
    "wheat>barley rice>wheat maize>rice potatoes>onions potato>onion rapeseed>cotton cotton>soybean alfalfa>ryegrass "
    "barley>rice citrus>tea tea>citrus soybean>maize oats>rye sorghum>millet"
)
_DATE = _pairs(
    "January>July February>August April>October June>December July>January August>February September>March October>April "
    "November>May December>June"
)
_SEASON = _pairs("spring>autumn autumn>spring summer>winter winter>summer")


def _number(text: str, rng: random.Random) -> str | None:
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    value = float(match.group().replace(",", ""))
    return _put(text, match.span(), f"{round(value * rng.choice([1.5, 2, 3, 4]) + 1, 2):g}")


def _decimal(text: str, rng: random.Random) -> str | None:
    found = [m for m in _NUMBER.finditer(text) if float(m.group().replace(",", ""))]
    if not found:
        return None
    match = rng.choice(found)
    value = float(match.group().replace(",", "")) * rng.choice([10, 0.1])
    return _put(text, match.span(), f"{round(value, 4):.10g}")


def _unit(text: str, rng: random.Random) -> str | None:
    found = list(_UNIT.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    if match[2] == "°C" and text[: match.start()].endswith("40"):
        return None  # 40 degrees of frost are the same in both
    return _put(text, match.span(2), _WRONG_UNIT[match[2]])


def _range(text: str, rng: random.Random) -> str | None:
    found = [m for m in _RANGE.finditer(text) if float(m[1]) < float(m[3])]
    if not found:
        return None
    match = rng.choice(found)
    return _put(text, match.span(), f"{match[3]}{match[2]}{match[1]}")


def _exchanged(text: str, rng: random.Random) -> str | None:
    """Two numbers of one sentence change places; not the ends of a range, which have a kind of their own."""
    ranges = [m.span() for m in _RANGE.finditer(text)]
    found = [m for m in _NUMBER.finditer(text) if not any(a <= m.start() < b for a, b in ranges)]
    if len(found) < 2:
        return None
    one, other = sorted(rng.sample(found, 2), key=lambda m: m.start())
    if one.group() == other.group():
        return None
    return text[: one.start()] + other.group() + text[one.end() : other.start()] + one.group() + text[other.end() :]


def _words(table: dict[str, str]) -> Change:
    pattern = re.compile(rf"\b({'|'.join(table)})\b")

    def change(text: str, rng: random.Random) -> str | None:
        found = list(pattern.finditer(text))
        if not found:
            return None
        new = table[found[0][1]]
        if re.search(rf"\b{new}\b", text, re.IGNORECASE):
            return None
        # every mention, or the sentence would contradict itself and not its passage
        return re.sub(rf"\b{found[0][1]}\b", new, text)

    return change


def _date(text: str, rng: random.Random) -> str | None:
    return _words(_DATE)(text, rng) or _words(_SEASON)(text, rng)


def _negation(text: str, rng: random.Random) -> str | None:
    if match := re.search(r"\b(?:do not|must not|should not|cannot|is not|are not|never)\b", text, re.IGNORECASE):
        plain = {
            "do not": "do",
            "must not": "must",
            "should not": "should",
            "cannot": "can",
            "is not": "is",
            "are not": "are",
            "never": "always",
        }
        return _put(text, match.span(), plain[match.group().lower()])
    match = re.search(r"\b(?:can|must|should|is|are|has|need|needs|gives?|causes?|takes?)\b", text)
    if not match:
        return None
    after = " not" if match.group() in ("can", "must", "should", "is", "are") else None
    return (
        text[: match.end()] + after + text[match.end() :]
        if after
        else _put(text, match.span(), f"does not {match.group().rstrip('s')}")
    )


# --- harmless rewrites ----------------------------------------------------------------------------------------------

_EQUAL = {
    "kg": ("g", 1000),
    "g": ("kg", 0.001),
    "t": ("kg", 1000),
    "cm": ("mm", 10),
    "mm": ("cm", 0.1),
    "m": ("cm", 100),
    "weeks": ("days", 7),
    "litres": ("ml", 1000),
    "ml": ("litres", 0.001),
    "t/ha": ("kg/ha", 1000),
    "hours": ("minutes", 60),
    "km": ("m", 1000),
}
_MEASURE = "|".join(sorted(map(re.escape, _EQUAL), key=len, reverse=True))
_EQUAL_UNIT = re.compile(rf"(?<![\w.,/–−-])(?<!× )(\d+(?:\.\d+)?)\s?({_MEASURE})(?![\w/²³])(?! (?:per|a) )")
_CELSIUS = re.compile(r"(?<![\w.,/–−-])(\d+(?:\.\d+)?)\s?°C")
_SPELLED = "zero one two three four five six seven eight nine ten eleven twelve".split()


def _shortened(text: str, rng: random.Random) -> str | None:
    """The first part of a sentence, or a table row without one or two of its later cells."""
    if "; " in text and text.count(": ") >= 3:
        cells = text.split("; ")
        for _ in range(rng.randint(1, max(1, len(cells) - 2))):
            del cells[rng.randrange(1, len(cells))]
        return "; ".join(cells) if len(cells) > 1 else None
    cuts = [m.start() for m in re.finditer(r", (?:because|so|but|which|and|while|although|or)\b|; | because ", text)]
    parts = [text[:cut] + "." for cut in cuts if len(content_words(text[:cut])) >= 4]
    return rng.choice(parts) if parts else None


def _converted(text: str, rng: random.Random) -> str | None:
    found = [m for m in _EQUAL_UNIT.finditer(text) if not re.search(r"(?:\d\s?(?:to|or|and|-|–)\s?)$", text[: m.start()])]
    if not found:
        return None
    match = rng.choice(found)
    unit, factor = _EQUAL[match[2]]
    return _put(text, match.span(), f"{round(float(match[1]) * factor, 6):.10g} {unit}")


def _degrees(text: str, rng: random.Random) -> str | None:
    found = [m for m in _CELSIUS.finditer(text) if not re.search(r"(?:\d\s?(?:to|or|and|-|–)\s?|minus )$", text[: m.start()])]
    if not found:
        return None
    match = rng.choice(found)
    return _put(text, match.span(), f"{round(float(match[1]) * 1.8 + 32)} °F")


def _separator(text: str, rng: random.Random) -> str | None:
    changed = re.sub(r"(?<![\d.,])(\d{1,3}),(\d{3})(?![\d,])", r"\1\2", text)
    return changed if changed != text else re.sub(r"(?<![\d.,/-])([1-9]\d?)(\d{3})(?![\d.,-])(?!\))", r"\1,\2", text)


def _spelled(text: str, rng: random.Random) -> str | None:
    if match := re.search(r"(?<![\w.,/–-])(?<!\d to )(\d|1[0-2])(?= (?:days|weeks|months|years|hours|times|lambs|ewes)\b)", text):
        return _put(text, match.span(), _SPELLED[int(match[1])])
    match = re.search(
        rf"\b({'|'.join(_SPELLED[2:])})(?= (?:days|weeks|months|years|hours|times|to (?:{'|'.join(_SPELLED[2:])})))\b", text
    )
    return _put(text, match.span(), str(_SPELLED.index(match[1]))) if match else None


def _dash(text: str, rng: random.Random) -> str | None:
    if match := re.search(r"(?<![\w.,/-])(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)(?![\w.,]*\d)", text):
        return _put(text, match.span(), f"{match[1]}{rng.choice(['–', ' to ', ' – '])}{match[2]}")
    match = re.search(r"(?<![\w.,/-])(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)(?![\w.,]*\d)", text)
    return _put(text, match.span(), f"{match[1]}{rng.choice(['–', '-'])}{match[2]}") if match else None


def _percent(text: str, rng: random.Random) -> str | None:
    return re.sub(r"(?<=\d)\s?%", rng.choice([" percent", "%", " %"]), text)


def _put(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


CHANGES: dict[str, Change] = {
    "number": _number,
    "decimal": _decimal,
    "unit": _unit,
    "range": _range,
    "exchanged": _exchanged,
    "species": _words(_SPECIES),
    "crop": _words(_CROP),
    "date": _date,
    "negation": _negation,
    "shortened": _shortened,
    "untouched": lambda text, rng: text,
    "converted": _converted,
    "degrees": _degrees,
    "separator": _separator,
    "spelled": _spelled,
    "dash": _dash,
    "percent": _percent,
}
