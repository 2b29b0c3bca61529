"""Estimators that more than one plugin uses: arrays in, arrays out."""
