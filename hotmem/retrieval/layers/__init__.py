"""Ways of retrieving: an analysed query in, hits out. One file a layer."""
