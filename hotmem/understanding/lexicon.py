"""Word lists that several rules share."""

from typing import Final

from hotmem.text.word_sets import word_sets, wordlist

_WORDS: Final = word_sets(__file__)

ELDERS: Final = _WORDS["elders"]
"""Nouns that are used like names: "Grandma lives in a nursing home"."""

FAMILY: Final = ELDERS | _WORDS["family"]

ACQUAINTANCES: Final = _WORDS["acquaintances"]

PETS: Final = _WORDS["pets"]

UNIQUE_ROLES: Final = _WORDS["unique_roles"]
"""Roles that one person holds at a time: "my wife" and "my wife Clara" are the same."""

SHARED_ROLES: Final = _WORDS["shared_roles"]
"""Roles that several people hold: a second name does not supersede the first, and "my friend" may
be a different one each time."""

FEMALE: Final = _WORDS["female"]
"""Nouns for women and girls, whom "he" does not mean."""

MALE: Final = _WORDS["male"]
"""Nouns for men and boys, whom "she" does not mean."""

ANIMATE: Final = FAMILY | ACQUAINTANCES | PETS
"""All people and pets that a speaker may call "my"."""

EXCLUSIVE_VALUES: Final = (
    frozenset({"single", "married", "engaged", "divorced", "widowed", "separated"}),
    frozenset({"employed", "unemployed", "self-employed", "retired"}),
    wordlist("red blue green yellow black white grey gray silver brown orange purple pink beige"),
)
"""Values after "be" that exclude each other."""

FREQUENCY_VERBS: Final = frozenset(
    {"take", "eat", "drink", "keep", "write", "build", "run", "know", "stay"}
)
"""Verbs that need a frequency, a negation or the progressive: "take", "is writing a novel"."""

EVENT_VERBS: Final = _WORDS["event_verbs"]
"""Verbs whose past tense is an event worth keeping."""

NOTABLE_EVENT_VERBS: Final = _WORDS["notable_event_verbs"]
"""Verbs whose past tense is worth keeping even without a time."""

LASTING_ADJECTIVES: Final = _WORDS["lasting_adjectives"]
"""Adjectives after "I am" that say something lasting; "tired" and "happy" do not."""

TRAIT_ADJECTIVES: Final = _WORDS["trait_adjectives"]
"""Adjectives of character, appearance and condition."""

DETAIL_NOUNS: Final = _WORDS["detail_nouns"]
"""Attributes whose value is a word or a number: "my shoe size is 42"."""

GOAL_NOUNS: Final = frozenset({"dream", "goal", "plan", "ambition", "hope", "wish"})
"""Nouns whose complement is a goal: "my dream is to open a restaurant"."""

HOBBY_NOUNS: Final = frozenset({"hobby", "passion", "pastime", "interest", "hobbie"})
"""Nouns whose complement is liked: "my hobby is pottery"."""

EVENT_NOUNS: Final = _WORDS["event_nouns"]
"""Nouns of scheduled events: "the dentist is on Monday"."""

NAMEABLE_NOUNS: Final = ANIMATE | _WORDS["nameable_nouns"]
"""Nouns of people, animals and things that have names."""
