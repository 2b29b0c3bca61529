"""Learning to rank: rows of features for training, their files, and the training of models by cross-validation.

The features of a document are its scores by ranking expressions. Sublex trains no models itself: models of other libraries learn
from the rows, and rank as a part of an expression (`pipeline/stages/learned.py`).
"""
