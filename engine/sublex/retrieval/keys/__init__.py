"""Keys: a hit as one number, whose order is the order of the hits."""
