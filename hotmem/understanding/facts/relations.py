"""The bounded table of relations a statement can have, and the verbs that express them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types import Category, Kind, Statement
from hotmem.understanding.animate_nouns import ANIMATE, FAMILY, PETS


@dataclass(frozen=True, slots=True)
class Relation:
    """What is known of a relation before any statement of it is read.

    Attributes:
        name: How it reads between subject and object; part of the key under which statements
            collide.
        kind: What sort of statement it makes.
        category: Where such statements belong.
        importance: 1 (passing) to 5 (must not be forgotten).
        single: It takes one value at a time, so a new value supersedes.
        changes: It changes with time.
    """

    name: str
    kind: Kind = Kind.FACT
    category: Category = Category.CONTEXTS
    importance: int = 3
    single: bool = False
    changes: bool = False

    def statement(self, subject: str, value: str, text: str, start: int, stop: int) -> Statement:
        """A statement of this relation.

        Args:
            subject: Whom or what it is about.
            value: The object, as said.
            text: The whole of it as a sentence.
            start: First character of its words in the turn.
            stop: One past their last.
        """
        return Statement(
            text,
            subject,
            self.name,
            value,
            self.kind,
            self.category,
            self.importance,
            start,
            stop,
            changes=self.changes,
            single=self.single,
        )


IS_CALLED: Final = Relation("is called", importance=5, single=True)
LIVES_IN: Final = Relation("lives in", importance=4, single=True, changes=True)
LIVES_WITH: Final = Relation("lives with", importance=3, changes=True)
IS_FROM: Final = Relation("is from", importance=4, single=True)
WORKS_AT: Final = Relation("works at", importance=4, single=True, changes=True)
WORKS_AS: Final = Relation("works as", importance=4, single=True, changes=True)
WORKS_IN: Final = Relation("works in", importance=3, changes=True)
WORKS_ON: Final = Relation("works on", kind=Kind.CONTEXT, category=Category.PROJECTS, changes=True)
STUDIES: Final = Relation("studies", category=Category.LEARNINGS, importance=4, changes=True)
STUDIES_AT: Final = Relation(
    "studies at", category=Category.LEARNINGS, importance=4, single=True, changes=True
)
LEARNS: Final = Relation("learns", kind=Kind.SKILL, category=Category.LEARNINGS, changes=True)
CAN: Final = Relation("can", kind=Kind.SKILL)
HAS: Final = Relation("has", importance=3)
HAS_CONDITION: Final = Relation("has", importance=5)
ALLERGIC_TO: Final = Relation("is allergic to", importance=5)
IS: Final = Relation("is", importance=3)
IS_NOW: Final = Relation("is", importance=2, changes=True)
IS_OF_MAKE: Final = Relation("is", importance=3, single=True, changes=True)
IS_AGED: Final = Relation("is aged", importance=3, single=True, changes=True)
IS_ON: Final = Relation(
    "is on",
    kind=Kind.REMINDER,
    category=Category.REMINDERS,
    importance=4,
    single=True,
    changes=True,
)
IS_BORN_ON: Final = Relation("is on", importance=5, single=True)
IS_DETAIL: Final = Relation("is", importance=4, single=True, changes=True)
IS_IN: Final = Relation("is in", importance=3, single=True, changes=True)
FAVOURITE: Final = Relation("is", kind=Kind.PREFERENCE, importance=4, single=True, changes=True)
LIKES: Final = Relation("likes", kind=Kind.PREFERENCE)
DISLIKES: Final = Relation("dislikes", kind=Kind.PREFERENCE)
PREFERS: Final = Relation("prefers", kind=Kind.PREFERENCE)
FEARS: Final = Relation("is afraid of", kind=Kind.PREFERENCE)
MARRIED_TO: Final = Relation("is married to", importance=5, single=True, changes=True)
WITH: Final = Relation("is with", importance=4, single=True, changes=True)
KNOWS: Final = Relation("knows")
REGULARLY: Final = Relation("regularly", kind=Kind.PREFERENCE, changes=True)
DID: Final = Relation("did")
DOES: Final = Relation("does", importance=2, changes=True)
BORN_IN: Final = Relation("was born in", importance=4, single=True)
PLANS_TO: Final = Relation(
    "plans to", kind=Kind.CONTEXT, category=Category.REMINDERS, importance=3, changes=True
)
WANTS: Final = Relation(
    "wants", kind=Kind.CONTEXT, category=Category.PROJECTS, importance=2, changes=True
)
ASKS: Final = Relation("asks", kind=Kind.RULE, category=Category.SYSTEM, importance=5)
HAS_TO: Final = Relation(
    "has to", kind=Kind.REMINDER, category=Category.REMINDERS, importance=4, changes=True
)

PURSUIT_RELATIONS: Final = tuple(
    relation.name
    for relation in (
        WORKS_AT,
        WORKS_AS,
        WORKS_IN,
        WORKS_ON,
        STUDIES,
        STUDIES_AT,
        LEARNS,
        CAN,
        DOES,
        REGULARLY,
    )
)
"""Names of what people give up, quit, leave and do no more, in whatever words they told of it."""

EXCLUSIVE_VALUES: Final = (
    frozenset({"single", "married", "engaged", "divorced", "widowed", "separated"}),
    frozenset({"employed", "unemployed", "self-employed", "retired"}),
    frozenset(
        {
            "red",
            "blue",
            "green",
            "yellow",
            "black",
            "white",
            "grey",
            "gray",
            "silver",
            "brown",
            "orange",
            "purple",
            "pink",
            "beige",
        }
    ),
)
"""Values after "be" of which something has one at a time, though it may be many other things
too."""

STATIVE_RELATIONS: Final[Mapping[tuple[str, str], Relation]] = {
    ("live", "in"): LIVES_IN, ("live", "near"): LIVES_IN, ("live", "on"): LIVES_IN, ("live", "with"): LIVES_WITH, ("stay", "with"): LIVES_WITH,
    ("base", "in"): LIVES_IN, ("settle", "in"): LIVES_IN, ("come", "from"): IS_FROM,
    ("work", "at"): WORKS_AT, ("work", "for"): WORKS_AT, ("work", "as"): WORKS_AS, ("freelance", "as"): WORKS_AS,
    ("employ", "by"): WORKS_AT, ("work", "in"): WORKS_IN, ("work", "on"): WORKS_ON,
    ("build", "dobj"): WORKS_ON, ("write", "dobj"): WORKS_ON, ("run", "dobj"): WORKS_IN, ("teach", "dobj"): WORKS_IN, ("manage", "dobj"): WORKS_IN,
    ("study", "dobj"): STUDIES, ("study", "at"): STUDIES_AT, ("major", "in"): STUDIES, ("go", "school"): STUDIES_AT,
    ("learn", "dobj"): LEARNS, ("learn", "xcomp"): LEARNS, ("train", "for"): LEARNS, ("practise", "dobj"): LEARNS, ("practice", "dobj"): LEARNS,
    ("speak", "dobj"): CAN, ("play", "dobj"): CAN, ("sing", "in"): CAN, ("play", "in"): CAN, ("play", "for"): CAN,
    ("own", "dobj"): HAS, ("drive", "dobj"): HAS, ("collect", "dobj"): HAS, ("grow", "dobj"): HAS, ("keep", "dobj"): HAS,
    ("like", "dobj"): LIKES, ("love", "dobj"): LIKES, ("enjoy", "dobj"): LIKES, ("adore", "dobj"): LIKES,
    ("like", "xcomp"): LIKES, ("love", "xcomp"): LIKES, ("enjoy", "xcomp"): LIKES, ("adore", "xcomp"): LIKES,
    ("prefer", "dobj"): PREFERS, ("prefer", "xcomp"): PREFERS,
    ("hate", "dobj"): DISLIKES, ("dislike", "dobj"): DISLIKES, ("hate", "xcomp"): DISLIKES, ("dislike", "xcomp"): DISLIKES,
    ("want", "dobj"): WANTS, ("stand", "dobj"): DISLIKES, ("despise", "dobj"): DISLIKES,
    ("volunteer", "at"): WORKS_AT, ("volunteer", "for"): WORKS_AT, ("belong", "to"): KNOWS, ("date", "dobj"): WITH, ("know", "dobj"): KNOWS,
    ("obsess", "with"): LIKES, ("look", "for"): WANTS, ("save", "for"): WANTS, ("plan", "dobj"): WANTS, ("wish", "for"): WANTS,
    ("suffer", "from"): HAS_CONDITION, ("take", "dobj"): REGULARLY, ("eat", "dobj"): REGULARLY, ("drink", "dobj"): REGULARLY,
}  # fmt: skip
"""States of the present tense, by verb and complement: "dobj", "xcomp" or the preposition."""

FREQUENCY_VERBS: Final = frozenset(
    {"take", "eat", "drink", "keep", "write", "build", "run", "know", "stay"}
)
"""Verbs whose simple present says little: "take", "eat" and "drink" need a frequency or a
negation, the others go on now ("is writing a novel")."""

COMPLEMENTS: Final[Mapping[Relation, frozenset[str]]] = {
    HAS: FAMILY
    | PETS
    | wordlist(
        "chicken goat animal guinea pig cow ferret friend roommate flatmate neighbour neighbor family house home apartment flat garden cottage farm "
        "car truck van bike bicycle motorcycle motorbike scooter boat camper piano guitar violin drum cello ukulele instrument job business company "
        "shop store bakery restaurant startup degree diploma licence license phd master blog channel podcast band appointment interview exam meeting "
        "flight wedding surgery operation reservation recital audition tattoo collection telescope camera greenhouse pool studio visa passport "
        "subscription membership scholarship internship phone laptop tablet"
    ),
    HAS_CONDITION: wordlist(
        "diabetes asthma allergy allergies migraine epilepsy arthritis cancer adhd autism depression anxiety dyslexia insomnia eczema "
        "celiac coeliac hypertension intolerance pacemaker ptsd ocd scoliosis lupus anemia anaemia condition disease disorder"
    ),
    CAN: wordlist(
        "guitar piano violin cello drums bass flute saxophone trumpet ukulele harp clarinet banjo keyboard tennis football soccer "
        "basketball volleyball chess golf rugby cricket badminton squash baseball hockey softball cards poker orchestra band choir team "
        "league english spanish french german italian portuguese russian chinese mandarin japanese korean arabic hindi dutch swedish polish "
        "turkish greek hebrew language languages instrument"
    ),
}
"""Heads of complements that make the relation worth keeping; "has an idea" and "plays a role"
are not."""

EVENT_VERBS: Final = wordlist(
    "move visit go buy adopt get start finish quit leave lose meet graduate marry join win run make read watch see pass book order sell "
    "fly travel break open launch retire hire fire promote study attend complete sign paint cook bake learn climb plant publish "
    "celebrate bury divorce separate grow move work live teach play volunteer switch transfer apply enrol enroll drive hike camp donate "
    "rescue name give die hurt fracture sprain diagnose born"
)
"""Verbs whose past tense tells an event worth keeping."""

NOTABLE_EVENT_VERBS: Final = wordlist(
    "move adopt graduate marry join retire visit buy publish win divorce enrol enroll launch climb sell diagnose rescue bury attend "
    "travel quit finish run complete"
)
"""Events worth keeping even when no time is named."""

COPULAR_RELATIONS: Final[Mapping[tuple[str, str], Relation]] = {
    ("allergic", "to"): ALLERGIC_TO, ("intolerant", "to"): ALLERGIC_TO, ("afraid", "of"): FEARS, ("scared", "of"): FEARS, ("terrified", "of"): FEARS,
    ("married", "to"): MARRIED_TO, ("engaged", "to"): MARRIED_TO, ("fond", "of"): LIKES, ("interested", "in"): LIKES, ("fan", "of"): LIKES,
    ("friends", "with"): KNOWS, ("good", "at"): CAN, ("fluent", "in"): CAN, ("obsessed", "with"): LIKES, ("addicted", "to"): LIKES,
    ("passionate", "about"): LIKES,
    ("born", "in"): BORN_IN, ("raised", "in"): BORN_IN,
}  # fmt: skip
"""Adjectives and nouns after "be" with their preposition."""

LASTING_ADJECTIVES: Final = wordlist(
    "vegetarian vegan pescatarian married divorced single engaged widowed retired unemployed pregnant diabetic asthmatic epileptic gay "
    "lesbian bisexual trans deaf blind colourblind colorblind autistic dyslexic celiac coeliac left-handed jewish muslim catholic "
    "christian buddhist hindu atheist adopted self-employed freelance bilingual introverted extroverted sober intolerant"
)
"""Adjectives after "I am" that say something lasting; "tired" and "happy" do not."""

TRAIT_ADJECTIVES: Final = wordlist(
    "tall short shy outgoing overweight skinny thin blonde blond brunette bald quiet lazy stubborn creative artistic athletic active clumsy "
    "impatient patient curious adventurous competitive religious spiritual conservative liberal republican democrat male female straight famous rich "
    "wealthy poor homeless disabled handicapped paralysed paralyzed nearsighted short-sighted colour-blind color-blind dyslexic insomniac anxious "
    "depressed lonely old young elderly middle-aged handy crafty nerdy geeky organised organized messy punctual optimistic pessimistic superstitious "
    "frugal thrifty picky allergic intolerant strong fit healthy homeschooled educated undocumented lefthanded handed ambidextrous vegetarian"
)
"""Adjectives that tell what someone is like, or has become."""

DETAIL_NOUNS: Final = wordlist(
    "number address email e-mail pin password code size height weight postcode zip username wifi extension surname"
)
"""What of someone is a word or a number: "my shoe size is 42"."""

GOAL_NOUNS: Final = frozenset({"dream", "goal", "plan", "ambition", "hope", "wish"})
"""What of someone is something to be done: "my dream is to open a restaurant"."""

HOBBY_NOUNS: Final = frozenset({"hobby", "passion", "pastime", "interest", "hobbie"})
"""What of someone is liked: "my hobby is pottery"."""

EVENT_NOUNS: Final = wordlist(
    "dentist appointment exam test meeting interview wedding party concert flight trip funeral surgery operation match game lesson deadline "
    "recital conference dinner lunch picnic rehearsal audition hearing checkup delivery inspection ceremony reunion viewing haircut barbecue "
    "physio workshop course class session call tournament webinar lecture seminar"
)
"""What takes place at a time: "the dentist is on Monday" is kept."""

NAMEABLE_NOUNS: Final = ANIMATE | wordlist(
    "boat car company band shop bakery restaurant startup business blog podcast channel farm school team robot bot surname"
)
"""What bears a name."""
