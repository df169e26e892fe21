"""Numbers with their units, as farming texts write them, made comparable.

Reads ``5-10 mg/kg``, ``two to three weeks``, ``15 kg per mu``, ``104 °F``, ``half``, ``1/2``, ``Rate (kg/ha): 30``, and digits
in Chinese, which has no spaces: ``每天喂2公斤干草`` (not its numerals: ``两公斤``). Knows fixed conversions only: a bigha or a
bushel differs from place to place and is compared by name. What a number is about is not known here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lqr.text import CJK

# Rounding when a text converts to or from a unit that is no round number of others ("2.5 acres, about 1 ha", "three
# months, 90 days"). Otherwise quantities must be equal.
CONVERSION_TOLERANCE = 0.02
_ROUNDED = re.compile(
    r"acre|\bac\b|\blbs?\b|pound|\boz\b|ounce|inch|foot|feet|\bft\b|month|year|\byrs?\b|\bmu\b|亩|个月|kcal|mcal"
)
DEGREE_TOLERANCE = 0.6  # °C, for converted temperatures: "104 °F (40 °C)"

_DAY = 1.0
# unit -> (dimension, factor to the dimension's base)
_UNITS: dict[str, tuple[str, float]] = {}


def _define(dimension: str, **units: float) -> None:
    for names, factor in units.items():
        for name in names.split("_"):
            _UNITS[name] = (dimension, factor)


_define("mass", ug_μg_mcg_microgram_micrograms=1e-9, mg_milligram_milligrams=1e-6, g_gram_grams_gm=1e-3, dag=1e-2)
_define("mass", kg_kgs_kilo_kilos_kilogram_kilograms=1.0, t_tonne_tonnes_ton_tons=1e3, lb_lbs_pound_pounds=0.45359237)
_define("mass", oz_ounce_ounces=0.028349523, jin_catty_catties=0.5, quintal_quintals=100.0)
_define("volume", ul_μl=1e-6, ml_millilitre_millilitres_milliliter_milliliters_cc=1e-3, cl=1e-2, dl=0.1)
_define("volume", l_litre_litres_liter_liters=1.0, m3=1e3, hl=100.0)
_define("length", mm_millimetre_millimetres=1e-3, cm_centimetre_centimetres_centimeter_centimeters=1e-2)
_define("length", m_metre_metres_meter_meters=1.0, km_kilometre_kilometres=1e3, inch_inches=0.0254, ft_foot_feet=0.3048)
_define("length", um_μm_micron_microns=1e-6)
_define("area", ha_hectare_hectares_hm2=1.0, acre_acres_ac=0.40468564, mu_mou=1 / 15, m2_sqm=1e-4, km2=100.0)
_define("time", second_seconds_sec_secs=_DAY / 86400, minute_minutes_min_mins=_DAY / 1440, hour_hours_hr_hrs_h=_DAY / 24)
_define("time", day_days_d=_DAY, week_weeks_wk_wks=7.0, fortnight_fortnights=14.0, month_months=30.4375, year_years_yr_yrs=365.25)
_define("fraction", **{"%": 1e-2, "percent": 1e-2, "‰": 1e-3, "ppm": 1e-6, "ppb": 1e-9})
_define("energy", kj=1e-3, mj=1.0, kcal=4.184e-3, mcal=4.184)
_define("mass", 微克=1e-9, 毫克=1e-6, 克=1e-3, 斤=0.5, 公斤_千克=1.0, 吨=1e3)
_define("volume", 毫升=1e-3, 升=1.0, 立方米=1e3)
_define("length", 毫米=1e-3, 厘米=1e-2, 米=1.0, 公里=1e3)
_define("area", 公顷=1.0, 亩=1 / 15, 平方米=1e-4)
_define("time", 分钟=_DAY / 1440, 小时=_DAY / 24, 天=_DAY, 周=7.0, 个月=30.4375)  # not 月, 日, 年: those are dates
_define("head", head=1.0)
_define("times", times_time=1.0)
_define("iu", iu=1.0)

_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_WORDS |= {"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16}
_WORDS |= {"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60}
_WORDS |= {"seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "dozen": 12}
_PARTS = {"half": 1 / 2, "third": 1 / 3, "thirds": 1 / 3, "quarter": 1 / 4, "quarters": 1 / 4}
_PART = re.compile("half|third|quarter", re.IGNORECASE)
_OFTEN = {"once": 1, "twice": 2, "thrice": 3}

UNIT_NAMES = frozenset(_UNITS)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_IN_WORD = rf"[^\W{CJK}]"  # a character of a word that is written with spaces around it
_UNIT_ENDS = rf"(?!{_IN_WORD}|[²³])"
_PER = r"\s?/\s?|\s?每\s?|\s+per\s+|\s+an?\s+(?=day\b|week\b|month\b|year\b|hectare\b|mu\b|acre\b|head\b|kg\b)"
_UNIT_AFTER = re.compile(rf"\s?(?:-(?=[a-z]))?({_UNIT}){_UNIT_ENDS}((?:(?:{_PER})(?:{_UNIT}){_UNIT_ENDS})*)", re.IGNORECASE)
_DEGREES = re.compile(r"\s?(?:°|º|degrees?)\s?(C|F|Celsius|Fahrenheit)?\b|\s?(℃|℉)", re.IGNORECASE)
_TOKEN = re.compile(
    rf"(?<!{_IN_WORD})(?<!\.)(?P<fraction>(?:\d+\s)?\d+/\d+)(?!{_IN_WORD}|/)"
    rf"|(?:(?<!{_IN_WORD})(?<!\.)|(?<=(?<!{_IN_WORD})pH))(?P<number>{_NUMBER})(?!\d)"
    rf"|\b(?P<part>(?:(?:a|one|two|three)[\s-])?(?:half|thirds?|quarters?))\b|\b(?P<word>{'|'.join(_WORDS)})\b"
    rf"|\b(?P<often>once|twice|thrice)\b",
    re.IGNORECASE,
)
_PH_BEFORE = re.compile(
    rf"(?<!{_IN_WORD})pH(?:\s(?:[a-z]+\s){{0,3}}|\s?[=:<>≤≥]\s?|\s)?(?:\d[\d.]*\s?(?:-|to|and|or|到|至)\s?)?$", re.IGNORECASE
)
_LINK = re.compile(r"\s?(?:-|–|—|~|to|and|or|,|,\s?or|×|x|到|至|或|和|、)\s?", re.IGNORECASE)
_GOES_ON = re.compile(rf"\s?(?:-|to|and|or|,|到|至|或|和|、)\s?(?:\d|(?:{'|'.join(_WORDS)})\b)", re.IGNORECASE)
_RANGE = re.compile(rf"(?<![\w.,/-])({_NUMBER})\s?(?:-|to)\s?({_NUMBER})(?![\w.,/-]*\d)", re.IGNORECASE)
_COLUMN = re.compile(r"([^:;|]{1,80}?)\s?:\s?$")
_UNIT_IN_COLUMN = re.compile(
    rf"(?<!\d)(?<!\d )[(\[,]?\s?\b((?:{_UNIT})(?:(?:{_PER})(?:{_UNIT}))*){_UNIT_ENDS}\s?[)\]]?\s?$", re.IGNORECASE
)
_SMALL = {"-": "-", "–": "-", "—": "-", "−": "-", "‑": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " "}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in the base of its dimension; ``dimension`` is "" for a bare number, else e.g. ``mass`` or ``mass/area``.

    ``value`` and ``unit`` are as written (the unit in lower case), ``text`` is the place in the original.
    """

    text: str
    value: float
    unit: str
    dimension: str
    base: float
    exact: bool = True  # False for fractions: 0.33 stands for a third


def quantities(text: str) -> list[Quantity]:
    """All quantities of ``text`` in order; both ends of a range, each with the range's unit."""
    text = _plain(text)
    found: list[Quantity] = []
    ends: list[int] = []
    starts: list[int] = []
    for match in _TOKEN.finditer(text):
        quantity, end = _read(text, match)
        if quantity is None:
            continue
        found.append(quantity)
        starts.append(match.start())
        ends.append(end)
    # "5 to 10 mg", "2, 3 or 4 weeks": the unit stands once, at the end
    for index in range(len(found) - 2, -1, -1):
        after = found[index + 1]
        between = text[ends[index] : starts[index + 1]]
        if (
            not found[index].unit
            and not _PART.search(found[index].text)
            and after.unit
            and after.dimension != "times"
            and _LINK.fullmatch(between)
        ):
            found[index] = _measured(found[index], after.unit)
    return found


def falling_ranges(text: str) -> list[tuple[float, float]]:
    """Ranges written from the larger to the smaller number ("15 to 10 kg"), as ``(first, last)``; years and dates are none."""
    pairs = [(float(m[1].replace(",", "")), float(m[2].replace(",", ""))) for m in _RANGE.finditer(_plain(text))]
    return [(first, last) for first, last in pairs if first > last and not (first > 1000 and last < 100)]


def is_stated(claimed: Quantity, stated: Iterable[Quantity]) -> bool:
    """Whether a text with the quantities ``stated`` gives the number ``claimed``, in this unit or by conversion."""
    return any(_same(claimed, other) for other in stated)


def _same(one: Quantity, other: Quantity) -> bool:
    if one.dimension != other.dimension:
        # half is 50 %, and 0.3 of something is 30 %; a bare number is never a number of grams
        if {one.dimension, other.dimension} == {"", "fraction"} and not (one.exact and other.exact):
            return abs(one.base - other.base) <= CONVERSION_TOLERANCE * abs(other.base)
        return False
    if one.unit == other.unit and one.exact and other.exact:
        return abs(one.value - other.value) <= 1e-9 * max(abs(one.value), abs(other.value))
    if one.dimension == "temperature":
        return abs(one.base - other.base) <= DEGREE_TOLERANCE
    rounded = not (one.exact and other.exact) or _ROUNDED.search(one.unit) or _ROUNDED.search(other.unit)
    return abs(one.base - other.base) <= (CONVERSION_TOLERANCE if rounded else 1e-9) * max(abs(one.base), abs(other.base))


def _read(text: str, match: re.Match[str]) -> tuple[Quantity | None, int]:
    raw, end = match.group(), match.end()
    exact = True
    if match["often"]:
        return Quantity(raw, _OFTEN[raw.lower()], "times", "times", _OFTEN[raw.lower()]), end
    if match["fraction"]:
        whole, _, part = match["fraction"].rpartition(" ")
        above, below = map(int, part.split("/"))
        if below == 0 or below > 100:
            return None, end
        value = int(whole or 0) + above / below
        exact = False
    elif match["part"]:
        head, _, tail = match["part"].lower().replace("-", " ").rpartition(" ")
        if tail in ("third", "quarter") and not head:
            return None, end  # an ordinal, or a part of the year or of an animal
        value = _PARTS[tail] * (_WORDS.get(head, 1) if head else 1)
        exact = False
    elif match["word"]:
        value = float(_WORDS[match["word"].lower()])
    else:
        value = float(match["number"].replace(",", ""))
    if (
        match["part"]
        and (article := re.compile(r"\s(?:of\s)?an?(?=\s)").match(text, end))
        and _UNIT_AFTER.match(text, article.end())
    ):
        end = article.end()  # "half a litre"
    bare = Quantity(raw, value, "", "", value, exact)
    if degrees := _DEGREES.match(text, end):
        scale = (degrees[1] or degrees[2] or "C").upper()
        fahrenheit = scale in ("℉",) or scale.startswith("F")
        below_zero = (
            -1 if text[: match.start()].endswith(("-", "minus ")) and not re.search(r"\d\s?-$", text[: match.start()]) else 1
        )
        value *= below_zero
        base = (value - 32) / 1.8 if fahrenheit else value
        return Quantity(
            text[match.start() : degrees.end()], value, "°f" if fahrenheit else "°c", "temperature", base, exact
        ), degrees.end()
    if _PH_BEFORE.search(text, max(0, match.start() - 60), match.start()):
        return replace(bare, unit="ph", dimension="ph"), end
    if unit := _UNIT_AFTER.match(text, end):
        measured = _measured(bare, unit[1] + unit[2])
        return replace(measured, text=text[match.start() : unit.end()]), unit.end()
    if _GOES_ON.match(text, end):
        return bare, end  # the first of a range: the unit comes after the last
    column = _COLUMN.search(text, max(0, match.start() - 90), match.start())
    if column and (unit := _UNIT_IN_COLUMN.search(column[1])):
        return _measured(bare, unit[1]), end
    if match["word"] and match["word"].lower() == "one":
        return None, end  # a pronoun
    return bare, end


def _measured(bare: Quantity, unit: str) -> Quantity:
    if unit in ("°c", "°f"):
        base = (bare.value - 32) / 1.8 if unit == "°f" else bare.value
        return replace(bare, unit=unit, dimension="temperature", base=base)
    if unit == "ph":
        return replace(bare, unit=unit, dimension="ph")
    parts = [p.lower() for p in re.split(r"\s?[/每]\s?|\s+(?:per|an?)\s+", unit.strip(), flags=re.IGNORECASE)]
    dimensions, base = [], bare.value
    for index, part in enumerate(parts):
        dimension, factor = _UNITS[part]
        dimensions.append(dimension)
        base = base * factor if index == 0 else base / factor
    over = sorted(dimensions[1:])
    if dimensions[0] == "mass" and "mass" in over:  # mg/kg is parts per million
        over.remove("mass")
        dimensions[0] = "fraction"
    return replace(bare, unit="/".join(parts), dimension="/".join([dimensions[0], *over]), base=base)


def _plain(text: str) -> str:
    """NFKC would turn "½" into three characters and "m²" into "m2": do just that, and unify dashes and spaces."""
    text = re.sub(r"(?<=\d)(?=[¼½¾⅓⅔])", " ", text)
    text = unicodedata.normalize("NFKC", text.replace("º", "°").replace("℃", "°C").replace("℉", "°F"))
    text = text.replace("\u2044", "/")
    return "".join(_SMALL.get(c, c) for c in text)
