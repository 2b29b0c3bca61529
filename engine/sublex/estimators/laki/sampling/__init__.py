"""Gibbs sampling in noisy-OR networks."""
