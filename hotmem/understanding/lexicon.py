"""Word lists that several rules share."""

from typing import Final

from hotmem.text.word_sets import word_sets

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

EVENT_NOUNS: Final = _WORDS["event_nouns"]
"""Nouns of scheduled events: "the dentist is on Monday"."""

NAMEABLE_NOUNS: Final = ANIMATE | _WORDS["nameable_nouns"]
"""Nouns of people, animals and things that have names."""

POSSESSIONS: Final = _WORDS["possessions"]
"""Things, animals and people that somebody "has", often more than one."""
