"""What an utterance asks (`query`) and what a turn states (`facts`), read from dependency parses."""
