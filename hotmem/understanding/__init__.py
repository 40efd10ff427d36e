"""What an utterance asks (`query`) and what a turn states (`facts`), from parses."""
