"""The closed set of relations, and the words that express them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types import Category, Kind, Statement, Termination
from hotmem.understanding.animate_nouns import FAMILY, PETS


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation and the defaults of its statements.

    Attributes:
        name: Its text between subject and object, part of the key by which statements collide.
        kind: Kind of its statements.
        category: Category of its statements.
        importance: 1 (passing) to 5 (must not be forgotten).
        single: Whether it has one value at a time, so that a new value supersedes.
        changes: Whether it changes with time.
    """

    name: str
    kind: Kind = Kind.FACT
    category: Category = Category.CONTEXTS
    importance: int = 3
    single: bool = False
    changes: bool = False

    def statement(self, subject: str, value: str, text: str, start: int, stop: int) -> Statement:
        """Build a statement of this relation.

        Args:
            subject: The person or thing it is about.
            value: The object.
            text: The full sentence.
            start: First character of its words in the turn.
            stop: One past the last character.
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
ANY_NAME: Final = Termination((), (IS_CALLED.name,))
"""What a new name ends, whichever the old one was: "my dog is called Max now"."""

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
    "plans to", kind=Kind.REMINDER, category=Category.REMINDERS, importance=3, changes=True
)
WANTS: Final = Relation(
    "wants", kind=Kind.CONTEXT, category=Category.PROJECTS, importance=2, changes=True
)
ASKS: Final = Relation("asks", kind=Kind.RULE, category=Category.SYSTEM, importance=5)
HAS_TO: Final = Relation(
    "has to", kind=Kind.REMINDER, category=Category.REMINDERS, importance=4, changes=True
)
IS_REMINDED: Final = Relation(
    "wants to be reminded",
    kind=Kind.REMINDER,
    category=Category.REMINDERS,
    importance=4,
    changes=True,
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
"""Names of the relations that end when something is given up, quit or left."""


def _by_words(table: Mapping[Relation, str]) -> Mapping[tuple[str, str], Relation]:
    """Invert a table of relations and the word pairs that express them."""
    return {
        (first, second): relation
        for relation, pairs in table.items()
        for first, second in map(str.split, pairs.split(", "))
    }


STATIVE_RELATIONS: Final = _by_words(
    {
        LIVES_IN: "live in, live near, live on, base in, settle in",
        LIVES_WITH: "live with, stay with",
        IS_FROM: "come from",
        WORKS_AT: "work at, work for, employ by, volunteer at, volunteer for",
        WORKS_AS: "work as, freelance as",
        WORKS_IN: "work in, run dobj, teach dobj, manage dobj",
        WORKS_ON: "work on, build dobj, write dobj",
        STUDIES: "study dobj, major in",
        STUDIES_AT: "study at",
        LEARNS: "learn dobj, learn xcomp, train for, practise dobj, practice dobj",
        CAN: "speak dobj, play dobj, sing in, play in, play for",
        HAS: "own dobj, drive dobj, collect dobj, grow dobj, keep dobj",
        LIKES: "like dobj, love dobj, enjoy dobj, adore dobj, like xcomp, love xcomp, enjoy "
        "xcomp, adore xcomp, obsess with",
        PREFERS: "prefer dobj, prefer xcomp",
        DISLIKES: "hate dobj, dislike dobj, hate xcomp, dislike xcomp, stand dobj, despise dobj",
        WANTS: "want dobj, look for, save for, plan dobj, wish for",
        KNOWS: "belong to, know dobj",
        WITH: "date dobj",
        HAS_CONDITION: "suffer from",
        REGULARLY: "take dobj, eat dobj, drink dobj",
    }
)
"""Relations of the present tense, by verb and complement: "dobj", "xcomp" or a preposition."""

COMPLEMENTS: Final[Mapping[Relation, frozenset[str]]] = {
    HAS: FAMILY
    | PETS
    | wordlist(
        "chicken goat animal guinea pig cow ferret friend roommate flatmate neighbour neighbor "
        "family house home apartment flat garden cottage farm "
        "car truck van bike bicycle motorcycle motorbike scooter boat camper piano guitar "
        "violin drum cello ukulele instrument job business company "
        "shop store bakery restaurant startup degree diploma licence license phd master blog "
        "channel podcast band appointment interview exam meeting "
        "flight wedding surgery operation reservation recital audition tattoo collection "
        "telescope camera greenhouse pool studio visa passport "
        "subscription membership scholarship internship phone laptop tablet"
    ),
    HAS_CONDITION: wordlist(
        "diabetes asthma allergy allergies migraine epilepsy arthritis cancer adhd autism "
        "depression anxiety dyslexia insomnia eczema "
        "celiac coeliac hypertension intolerance pacemaker ptsd ocd scoliosis lupus anemia "
        "anaemia condition disease disorder"
    ),
    CAN: wordlist(
        "guitar piano violin cello drums bass flute saxophone trumpet ukulele harp clarinet "
        "banjo keyboard tennis football soccer "
        "basketball volleyball chess golf rugby cricket badminton squash baseball hockey "
        "softball cards poker orchestra band choir team "
        "league english spanish french german italian portuguese russian chinese mandarin "
        "japanese korean arabic hindi dutch swedish polish "
        "turkish greek hebrew language languages instrument"
    ),
}
"""Heads of complements that are worth keeping; "has an idea" and "plays a role" are not."""

COPULAR_RELATIONS: Final = _by_words(
    {
        ALLERGIC_TO: "allergic to, intolerant to",
        FEARS: "afraid of, scared of, terrified of",
        MARRIED_TO: "married to, engaged to",
        LIKES: "fond of, interested in, fan of, obsessed with, addicted to, passionate about",
        KNOWS: "friends with",
        CAN: "good at, fluent in",
        BORN_IN: "born in, raised in",
    }
)
"""Relations of adjectives and nouns after "be", with their preposition."""
