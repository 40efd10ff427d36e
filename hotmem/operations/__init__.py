"""Operations that `Memory` and the tools share: search, store, explain, retention."""
