"""Features of usage detection: shared words that are new, cues, and cosines."""

import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul
from hotmem.models import Encoder
from hotmem.text.numerals import numbers
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.word_sets import wordlist

COMMON_WORDS: Final = """
a about after again all also am an and any are as at back be because been before but by called can
could did do does doing done down for from get go going good got had has have he her here hers him
his how i if in into is it its just know like made make many may me mention mentioned might more
most much my name no not now of off ok okay on one only or other our out over own really remember
said same say says she should so some still such sure tell than that the their them then there these
they thing think this those through to today told too under until up us very want was way we well
were what when where which while who whom whose why will with would yeah yes you your
"""
"""Words that say nothing about the source of a reply."""

COMMON_STEMS: Final = stems(COMMON_WORDS) | STOP_STEMS

PERSON: Final = "@"
"""Replaces words that change with the speaker: "my" in an item is "your" in a reply."""

_PERSONS: Final = wordlist(
    "i me my mine we us our ours you your yours user users user's the he his him she her hers "
    "they their them am are is "
    "i'm you're i've you've i'd you'd i'll you'll we're we've he's she's"
)
_MONTHS: Final = wordlist(
    "january february march april june july august september october november december"
)
"""Month names without "May", which is also a verb."""

_WORD: Final = re.compile(r"\w+(?:'\w+)*")
_NAME: Final = re.compile(r"(?<=\S )[A-Z][\w'-]+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_CLAUSE_END: Final = re.compile(
    r"(?<=[.!?;:])\s+|,\s+(?=(?:and|but|so|or|because|since|as|which|who|that|if|when|though"
    r"|although)\b)|\s+[–—-]\s+|\n+"
)


def words(text: str) -> list[str]:
    """The words of a text in lower case, in order, with straight apostrophes."""
    return _WORD.findall(text.casefold().replace("’", "'"))


def person_neutral_words(text: str) -> list[str]:
    """The words of a text, with `PERSON` for every word that changes with the speaker."""
    return [PERSON if word in _PERSONS else word for word in words(text)]


def split_clauses(text: str) -> list[str]:
    """Split a text at stops, dashes, and commas before conjunctions."""
    return [clause.strip() for clause in _CLAUSE_END.split(text) if _WORD.search(clause)]


def content_stems(text: str) -> frozenset[str]:
    """Stems of the content words of a text."""
    return stems(text) - COMMON_STEMS


def numbers_and_months(text: str) -> frozenset[str]:
    """The numbers and months of a text."""
    return numbers(_THOUSANDS.sub("", text)) | _MONTHS.intersection(words(text))


def capitalized_words(text: str) -> frozenset[str]:
    """Capitalised words that do not begin the text, in lower case, without a final 's."""
    found = _NAME.findall(text.replace("’", "'"))
    return frozenset(word.casefold().removesuffix("'s") for word in found) - _PERSONS


def plain_words(text: str) -> frozenset[str]:
    """The words of a text, without duplicates and without a final 's."""
    return frozenset(word.removesuffix("'s") for word in words(text))


@dataclass(frozen=True, slots=True)
class TextWords:
    """The words of a text, as they are compared.

    Attributes:
        in_order: All words in order, with `PERSON` for words that change with the speaker.
        stems: Stems of all words.
        content: Stems of the content words.
        plain: All words, without a final 's.
        names: Capitalised words that do not begin the text.
        numbers: Numbers and months.
    """

    in_order: Sequence[str]
    stems: frozenset[str]
    content: frozenset[str]
    plain: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """The words of a text."""
        found = stems(text)
        return cls(
            person_neutral_words(text),
            found,
            found - COMMON_STEMS,
            plain_words(text),
            capitalized_words(text),
            numbers_and_months(text),
        )


class SharedRuns(NamedTuple):
    """The word sequences that two texts share.

    Attributes:
        longest: The longest one.
        total: Number of words in sequences of two and more.
    """

    longest: tuple[str, ...]
    total: int


class RunFinder:
    """Finds word sequences that texts share with a reply.

    Args:
        reply: The reply's words, from `person_neutral_words`.
    """

    def __init__(self, reply: Sequence[str]) -> None:
        self._matcher = SequenceMatcher(None, (), reply, autojunk=False)

    def shared(self, text: Sequence[str]) -> SharedRuns:
        """Find the word sequences that a text shares with the reply."""
        self._matcher.set_seq1(text)
        blocks = [block for block in self._matcher.get_matching_blocks() if block.size > 1]
        longest = (
            max(blocks, key=lambda block: block.size, default=None)
            or self._matcher.find_longest_match()
        )
        return SharedRuns(
            tuple(text[longest.a : longest.a + longest.size]), sum(block.size for block in blocks)
        )


EXAMPLES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
"""Examples of kinds of questions, clauses of replies and items, which these are compared with."""

NEGATION: Final = re.compile(
    r"\b(?:not|no|never|without|nobody|none|neither|cannot|nothing|stop(?:ped)?|quit"
    r"|cancelled|any ?more|no longer|hates?|dislikes?|avoids?)\b|n't\b",
    re.IGNORECASE,
)
IGNORANCE: Final = re.compile(
    r"\b(?:(?:do|did)(?:n't| not) (?:know|remember|recall|have)|no idea|not sure"
    r"|no (?:information|record|note|access|memory)|nothing about"
    r"|(?:can|could)(?:not|n't| not) (?:tell|say|find|see|help|give|remember|hear|look)"
    r"|never (?:told|mentioned|said)|nobody has told"
    r"|(?:have|'ve|has)(?:n't| not| never) (?:told|mentioned|said|got)|i'd love to know"
    r"|unfortunately|(?:i'm )?afraid i|sorry)\b",
    re.IGNORECASE,
)
ATTRIBUTION: Final = re.compile(
    r"\b(?:you (?:said|told|mentioned|wrote|once)|you've (?:said|told|mentioned)|as you"
    r"|from what you|if i (?:recall|remember)|according to"
    r"|i (?:believe|gather|think))\b",
    re.IGNORECASE,
)
ADVICE_REQUEST: Final = re.compile(
    r"\b(?:should|shall|could|what can|where can|suggest|recommend|ideas?|tips?|advice|any"
    r"|plan|let's|give me|make me|recipe|good|need|teach|help"
    r"|how can|how do i|tell me a|pick|best)\b",
    re.IGNORECASE,
)
QUESTION: Final = re.compile(
    r"\?|^(?:what|when|where|who|which|how|do|is|did|was|are|why)\b", re.IGNORECASE
)
WHY: Final = re.compile(r"why|how come", re.IGNORECASE)
FIRST_PERSON: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|we|us|our)\b", re.IGNORECASE)
SECOND_PERSON: Final = re.compile(
    r"\b(?:you|your|yours|you're|you've|you'll|you'd)\b", re.IGNORECASE
)
PROPOSAL: Final = re.compile(
    r"\b(?:i'd|i would|would|could|might|maybe|perhaps|how about|what about|why not|let's|try"
    r"|take|get|put|don't|avoid|instead|better|rather"
    r"|without|no|can)\b",
    re.IGNORECASE,
)


QUOTE_WORDS: Final = 4
"""Length of a quote in words; three common words are often an idiom ("I would like")."""

MAX_RUN: Final = 10
MAX_WORDS: Final = 5
"""Upper bounds of the length of a shared run and of counts of shared words."""

MAX_CLAUSES: Final = 6
"""Maximum number of a reply's clauses that are embedded, those with the most content words."""

PASS_CHARACTERS: Final = 40
"""Fixed cost of an encoder pass, in characters."""

CLAUSE_CHARACTERS: Final = 400
"""Number of characters of a text that are embedded."""

FEATURES: Final = (
    *("longest_run", "run_new_words", "run_of_item", "run_of_reply", "quotes", "quotes_new"),
    *("run_of_new", "in_runs", "content_shared", "content_words", "reply_content_shared"),
    *("echoed", "nothing_new", "number", "name", "other_name", "item_negated", "item_length"),
    *("item_named", "about_user_or_named", "denies_knowledge", "attributes", "addresses"),
    *("proposes", "reply_negated", "reply_length", "wants_advice", "asks", "of_self", "why"),
    *("question_length", "near_reply", "near_clause", "near_question", "near_beyond_question"),
    *("near_more_than_question", "reply_nearer", "clause_nearer"),
    *(f"question_{kind}" for kind in EXAMPLES["question"]),
    *(f"clause_{kind}" for kind in EXAMPLES["clause"]),
    *(f"reply_{kind}" for kind in EXAMPLES["clause"]),
    *(f"item_{kind}" for kind in EXAMPLES["item"]),
)
"""The model's features, in order: lexical ones, and from `near_reply` on cosines."""

_FIRST_NAME: Final = re.compile(r"[A-Z]\w+")
_NOT_NAMES: Final = frozenset({"i", "my", "our", "we", "the", "user"})


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """A question and the reply to it, prepared for comparison with items.

    Attributes:
        question: The words of the user's utterance.
        reply: The words of the reply.
        known: The words of the question and of the visible texts.
        runs: Finds runs of words that an item shares with the reply.
        rows: Unit rows of question, reply and clauses, float32 (2 + clauses, dimension).
        features: Features that are the same for all items.
    """

    question: TextWords
    reply: TextWords
    known: TextWords
    runs: RunFinder
    rows: NDArray[np.float32]
    features: Mapping[str, float]

    @classmethod
    def of(
        cls, encoder: Encoder, question: str, reply: str, visible: Sequence[str] = ()
    ) -> "ReplyContext":
        """Prepare a question and the reply. Blocking.

        It encodes the reply and each of its clauses; the question's row is cached by the recall.

        Args:
            encoder: The memory's encoder.
            question: The user's utterance.
            reply: The part of the reply that was heard, not empty.
            visible: Other texts in the language model's context.
        """
        asked, heard = TextWords.of(question), TextWords.of(reply)
        parts = _most_informative(split_clauses(reply))
        spoken = [reply, *(parts if len(parts) > 1 else ())]
        encoded = _encode_in_parallel(encoder, [text[:CLAUSE_CHARACTERS] for text in spoken])
        question_row = encoder.encode([question[:CLAUSE_CHARACTERS]])
        clause_rows = encoded[1:] if len(encoded) > 1 else encoded
        rows = np.concatenate([question_row, encoded[:1], clause_rows])
        similarities = {
            **_similarities(encoder, "question", EXAMPLES["question"], rows[:1]),
            **_similarities(encoder, "reply", EXAMPLES["clause"], rows[1:2]),
            **_similarities(encoder, "clause", EXAMPLES["clause"], rows[2:]),
        }
        features = {
            **_cue_features(question, reply),
            "reply_length": float(np.log1p(len(heard.in_order))),
            "question_length": float(np.log1p(len(asked.in_order))),
            "nothing_new": float(not heard.content - asked.stems),
            **{name: float(near.max()) for name, near in similarities.items()},
        }
        known = TextWords.of("\n".join((question, *visible)))
        return cls(asked, heard, known, RunFinder(heard.in_order), rows, features)


def item_features(
    encoder: Encoder,
    context: ReplyContext,
    texts: Sequence[str],
    rows: NDArray[np.float32],
    speakers: Sequence[str | None],
) -> NDArray[np.float64]:
    """The model's input for items, float64 (items, len(FEATURES)).

    Args:
        encoder: The memory's encoder, for the examples.
        context: The question and the reply.
        texts: The items' texts.
        rows: Their unit rows, float32 (items, dimension).
        speakers: The speaker of each, if known.
    """
    semantic = _semantic_features(context.rows, rows)
    semantic |= _similarities(encoder, "item", EXAMPLES["item"], rows)
    features = np.empty((len(texts), len(FEATURES)))
    for place, (text, speaker) in enumerate(zip(texts, speakers, strict=True)):
        lexical = {**context.features, **_lexical_features(context, text, speaker)}
        features[place] = [
            lexical[name] if name in lexical else semantic[name][place] for name in FEATURES
        ]
    return features


def _cue_features(question: str, reply: str) -> dict[str, float]:
    found = {
        "denies_knowledge": IGNORANCE.search(reply),
        "attributes": ATTRIBUTION.search(reply),
        "addresses": SECOND_PERSON.search(reply),
        "proposes": PROPOSAL.search(reply),
        "reply_negated": NEGATION.search(reply),
        "wants_advice": ADVICE_REQUEST.search(question),
        "asks": QUESTION.search(question),
        "of_self": FIRST_PERSON.search(question),
        "why": WHY.match(question),
    }
    return {name: float(match is not None) for name, match in found.items()}


def _lexical_features(context: ReplyContext, text: str, speaker: str | None) -> dict[str, float]:
    """Words that item and reply share, and those of them that are new."""
    item, reply, known = TextWords.of(text), context.reply, context.known
    content = item.content - stems(speaker or "")
    new, reply_new = content - known.stems, reply.content - known.stems
    run, run_words = context.runs.shared(item.in_order)
    run_new = [
        word for word in run if word != PERSON and not stems(word) <= COMMON_STEMS | known.stems
    ]
    first_names = {
        word.casefold() for word in _FIRST_NAME.findall(text[:1] + text[1:].split(" ")[0])
    } - _NOT_NAMES
    names = item.names | first_names | {*(speaker or "").casefold().split()}
    named = bool(names & context.question.plain)
    is_quote = len(run) >= QUOTE_WORDS
    return {
        "longest_run": min(len(run), MAX_RUN),
        "run_new_words": min(len(run_new), MAX_WORDS),
        "run_of_item": len(run) / max(len(item.in_order), 1),
        "run_of_reply": len(run) / max(len(reply.in_order), 1),
        "quotes": float(is_quote),
        "quotes_new": float(is_quote and len(run_new) > 1),
        "run_of_new": float(len(run) >= QUOTE_WORDS - 1 and bool(run_new)),
        "in_runs": run_words / max(len(item.in_order), 1),
        "content_shared": len(new & reply.stems) / max(len(new), 1),
        "content_words": min(len(new & reply.stems), MAX_WORDS - 1),
        "reply_content_shared": len(reply_new & content) / max(len(reply_new), 1),
        "echoed": len(content & known.stems & reply.stems) / max(len(content), 1),
        "number": float(bool((item.numbers - known.numbers) & reply.numbers)),
        "name": float(bool((item.names & reply.plain) - known.plain)),
        "other_name": float(bool(reply.names - item.plain - known.plain)),
        "item_negated": float(bool(NEGATION.search(text))),
        "item_length": float(np.log1p(len(item.in_order))),
        "item_named": float(named),
        "about_user_or_named": float(named or bool(context.features["of_self"])),
    }


def _semantic_features(
    context: NDArray[np.float32], rows: NDArray[np.float32]
) -> dict[str, NDArray[np.float32]]:
    """Cosines of each item with question, reply and clauses, and how they exceed each other."""
    cosines = matmul(context, rows.T)
    to_question = matmul(context, context[0])[:, None]
    question, reply = cosines[:2]
    scale = np.sqrt(np.maximum((1 - question**2) * (1 - to_question[1] ** 2), 1e-6))
    return {
        "near_reply": reply,
        "near_clause": cosines[2:].max(axis=0),
        "near_question": question,
        "near_beyond_question": np.clip((reply - question * to_question[1]) / scale, -1, 1),
        "near_more_than_question": reply - question,
        "reply_nearer": reply - to_question[1],
        "clause_nearer": (cosines[2:] - to_question[2:]).max(axis=0),
    }


def _similarities(
    encoder: Encoder,
    prefix: str,
    examples: Mapping[str, Sequence[str]],
    rows: NDArray[np.float32],
) -> dict[str, NDArray[np.float32]]:
    """Cosine of each row with the most similar example of each kind, float32 (rows,)."""
    return {
        f"{prefix}_{kind}": matmul(rows, _encode_examples(encoder, tuple(texts)).T).max(axis=1)
        for kind, texts in examples.items()
    }


def _encode_in_parallel(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode texts, half of them on a second thread; the model releases the GIL."""
    if len(texts) < 2:
        return encoder.encode(texts)
    costs = np.cumsum([PASS_CHARACTERS + len(text) for text in texts])
    half = int(np.argmin(np.abs(costs[:-1] - costs[-1] / 2))) + 1
    with ThreadPoolExecutor(1) as second_thread:
        others = second_thread.submit(encoder.encode, texts[half:])
        return np.concatenate([encoder.encode(texts[:half]), others.result()])


def _encode_examples(encoder: Encoder, texts: tuple[str, ...]) -> NDArray[np.float32]:
    """Encode examples, once per encoder."""
    rows = _EXAMPLES.setdefault(encoder, {})
    if texts not in rows:
        rows[texts] = encoder.encode(texts)
    return rows[texts]


_EXAMPLES: Final[WeakKeyDictionary[Encoder, dict[tuple[str, ...], NDArray[np.float32]]]] = (
    WeakKeyDictionary()
)


def _most_informative(clauses: Sequence[str]) -> list[str]:
    """The clauses with the most content words, in order."""
    best = sorted(
        range(len(clauses)),
        key=lambda place: -len(content_stems(clauses[place][:CLAUSE_CHARACTERS])),
    )[:MAX_CLAUSES]
    return [clauses[place] for place in sorted(best)]
