"""Analysis of an utterance that is not English: its words, and nothing by English rules."""

from typing import Final

from hotmem.text.function_words import FUNCTION_WORDS
from hotmem.text.stemming import words
from hotmem.types import Analysis, Complexity, Intent, Layer

QUESTION_MARKS: Final = ("?", "？", "؟", ";", "か。")
"""Ends of questions: also the full-width, Arabic and Greek question marks, and Japanese "か"."""


def analyse_other_language(text: str, language: str) -> Analysis:
    """Analyse an utterance that is not English.

    Its words without function words are searched for. Times, names and references are not read, and
    memory is searched whatever is said, as long as there is a word to search for.

    Args:
        text: The utterance.
        language: Its language, as `detect_language` returns it.
    """
    said = dict.fromkeys(words(text))
    function_words = FUNCTION_WORDS.get(language, frozenset())
    content = tuple(word for word in said if word not in function_words)
    return Analysis(
        intent=Intent.FACT,
        complexity=Complexity.MEDIUM,
        terms=content or tuple(said),
        entities=(),
        time=None,
        ambiguous=(),
        expansion=(),
        first_person=False,
        needs_memory=bool(content),
        layers=tuple(Layer) if content else (),
        question=text.rstrip().endswith(QUESTION_MARKS),
        language=language,
    )
