"""Gibbs sampling of the keyphrases that are on."""
