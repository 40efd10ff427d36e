"""Facts of clauses whose verb is in no table: any verb with an informative complement."""

from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.temporal import TimeMention
from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types.parse import Token
from hotmem.understanding.facts.clauses import Clause, Tense
from hotmem.understanding.facts.phrases import phrase
from hotmem.understanding.facts.predicates import (
    Fact,
    complement,
    first_mention,
    inner_phrase,
    predicate_words,
)
from hotmem.understanding.facts.relations import DID, DOES, HAS, WANTS
from hotmem.understanding.facts.subjects import Subject

_WORDS: Final = word_sets(__file__)

_EMPTY_VERBS: Final = _WORDS["empty_verbs"]
"""Verbs about the conversation, or without meaning of their own."""

_EMPTY_NOUNS: Final = _WORDS["empty_nouns"]
"""Nouns that say nothing as a possession or an object."""

_DEICTIC_DETERMINERS: Final = wordlist("this that these those any more such your his her their its")
"""Determiners whose noun is known only from the conversation."""


def read_general_verb(
    clause: Clause, subject: Subject, mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """Yield the fact of a clause that fits no table, if it is informative.

    Args:
        clause: The clause; its verb is not "be".
        subject: Its resolved subject; only people and pets have such facts.
        mentions: The times in the utterance.
    """
    verb = clause.verb
    if (
        not subject.alive
        or (clause.subject is None and clause.finite.tag_ == "VBG" and not clause.frame)
        or clause.frame not in ("", "want", "used")
        or clause.tense is Tense.FUTURE
        or (verb.lemma_ in _EMPTY_VERBS and verb.lemma_ != "get")
    ):
        return
    words, inner = predicate_words(clause), inner_phrase(clause)
    mention = first_mention(words, mentions)
    head = complement(verb, "dobj")
    if verb.lemma_ in ("have", "own") or (verb.lower_ == "got" and clause.tense is Tense.PRESENT):
        if (
            head is not None
            and clause.frame in ("", "used")
            and verb.tag_ != "VBG"
            and _is_informative(head)
        ):
            yield Fact(HAS if clause.tense is Tense.PRESENT else DID, phrase(head), words)
        return
    if (
        verb.lemma_ == "get"
        and clause.tense is Tense.PAST
        and clause.frame == ""
        and head is not None
        and _is_informative(head)
    ):
        yield Fact(DID, inner, words)
        return
    if verb.lemma_ == "get" or not any(
        _is_informative(token)
        for token in inner
        if mention is None or not mention.start <= token.idx < mention.stop
    ):
        return
    relation = DID if clause.tense is Tense.PAST else WANTS if clause.frame == "want" else DOES
    yield Fact(relation, inner, words)


def _is_informative(token: Token) -> bool:
    """Whether a word is a noun or name that is meaningful by itself."""
    if (
        token.pos_ not in ("NOUN", "PROPN")
        or token.lemma_.lower() in _EMPTY_NOUNS
        or token.ent_type_ in ("DATE", "TIME", "CARDINAL", "ORDINAL")
    ):
        return False
    if (
        token.dep_ == "dobj"
        and token.tag_ in ("NN", "NNS")
        and [child.lower_ for child in token.children] == ["the"]
        and not _has_preposition(token.head)
    ):
        return False
    return not any(child.lower_ in _DEICTIC_DETERMINERS for child in token.children)


def _has_preposition(verb: Token) -> bool:
    """Whether the verb has a prepositional phrase, which makes its object generic.

    "the train" in "I take the train to work".
    """
    return any(child.dep_ == "prep" for child in verb.children)
