"""Groups of methods of `hotmem.Memory`: search, knowledge, forgetting. `hotmem.memory` joins them."""
