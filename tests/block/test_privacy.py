"""Private statements: delivered when they are asked about, withheld otherwise."""

from dataclasses import replace
from time import thread_time

import pytest

from hotmem.block.packing import pack
from hotmem.models import TokenCounter
from hotmem.options import RecallOptions
from hotmem.ranking.relevance import Answerability
from hotmem.types import Evidence, Quote
from hotmem.understanding.private_statements import is_private, may_hear
from tests.ranking.statements import evidence, query, ranked
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize("text", CASES["codes_and_secrets_are_private"])
def test_codes_and_secrets_are_private(text: str) -> None:
    assert is_private(text)


@pytest.mark.parametrize("text", CASES["other_statements_are_not_private"])
def test_other_statements_are_not_private(text: str) -> None:
    assert not is_private(text)


def test_a_long_text_takes_no_time() -> None:
    began = thread_time()
    is_private("I log in to it, the shop opens with a bell. " * 5_000)
    assert thread_time() - began < 2


@pytest.mark.parametrize(("said", "relevance", "told"), CASES["private_statements_are_withheld"])
def test_private_statements_are_withheld_until_they_are_asked_for(
    tokens: TokenCounter, said: str, relevance: float, told: bool
) -> None:
    asked = query(said)
    asked = replace(asked, text=said, analysis=replace(asked.analysis, question=True))
    statements = ranked(
        [
            (evidence("The dog barks.", key=1), 0.3),
            (evidence("The wifi password is tulip42.", key=2), relevance),
        ]
    )
    packed = pack(asked, statements, Answerability.SOMETHING, 1000, tokens.count, RecallOptions())
    assert ("The wifi password is tulip42." in [item.text for item in packed.items]) is told


def test_another_speaker_hears_what_was_said_to_them_and_no_secret() -> None:
    here = replace_evidence(session_id="now", speaker="Ana")
    assert may_hear("Tom", "now", here)
    assert may_hear("Tom", "now", replace_evidence(speaker="Tom"))
    assert not may_hear("Tom", "now", replace_evidence(speaker="Ana"))
    assert may_hear("", "now", replace_evidence(speaker="Ana"))
    for asked_by in ("Tom", ""):
        secret = replace_evidence(text="My PIN is 4471.", session_id="now")
        assert not may_hear(asked_by, "now", secret)
        words = Quote(1, secret.text, here.said_at)
        assert not may_hear(asked_by, "now", here._replace(quote=words)), "its words would be shown"


def test_a_secret_that_only_the_reading_of_a_quote_holds_is_withheld(tokens: TokenCounter) -> None:
    answer = evidence("It's 4471.", key=2)._replace(reading="Ana's PIN is 4471.")
    found = ranked([(evidence("The dog barks."), 0.3), (answer, 0.25)])
    packed = pack(query(), found, Answerability.SOMETHING, 1000, tokens.count, RecallOptions())
    assert "4471" not in packed.text and "barks" in packed.text


def replace_evidence(
    text: str = "I like tea.", session_id: str = "earlier", speaker: str | None = None
) -> Evidence:
    return evidence(text)._replace(session_id=session_id, speaker=speaker)
