"""Text without meaning: validation, passages, stemming, phonetics, numerals, time zones."""
