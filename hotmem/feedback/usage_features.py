"""What tells whether a reply used an item.

What both hold that the user had not said, what is asked, and how near they are in meaning.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul
from hotmem.feedback.reply_words import COMMON_STEMS, PERSON, RunFinder, Words, clauses, telling
from hotmem.models import Encoder
from hotmem.text.stemming import stems

QUOTE_WORDS: Final = 4
"""Words in a row that make a quote; three in a row are often idiom ("I would like")."""

LONGEST_RUN: Final = 10
MOST_WORDS: Final = 5
"""Up to where runs and shared words are counted: more make nothing clearer."""

MOST_CLAUSES: Final = 6
"""Clauses of a reply whose meaning is looked at, those of the most telling words: each takes the
encoder 2 to 3 ms."""

PASS_CHARACTERS: Final = 40
"""Characters that cost the encoder as much as a pass itself."""

CLAUSE_CHARACTERS: Final = 400
"""Characters of a text that are looked at for its meaning."""

QUESTIONS: Final = {
    "advice": (
        "What should I do?",
        "Where could we go?",
        "What shall I buy?",
        "Which one should I choose?",
        "Any ideas?",
        "Should I do it?",
    ),
    "recollection": (
        "What did I tell you about it?",
        "When is my appointment?",
        "What is my name?",
        "Where did I put it?",
        "How much do I pay?",
        "Who is my doctor?",
    ),
    "world": (
        "How does it work?",
        "What is the capital of France?",
        "How many days are in a year?",
        "What does this word mean?",
    ),
    "order": ("Turn on the light.", "Set a timer.", "Set an alarm.", "Play some music."),
}
CLAUSES: Final = {
    "ignorance": (
        "I don't know that.",
        "Nobody has told me.",
        "I'm sorry, I can't help with that.",
        "I have no record of that.",
        "Could you look that up yourself?",
        "I'm not sure.",
    ),
    "advice": (
        "I would rather take something else.",
        "You could try this instead.",
        "Better not, it would be bad for you.",
        "How about something without it?",
        "That would suit you well.",
    ),
    "courtesy": (
        "You're welcome!",
        "Good night!",
        "Hello! How can I help?",
        "Yes, I can hear you.",
    ),
    "care": (
        "Take it easy, one step at a time.",
        "I'll keep it short.",
        "I'm sorry to hear that.",
        "You're in good hands.",
    ),
    "attribution": ("You told me so.", "As you said.", "You mentioned that before."),
}
ITEMS: Final = {
    "need": (
        "I am allergic to nuts.",
        "I can't stand it.",
        "I am afraid of it.",
        "I have a health problem.",
        "I don't eat that.",
    ),
    "fact": ("My sister lives in Porto.", "My appointment is on Monday.", "The code is 4711."),
    "manner": (
        "Please keep your answers short.",
        "I like it when you joke.",
        "I feel very sad today.",
    ),
}
"""Examples of what is asked, of what clauses of replies do, and of what items say. A text is as
much of a sort as it is near to the nearest."""

SIGNS: Final = (
    "longest_run", "run_new_words", "run_of_item", "run_of_reply", "quotes", "quotes_new", "run_of_new", "in_runs",
    "told", "told_words", "reply_told", "echoed", "nothing_new", "number", "name", "other_name",
    "item_negated", "item_length", "item_named", "about_user_or_named",
    "unknowing", "attributing", "addressing", "proposing", "reply_negated", "reply_length",
    "wants_advice", "asks", "of_self", "why", "question_length",
    "near_reply", "near_clause", "near_question", "near_beyond_question", "near_more_than_question", "reply_nearer", "clause_nearer",
    *(f"question_{sort}" for sort in QUESTIONS), *(f"clause_{sort}" for sort in CLAUSES), *(f"reply_{sort}" for sort in CLAUSES),
    *(f"item_{sort}" for sort in ITEMS),
)  # fmt: skip
"""What the model looks at, in order. The first lines are of words, from `near_reply` on of
meaning."""

_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|without|nobody|none|neither|cannot|nothing|stop(?:ped)?|quit|cancelled|any ?more|no longer|hates?|dislikes?|avoids?)\b|n't\b",
    re.IGNORECASE,
)
_UNKNOWING: Final = re.compile(
    r"\b(?:(?:do|did)(?:n't| not) (?:know|remember|recall|have)|no idea|not sure|no (?:information|record|note|access|memory)|nothing about"
    r"|(?:can|could)(?:not|n't| not) (?:tell|say|find|see|help|give|remember|hear|look)|never (?:told|mentioned|said)|nobody has told"
    r"|(?:have|'ve|has)(?:n't| not| never) (?:told|mentioned|said|got)|i'd love to know|unfortunately|(?:i'm )?afraid i|sorry)\b",
    re.IGNORECASE,
)
_ATTRIBUTING: Final = re.compile(
    r"\b(?:you (?:said|told|mentioned|wrote|once)|you've (?:said|told|mentioned)|as you|from what you|if i (?:recall|remember)|according to"
    r"|i (?:believe|gather|think))\b",
    re.IGNORECASE,
)
_WANTS_ADVICE: Final = re.compile(
    r"\b(?:should|shall|could|what can|where can|suggest|recommend|ideas?|tips?|advice|any|plan|let's|give me|make me|recipe|good|need|teach|help"
    r"|how can|how do i|tell me a|pick|best)\b",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\?|^(?:what|when|where|who|which|how|do|is|did|was|are|why)\b", re.IGNORECASE
)
_WHY: Final = re.compile(r"why|how come", re.IGNORECASE)
_SELF: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|we|us|our)\b", re.IGNORECASE)
_ADDRESSING: Final = re.compile(r"\b(?:you|your|yours|you're|you've|you'll|you'd)\b", re.IGNORECASE)
_PROPOSING: Final = re.compile(
    r"\b(?:i'd|i would|would|could|might|maybe|perhaps|how about|what about|why not|let's|try|take|get|put|don't|avoid|instead|better|rather"
    r"|without|no|can)\b",
    re.IGNORECASE,
)
_FIRST_NAME: Final = re.compile(r"[A-Z]\w+")
_NO_NAMES: Final = frozenset({"i", "my", "our", "we", "the", "user"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what was heard of the reply to it, as they are compared with items.

    Attributes:
        question: The user's utterance.
        reply: What was heard of the reply.
        known: What the reply may have from elsewhere: the question and the visible conversation.
        runs: Finds what an item shares with the reply.
        rows: Unit rows of question, reply and clauses, float32 (2 + clauses, dimension).
        about: The signs that are the same for all items.
    """

    question: Words
    reply: Words
    known: Words
    runs: RunFinder
    rows: NDArray[np.float32]
    about: dict[str, float]

    @classmethod
    def read(
        cls, encoder: Encoder, question: str, reply: str, visible: Sequence[str] = ()
    ) -> "Exchange":
        """Reads an exchange; blocking, one pass of the encoder for the reply and each of its clauses; the question's row is kept from its recall.

        Args:
            encoder: The memory's encoder.
            question: The user's utterance.
            reply: What was heard of the reply, not empty.
            visible: Texts that the language model had before it.
        """
        asked, heard = Words.of(question), Words.of(reply)
        parts = _most_telling(clauses(reply))
        said = _encoded(
            encoder,
            [text[:CLAUSE_CHARACTERS] for text in (reply, *(parts if len(parts) > 1 else ()))],
        )
        rows = np.concatenate(
            [
                encoder.encode([question[:CLAUSE_CHARACTERS]]),
                said[:1],
                said[1:] if len(said) > 1 else said,
            ]
        )
        about = {
            **_of_wording(question, reply),
            "reply_length": float(np.log1p(len(heard.spoken))),
            "question_length": float(np.log1p(len(asked.spoken))),
            "nothing_new": float(not heard.telling - asked.stems),
            **{
                name: float(near.max())
                for name, near in _sorts(encoder, "question", QUESTIONS, rows[:1]).items()
            },
            **{
                name: float(near.max())
                for name, near in _sorts(encoder, "reply", CLAUSES, rows[1:2]).items()
            },
            **{
                name: float(near.max())
                for name, near in _sorts(encoder, "clause", CLAUSES, rows[2:]).items()
            },
        }
        return cls(
            asked,
            heard,
            Words.of("\n".join((question, *visible))),
            RunFinder(heard.spoken),
            rows,
            about,
        )


def signs(
    encoder: Encoder,
    exchange: Exchange,
    texts: Sequence[str],
    rows: NDArray[np.float32],
    speakers: Sequence[str | None],
) -> NDArray[np.float64]:
    """What the model sees of items, float64 (items, len(SIGNS)).

    Args:
        encoder: The memory's encoder, for the examples.
        exchange: The question and the reply.
        texts: The items' words.
        rows: Their unit rows, float32 (items, dimension).
        speakers: Who said each, if known.
    """
    by_meaning = _by_meaning(exchange, rows) | _sorts(encoder, "item", ITEMS, rows)
    seen = np.empty((len(texts), len(SIGNS)))
    for place, (text, speaker) in enumerate(zip(texts, speakers, strict=True)):
        by_words = exchange.about | _by_words(exchange, text, speaker)
        seen[place] = [
            by_words[name] if name in by_words else by_meaning[name][place] for name in SIGNS
        ]
    return seen


def _of_wording(question: str, reply: str) -> dict[str, float]:
    return {
        "unknowing": float(bool(_UNKNOWING.search(reply))),
        "attributing": float(bool(_ATTRIBUTING.search(reply))),
        "addressing": float(bool(_ADDRESSING.search(reply))),
        "proposing": float(bool(_PROPOSING.search(reply))),
        "reply_negated": float(bool(_NEGATED.search(reply))),
        "wants_advice": float(bool(_WANTS_ADVICE.search(question))),
        "asks": float(bool(_ASKS.search(question))),
        "of_self": float(bool(_SELF.search(question))),
        "why": float(bool(_WHY.match(question))),
    }


def _by_words(exchange: Exchange, text: str, speaker: str | None) -> dict[str, float]:
    """What item and reply share word for word, and of that what the user had not said."""
    item, reply, known = Words.of(text), exchange.reply, exchange.known
    held = item.telling - stems(speaker or "")
    told, new = held - known.stems, reply.telling - known.stems
    longest, together = exchange.runs.shared(item.spoken)
    fresh = [
        word for word in longest if word != PERSON and not stems(word) <= COMMON_STEMS | known.stems
    ]
    first = {
        word.casefold() for word in _FIRST_NAME.findall(text[:1] + text[1:].split(" ")[0])
    } - _NO_NAMES
    named = bool(
        (item.names | first | {*(speaker or "").casefold().split()}) & exchange.question.plain
    )
    return {
        "longest_run": min(len(longest), LONGEST_RUN),
        "run_new_words": min(len(fresh), MOST_WORDS),
        "run_of_item": len(longest) / max(len(item.spoken), 1),
        "run_of_reply": len(longest) / max(len(reply.spoken), 1),
        "quotes": float(len(longest) >= QUOTE_WORDS),
        "quotes_new": float(len(longest) >= QUOTE_WORDS and len(fresh) > 1),
        "run_of_new": float(len(longest) >= QUOTE_WORDS - 1 and bool(fresh)),
        "in_runs": together / max(len(item.spoken), 1),
        "told": len(told & reply.stems) / max(len(told), 1),
        "told_words": min(len(told & reply.stems), MOST_WORDS - 1),
        "reply_told": len(new & held) / max(len(new), 1),
        "echoed": len(held & known.stems & reply.stems) / max(len(held), 1),
        "number": float(bool((item.figures - known.figures) & reply.figures)),
        "name": float(bool((item.names & reply.plain) - known.plain)),
        "other_name": float(bool(reply.names - item.plain - known.plain)),
        "item_negated": float(bool(_NEGATED.search(text))),
        "item_length": float(np.log1p(len(item.spoken))),
        "item_named": float(named),
        "about_user_or_named": float(named or bool(exchange.about["of_self"])),
    }


def _by_meaning(exchange: Exchange, rows: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """How near each item is to the reply and to its clauses, and how much nearer than the question is to either."""
    nearness = matmul(exchange.rows, rows.T)
    to_question = matmul(exchange.rows, exchange.rows[0])[:, None]
    question, reply = nearness[:2]
    scale = np.sqrt(np.maximum((1 - question**2) * (1 - to_question[1] ** 2), 1e-6))
    return {
        "near_reply": reply,
        "near_clause": nearness[2:].max(axis=0),
        "near_question": question,
        "near_beyond_question": np.clip((reply - question * to_question[1]) / scale, -1, 1),
        "near_more_than_question": reply - question,
        "reply_nearer": reply - to_question[1],
        "clause_nearer": (nearness[2:] - to_question[2:]).max(axis=0),
    }


def _sorts(
    encoder: Encoder, of: str, sorts: dict[str, tuple[str, ...]], rows: NDArray[np.float32]
) -> dict[str, NDArray[np.float32]]:
    """How near each row is to the nearest example of each sort, float32 (rows,)."""
    return {
        f"{of}_{sort}": matmul(rows, _examples(encoder, examples).T).max(axis=1)
        for sort, examples in sorts.items()
    }


def _encoded(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Their unit rows, half of the work in a thread beside, where there is more than one.

    The model runs without the interpreter's lock.
    """
    if len(texts) < 2:
        return encoder.encode(texts)
    costs = np.cumsum([PASS_CHARACTERS + len(text) for text in texts])
    half = int(np.argmin(np.abs(costs[:-1] - costs[-1] / 2))) + 1
    with ThreadPoolExecutor(1) as beside:
        others = beside.submit(encoder.encode, texts[half:])
        return np.concatenate([encoder.encode(texts[:half]), others.result()])


def _examples(encoder: Encoder, texts: tuple[str, ...]) -> NDArray[np.float32]:
    """The examples' rows, encoded once for each encoder."""
    rows = _EXAMPLES.setdefault(encoder, {})
    if texts not in rows:
        rows[texts] = encoder.encode(texts)
    return rows[texts]


_EXAMPLES: Final[WeakKeyDictionary[Encoder, dict[tuple[str, ...], NDArray[np.float32]]]] = (
    WeakKeyDictionary()
)


def _most_telling(parts: Sequence[str]) -> list[str]:
    """The clauses of the most telling words, in their order."""
    best = sorted(
        range(len(parts)), key=lambda place: -len(telling(parts[place][:CLAUSE_CHARACTERS]))
    )[:MOST_CLAUSES]
    return [parts[place] for place in sorted(best)]
