"""The inverted index: its format, building, reading, merging, checking."""
