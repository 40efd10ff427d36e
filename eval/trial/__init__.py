"""What a user gets from each part, tried with inputs written without sight of the code."""
