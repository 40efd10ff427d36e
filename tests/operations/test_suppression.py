"""Forgotten words: what tells of them, and who may speak of them again."""

from hotmem.operations.suppression import SuppressedTexts
from hotmem.text.stemming import stems


def withheld(*texts: str) -> SuppressedTexts:
    held = SuppressedTexts()
    held.add("ana", map(stems, texts))
    return held


def test_a_text_tells_of_a_phrase_by_all_of_its_telling_words() -> None:
    held = withheld("the surprise party", "Marlow")
    assert held.found("ana", "The parties? They were surprises.")
    assert held.found("ana", "MARLOW's boats")
    assert not held.found("ana", "The party is on.")
    assert not held.found("ben", "Marlow")


def test_words_that_tell_nothing_are_never_withheld() -> None:
    assert not withheld("it", "what about that").found("ana", "What about that? It is what it is.")


def test_what_the_user_says_is_withheld_no_more_and_the_rest_is() -> None:
    held = withheld("Marlow", "Oleander")
    held.lift("ana", "My aunt lives in Marlow.")
    assert not held.found("ana", "Marlow") and held.found("ana", "Oleander")
    held.clear("ana")
    assert not held.found("ana", "Oleander")
