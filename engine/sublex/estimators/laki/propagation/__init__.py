"""Belief propagation in noisy-OR networks."""
