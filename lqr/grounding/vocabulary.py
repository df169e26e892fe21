"""Words that must not be exchanged: animals, crops, months, seasons, and words that turn a sentence round.

Lists only; what follows from them is decided in ``checks``. The lists hold what extension articles are about, and are
open to additions.
"""

from __future__ import annotations


def _set(spaced: str) -> frozenset[str]:
    return frozenset(spaced.split())


# species -> its generic words, then groups of the words for one sex, age or use
ANIMALS: dict[str, tuple[str, ...]] = {
    "sheep": (
        "sheep ovine flock flocks",
        "ewe ewes",
        "ram rams tup tups",
        "lamb lambs",
        "hogget hoggets hogg hoggs",
        "wether wethers",
        "gimmer gimmers shearling shearlings",
    ),
    "goat": ("goat goats caprine", "doe does nanny nannies", "buck bucks billy billies", "kid kids"),
    "cattle": ("cattle bovine", "cow cows", "calf calves", "bull bulls", "heifer heifers", "steer steers bullock bullocks"),
    "pig": ("pig pigs swine porcine", "sow sows gilt gilts", "boar boars", "piglet piglets"),
    "horse": ("horse horses equine", "mare mares", "stallion stallions", "foal foals", "pony ponies"),
    "donkey": ("donkey donkeys", "mule mules"),
    "poultry": (
        "poultry",
        "chicken chickens",
        "hen hens layer layers",
        "broiler broilers",
        "duck ducks",
        "goose geese",
        "turkey turkeys",
    ),
    "dog": ("dog dogs canine", "puppy puppies"),
    "cat": ("cat cats",),
    "camel": ("camel camels",),
    "yak": ("yak yaks",),
    "buffalo": ("buffalo buffaloes",),
    "deer": ("deer",),
    "rabbit": ("rabbit rabbits",),
    "alpaca": ("alpaca alpacas llama llamas",),
    "bee": ("bee bees",),
    "fish": ("fish",),
}
# "ewes do" and "the layer of soil" are no animals: these count only if nothing else of the species contradicts
AMBIGUOUS = _set("does layer layers sow kid kids buck bucks billy mare cat steer fish turkey hogg")

CROPS: tuple[str, ...] = (
    "wheat",
    "rice|paddy",
    "maize|corn",
    "sweet potato|sweet potatoes",
    "potato|potatoes",
    "rapeseed|oilseed rape|canola",
    "soybean|soybeans|soya|soy",
    "cotton",
    "tea",
    "citrus|orange|oranges|mandarin|mandarins|pomelo|satsuma",
    "barley",
    "oat|oats",
    "rye",
    "ryegrass",
    "sorghum",
    "millet",
    "alfalfa|lucerne",
    "white clover",
    "red clover",
    "vetch",
    "sainfoin",
    "groundnut|groundnuts|peanut|peanuts",
    "sugar beet",
    "sugarcane",
    "sunflower",
    "tomato|tomatoes",
    "cabbage",
    "onion|onions",
    "cassava",
    "banana|bananas",
    "apple|apples",
    "fescue",
    "timothy",
    "cocksfoot|orchardgrass",
)

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
SEASONS = ("spring", "summer", "autumn|fall", "winter")

NEGATORS = _set("not no never cannot without neither nor none n't avoid unless")
# Words that say that something does harm, and those that say it does none.
HARM = _set(
    "toxic poisonous poison poisons poisoning poisoned kill kills killed fatal lethal deadly death deaths die dies died "
    "dangerous harmful unsafe danger prohibited forbidden illegal banned abort abortion"
)
HARMLESS = _set("safe safely harmless nontoxic non-toxic ok okay fine suitable")
# A claim that has one of these without its partner, where the passage has the partner only, says the opposite.
OPPOSITES: tuple[tuple[str, str], ...] = (
    ("increase|increases|increased|increasing|raise|raises|raised|rise|rises|higher|more",
     "decrease|decreases|decreased|decreasing|reduce|reduces|reduced|lower|lowers|lowered|less|fewer|fall|falls"),
    ("before", "after"),
    ("above|over|exceeds|exceed", "below|under"),
    ("at least|minimum|no less than|not less than", "at most|maximum|no more than|not more than|up to"),
    ("early|earlier", "late|later"),
    ("wet|moist|damp", "dry"),
    ("always", "never"),
    ("allowed|permitted|legal", "forbidden|prohibited|banned|illegal"),
    ("susceptible", "resistant|immune|tolerant"),
    ("deficiency|deficient|shortage|lack", "excess|surplus|poisoning|toxicity"),
    ("male|males", "female|females"),
    ("contagious|infectious", "non-contagious"),
    ("acid|acidic", "alkaline"),
    ("warm|hot", "cold|cool"),
)  # fmt: skip
