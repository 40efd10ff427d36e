"""Suppression of forgotten words, until the user says them again."""

from hotmem.memory.suppression import SuppressedTexts
from hotmem.text.stemming import stems


def withheld(*texts: str) -> SuppressedTexts:
    held = SuppressedTexts()
    held.add("ana", map(stems, texts))
    return held


def test_a_text_matches_a_phrase_by_all_its_content_words() -> None:
    held = withheld("the surprise party", "Marlow")
    assert held.found("ana", "The parties? They were surprises.")
    assert held.found("ana", "MARLOW's boats")
    assert not held.found("ana", "The party is on.")
    assert not held.found("ben", "Marlow")


def test_stop_words_are_never_suppressed() -> None:
    assert not withheld("it", "what about that").found("ana", "What about that? It is what it is.")


def test_phrases_said_by_the_user_are_no_longer_suppressed() -> None:
    held = withheld("Marlow", "Oleander")
    held.lift("ana", "My aunt lives in Marlow.")
    assert not held.found("ana", "Marlow") and held.found("ana", "Oleander")
    held.clear("ana")
    assert not held.found("ana", "Oleander")
