"""Groups of methods of `hotmem.Memory`, which joins them: search, knowledge, forgetting."""
