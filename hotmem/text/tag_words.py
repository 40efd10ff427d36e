"""Words that tags are compared by: abbreviations, spellings, and compounds that stay whole.

English, from general knowledge. In the singular and in lower case.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

ABBREVIATIONS: Final[Mapping[str, str]] = {
    "appt": "appointment",
    "bday": "birthday",
    "biz": "business",
    "db": "database",
    "golang": "go",
    "js": "javascript",
    "k8s": "kubernetes",
    "ml": "machine learning",
    "next.js": "next.js",
    "nextjs": "next.js",
    "node.js": "node.js",
    "nodejs": "node.js",
    "nyc": "new york",
    "pic": "picture",
    "postgres": "postgresql",
    "react.js": "react",
    "reactjs": "react",
    "rpi": "raspberry pi",
    "ts": "typescript",
    "vscode": "visual studio code",
    "vs code": "visual studio code",
    "vue.js": "vue",
    "vuejs": "vue",
}
"""Short forms, each with the long form that is the tag, and names with a dot."""

SPELLINGS: Final[Mapping[str, str]] = {
    "aeroplane": "plane",
    "ai": "artificial intelligence",
    "airplane": "plane",
    "aluminum": "aluminium",
    "apartment": "flat",
    "backpack": "rucksack",
    "bike": "bicycle",
    "brother in law": "brother in law",
    "catalog": "catalogue",
    "cell phone": "mobile phone",
    "cellphone": "mobile phone",
    "center": "centre",
    "color": "colour",
    "couch": "sofa",
    "daddy": "dad",
    "daughter in law": "daughter in law",
    "diaper": "nappy",
    "donut": "doughnut",
    "driver license": "driving licence",
    "driver licence": "driving licence",
    "driving license": "driving licence",
    "e bike": "e bike",
    "electric bicycle": "e bike",
    "electric bike": "e bike",
    "elevator": "lift",
    "examination": "exam",
    "father": "dad",
    "father in law": "father in law",
    "favorite": "favourite",
    "fiber": "fibre",
    "flavor": "flavour",
    "granddad": "grandpa",
    "grandfather": "grandpa",
    "grandmother": "grandma",
    "granny": "grandma",
    "gray": "grey",
    "gymnasium": "gym",
    "harbor": "harbour",
    "humor": "humour",
    "influenza": "flu",
    "jewelry": "jewellery",
    "kid": "child",
    "license": "licence",
    "liter": "litre",
    "math": "maths",
    "mathematics": "maths",
    "mold": "mould",
    "mom": "mum",
    "mommy": "mum",
    "mother": "mum",
    "mother in law": "mother in law",
    "movie": "film",
    "mummy": "mum",
    "neighbor": "neighbour",
    "organization": "organisation",
    "pajama": "pyjama",
    "photograph": "photo",
    "physiotherapy": "physio",
    "refrigerator": "fridge",
    "sister in law": "sister in law",
    "son in law": "son in law",
    "telephone": "phone",
    "television": "tv",
    "telly": "tv",
    "theater": "theatre",
    "tire": "tyre",
    "trash": "rubbish",
    "truck": "lorry",
    "vacation": "holiday",
    "veterinarian": "vet",
    "yogurt": "yoghurt",
    "zip code": "postcode",
    "zipcode": "postcode",
}
"""Spellings and everyday synonyms, each with the form that stands for both in comparisons; the tag
keeps the user's word. A phrase that stands for itself is not turned round at its preposition."""

IRREGULAR: Final[Mapping[str, str]] = {
    "belongings": "belongings",
    "calves": "calf",
    "children": "child",
    "clothes": "clothes",
    "customs": "customs",
    "data": "data",
    "earnings": "earnings",
    "feet": "foot",
    "geese": "goose",
    "glasses": "glasses",
    "goods": "goods",
    "groceries": "groceries",
    "halves": "half",
    "hooves": "hoof",
    "jeans": "jeans",
    "knives": "knife",
    "leaves": "leaf",
    "lens": "lens",
    "lenses": "lens",
    "lives": "life",
    "loaves": "loaf",
    "media": "media",
    "men": "man",
    "mice": "mouse",
    "news": "news",
    "pants": "pants",
    "people": "person",
    "premises": "premises",
    "pyjamas": "pyjamas",
    "savings": "savings",
    "scarves": "scarf",
    "scissors": "scissors",
    "series": "series",
    "shelves": "shelf",
    "shorts": "shorts",
    "species": "species",
    "stairs": "stairs",
    "teeth": "tooth",
    "thieves": "thief",
    "tights": "tights",
    "trousers": "trousers",
    "wives": "wife",
    "wolves": "wolf",
    "women": "woman",
}
"""Plurals with their singulars, and plurals that mean something else than their singular."""

COMPOUNDS: Final = frozenset(
    """
    address-book air-conditioning air-fryer alarm-clock baby-monitor back-end baking-soda
    bank-holiday bath-tub birth-certificate black-box black-hole blood-pressure blood-test
    board-game boarding-pass bus-stop business-card camper-van car-park card-game cast-iron
    cell-phone check-list check-up chewing-gum child-care christmas-tree city-hall civil-service
    climate-change comfort-zone common-sense contact-lens corner-shop credit-card customer-service
    debit-card dining-room dish-washer driving-licence driving-license dry-cleaning e-bike e-mail
    electric-bike electric-car emergency-room fairy-tale ferris-wheel field-trip fire-alarm
    first-aid fish-tank flash-light french-fry front-end fruit-fly frying-pan garage-sale
    gas-station gift-card ground-floor guinea-pig half-marathon hard-drive hay-fever head-phone
    hearing-aid heart-attack heat-pump high-school home-office home-work hot-dog ice-cream
    ice-hockey ice-skating identity-card jigsaw-puzzle junk-food kidney-stone lap-top lawn-mower
    letter-box life-guard life-style living-room lost-property lunch-box machine-learning make-up
    maple-syrup mental-health middle-school milk-shake mother-tongue mountain-bike nail-polish
    night-shift northern-light nursing-home oat-milk olive-oil orange-juice oven-glove parking-lot
    parking-space parking-ticket passion-fruit peanut-butter pen-friend piggy-bank ping-pong
    polar-bear post-office power-bank power-cut pressure-cooker primary-school public-holiday
    public-transport raspberry-pi real-estate red-wine remote-control retirement-home road-trip
    rock-climbing roller-coaster root-canal running-shoe search-engine second-hand secondary-school
    sewing-machine side-effect ski-boot sleeping-bag sleeping-pill smoke-alarm smoke-detector
    social-media soft-drink solar-panel soy-milk soya-milk spare-time speed-camera spread-sheet
    spring-roll star-sign stock-market summer-camp support-group sweet-potato swimming-pool
    table-tennis tax-return tea-towel teddy-bear text-message time-table time-zone town-hall
    traffic-jam traffic-light train-station trash-can user-interface vacuum-cleaner video-call
    video-game voice-assistant voice-mail waiting-list waiting-room walking-stick washing-line
    washing-machine washing-powder weather-forecast web-shop web-site white-wine wi-fi wine-glass
    wisdom-tooth x-ray yoga-mat youth-hostel zip-code
    """.split()  # noqa: SIM905 - a paragraph reads better than two hundred quoted words
)
"""Pairs of words that together mean another thing than one alone: a tag is "ice cream", no "cream".

Both words in the singular, with a hyphen between them."""


SHORT: Final = 3
"""Letters of words that are compared as they are: "bus", "gas"."""

MAX_PHRASE_WORDS: Final = 3
"""Words of the longest abbreviation or spelling."""

_POSSESSIVE: Final = re.compile(r"['’]s\b|['’]")
_WORD: Final = re.compile(r"[^\W_]+(?:\.[^\W_]+)*[+#]*")
_PREPOSITIONS: Final = frozenset({"about", "at", "for", "from", "in", "of", "on", "to", "with"})
_DETERMINERS: Final = frozenset(
    {"a", "an", "her", "his", "its", "my", "our", "the", "their", "your"}
)
_PLURAL: Final = re.compile(r"(?<=[osxz])es$|(?<=[cs]h)es$|(?<=[^sui])s$")
_FINAL_E: Final = re.compile(r"(?<=[osxz])e$|(?<=[cs]h)e$")


@lru_cache(maxsize=8192)
def tag_key(tag: str) -> str:
    """The key of a tag: its words in one spelling, in the singular, and without spaces.

    "front end", "Front-End" and "frontend" have the same key, as have "JS" and "javascript", "tyre"
    and "tires", "mum's birthday" and "the birthday of my mother". A tag without words is its own
    key: "🎉".
    """
    words = _respelled(_WORD.findall(_POSSESSIVE.sub("", tag.casefold())))
    for place, word in enumerate(words[1:-1], 1):
        if word in _PREPOSITIONS:
            words = [*words[place + 1 :], *words[:place]]
            break
    words = [word for word in words if word not in _DETERMINERS] or words
    return "".join(words).replace(" ", "") or tag.casefold()


def long_form(tag: str) -> str:
    """The long form of a tag that is an abbreviation; any other tag as it is."""
    return ABBREVIATIONS.get(tag, tag)


def head(tag: str) -> str | None:
    """The last word of a tag of several words; None if they mean something only together."""
    words = tag.split()
    return None if len(words) < 2 or "-".join(words[-2:]) in COMPOUNDS else words[-1]


def _respelled(words: list[str]) -> list[str]:
    """The words in the singular and in one spelling; a phrase of the tables is one element."""
    words = [_singular(word) for word in words]
    found: list[str] = []
    place = 0
    while place < len(words):
        for length in range(MAX_PHRASE_WORDS, 0, -1):
            phrase = " ".join(words[place : place + length])
            if length == 1 or phrase in _FORMS:
                found.append(_FORMS.get(phrase, phrase))
                place += length
                break
    return found


def _singular(word: str) -> str:
    """The singular of a word, for comparisons alone: "hous" for "house" and "houses"."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= SHORT:
        return word
    if word.endswith(("ies", "ie")):
        return word.removesuffix("s").removesuffix("ie") + "y"
    return _FINAL_E.sub("", _PLURAL.sub("", word))


_FORMS: Final = {
    " ".join(map(_singular, form.split())): " ".join(map(_singular, other.split()))
    for form, other in {**ABBREVIATIONS, **SPELLINGS}.items()
}
