"""Text processing: validation, passages, stemming, phonetics, numerals, time zones."""
