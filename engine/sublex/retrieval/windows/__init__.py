"""Windows: the sums of some thousand documents at a time, which fit the processor's cache."""
