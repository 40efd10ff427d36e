"""Figures of the language path: what is read in an utterance, against labelled speech."""
