"""Fisher vectors over bags of embedded words."""
