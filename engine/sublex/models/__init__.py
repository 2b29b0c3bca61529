"""Estimators that more than one plugin uses: arrays in, arrays out; nothing here knows of indexes, queries or hooks."""
