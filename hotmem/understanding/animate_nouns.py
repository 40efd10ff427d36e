"""Nouns for people and animals, as speakers use them of their family, friends and pets."""

from typing import Final

from hotmem.text.word_sets import wordlist

ELDERS: Final = wordlist(
    "mum mom mummy mommy dad daddy grandma grandpa granny gran grandad granddad"
)
"""Nouns that are used like names: "Grandma lives in a nursing home"."""

FAMILY: Final = ELDERS | wordlist(
    "son daughter kid child baby boy girl twin brother sister sibling wife husband partner "
    "boyfriend girlfriend fiance fiancé fiancée mother father "
    "parent uncle aunt cousin nephew niece grandson granddaughter grandchild grandmother "
    "grandfather stepson stepdaughter stepbrother stepsister "
    "stepmother stepfather"
)

ACQUAINTANCES: Final = wordlist(
    "friend roommate flatmate neighbour neighbor boss colleague coworker teacher doctor "
    "therapist coach dentist manager landlord ex"
)

PETS: Final = wordlist(
    "dog cat puppy kitten rabbit bunny hamster parrot bird fish horse pony goldfish turtle "
    "snake lizard pet"
)

UNIQUE_ROLES: Final = wordlist(
    "wife husband spouse partner fiance fiancé fiancée girlfriend boyfriend mother father mum "
    "mom mummy mommy dad daddy boss landlord"
)
"""Roles that one person holds at a time: "my wife" and "my wife Clara" are the same."""

SHARED_ROLES: Final = wordlist(
    "friend colleague coworker cousin neighbour uncle aunt niece nephew teacher flatmate classmate"
)
"""Roles that several people hold: a second name does not supersede the first, and "my friend" may
be a different one each time."""

FEMALE: Final = wordlist(
    "mum mom mummy mommy mother grandma granny gran grandmother stepmother wife girlfriend "
    "fiancée daughter girl sister aunt niece granddaughter stepdaughter stepsister"
)
"""Nouns for women and girls, whom "he" does not mean."""

MALE: Final = wordlist(
    "dad daddy father grandpa grandad granddad grandfather stepfather husband boyfriend "
    "fiancé son boy brother uncle nephew grandson stepson stepbrother"
)
"""Nouns for men and boys, whom "she" does not mean."""

ANIMATE: Final = FAMILY | ACQUAINTANCES | PETS
"""All people and pets that a speaker may call "my"."""
