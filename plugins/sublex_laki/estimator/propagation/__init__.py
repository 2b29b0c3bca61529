"""Belief propagation among keyphrases."""
