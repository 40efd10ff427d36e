"""Word lists that several rules share."""

from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.understanding.animate_nouns import ANIMATE

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

EVENT_VERBS: Final = wordlist(
    "move visit go buy adopt get start finish quit leave lose meet graduate marry join win run "
    "make read watch see pass book order sell "
    "fly travel break open launch retire hire fire promote study attend complete sign paint "
    "cook bake learn climb plant publish "
    "celebrate bury divorce separate grow move work live teach play volunteer switch transfer "
    "apply enrol enroll drive hike camp donate "
    "rescue name give die hurt fracture sprain diagnose born"
)
"""Verbs whose past tense is an event worth keeping."""

NOTABLE_EVENT_VERBS: Final = wordlist(
    "move adopt graduate marry join retire visit buy publish win divorce enrol enroll launch "
    "climb sell diagnose rescue bury attend "
    "travel quit finish run complete"
)
"""Verbs whose past tense is worth keeping even without a time."""

LASTING_ADJECTIVES: Final = wordlist(
    "vegetarian vegan pescatarian married divorced single engaged widowed retired unemployed "
    "pregnant diabetic asthmatic epileptic gay "
    "lesbian bisexual trans deaf blind colourblind colorblind autistic dyslexic celiac coeliac "
    "left-handed jewish muslim catholic "
    "christian buddhist hindu atheist adopted self-employed freelance bilingual introverted "
    "extroverted sober intolerant"
)
"""Adjectives after "I am" that say something lasting; "tired" and "happy" do not."""

TRAIT_ADJECTIVES: Final = wordlist(
    "tall short shy outgoing overweight skinny thin blonde blond brunette bald quiet lazy "
    "stubborn creative artistic athletic active clumsy "
    "impatient patient curious adventurous competitive religious spiritual conservative liberal "
    "republican democrat male female straight famous rich "
    "wealthy poor homeless disabled handicapped paralysed paralyzed nearsighted short-sighted "
    "colour-blind color-blind dyslexic insomniac anxious "
    "depressed lonely old young elderly middle-aged handy crafty nerdy geeky organised "
    "organized messy punctual optimistic pessimistic superstitious "
    "frugal thrifty picky allergic intolerant strong fit healthy homeschooled educated "
    "undocumented lefthanded handed ambidextrous vegetarian"
)
"""Adjectives of character, appearance and condition."""

DETAIL_NOUNS: Final = wordlist(
    "number address email e-mail pin password code size height weight postcode zip username "
    "wifi extension surname"
)
"""Attributes whose value is a word or a number: "my shoe size is 42"."""

GOAL_NOUNS: Final = frozenset({"dream", "goal", "plan", "ambition", "hope", "wish"})
"""Nouns whose complement is a goal: "my dream is to open a restaurant"."""

HOBBY_NOUNS: Final = frozenset({"hobby", "passion", "pastime", "interest", "hobbie"})
"""Nouns whose complement is liked: "my hobby is pottery"."""

EVENT_NOUNS: Final = wordlist(
    "dentist appointment exam test meeting interview wedding party concert flight trip funeral "
    "surgery operation match game lesson deadline "
    "recital conference dinner lunch picnic rehearsal audition hearing checkup delivery "
    "inspection ceremony reunion viewing haircut barbecue "
    "physio workshop course class session call tournament webinar lecture seminar"
)
"""Nouns of scheduled events: "the dentist is on Monday"."""

NAMEABLE_NOUNS: Final = ANIMATE | wordlist(
    "boat car company band shop bakery restaurant startup business blog podcast channel farm "
    "school team robot bot surname"
)
"""Nouns of people, animals and things that have names."""
