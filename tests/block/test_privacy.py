"""Private statements: delivered when they are asked about, withheld otherwise."""

from dataclasses import replace
from time import thread_time

import pytest

from hotmem.block.packing import pack
from hotmem.block.privacy import MIN_RELEVANCE, MIN_RELEVANCE_TO_REMARK, is_private
from hotmem.models import TokenCounter
from hotmem.options import RecallOptions
from hotmem.ranking.answerability import Answerability
from tests.ranking.statements import evidence, query, ranked


@pytest.mark.parametrize(
    "text",
    [
        "The wifi password is tulip42.",
        "My PIN is 4471.",
        "Ana doesn't know about the party yet.",
        "This stays between us.",
        "It's a surprise for Rui.",
        "My API key is sk-abc123.",
        "My credit card number is 4111 1111.",
        "The answer to the security question is Hofer.",
        "My phone unlocks with 1984.",
        "I log in to the bank with Mozart1791.",
        "My Netflix pass word is kestrel.",
        "This stays between you and me: I failed the exam.",
        "The key for the wifi is on the fridge: tulip42.",
        "The PUK is 40031277.",
    ],
)
def test_codes_and_secrets_are_private(text: str) -> None:
    assert is_private(text)


@pytest.mark.parametrize(
    "text",
    [
        "I pinned the note to the fridge.",
        "We got a tan in Spain.",
        "The shop opens with a party.",
        "The dog barks.",
        "I know the way.",
    ],
)
def test_other_statements_are_not_private(text: str) -> None:
    assert not is_private(text)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("wifi", "password"), True),
        (("password",), False),
        (("wifi", "tulip42"), False),
        (("door", "password"), False),
    ],
)
def test_a_secret_that_a_query_names_in_its_words_is_told_before_it_is_embedded(
    tokens: TokenCounter, words: tuple[str, ...], told: bool
) -> None:
    asked = query(f"What about the {' '.join(words)}?")
    asked = replace(asked, analysis=replace(asked.analysis, question=True, terms=words))
    statements = ranked([(evidence("The wifi password is tulip42."), MIN_RELEVANCE / 2)])
    packed = pack(asked, statements, Answerability.DOUBTFUL, 1000, tokens.count, RecallOptions())
    assert bool(packed.items) is told


def test_a_long_text_takes_no_time() -> None:
    began = thread_time()
    assert not is_private("I log in to it, the shop opens with a bell. " * 5_000)
    assert thread_time() - began < 2


@pytest.mark.parametrize(
    ("question", "relevance", "told"),
    [
        (False, MIN_RELEVANCE_TO_REMARK / 2, False),
        (False, MIN_RELEVANCE_TO_REMARK * 2, True),
        (True, MIN_RELEVANCE / 2, False),
        (True, MIN_RELEVANCE * 2, True),
    ],
)
def test_private_statements_are_withheld_until_they_are_asked_for(
    tokens: TokenCounter, question: bool, relevance: float, told: bool
) -> None:
    asked = query()
    asked = replace(asked, analysis=replace(asked.analysis, question=question))
    statements = ranked(
        [
            (evidence("The dog barks.", key=1), 0.3),
            (evidence("The wifi password is tulip42.", key=2), relevance),
        ]
    )
    packed = pack(asked, statements, Answerability.SOMETHING, 1000, tokens.count, RecallOptions())
    assert ("The wifi password is tulip42." in [item.text for item in packed.items]) is told
