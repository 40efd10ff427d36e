"""Operations that `Memory`, the tools and the command line share: search, store, explain."""
