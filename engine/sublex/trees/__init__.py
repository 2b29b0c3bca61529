"""Models of decision trees that LightGBM or XGBoost learned: their files, their predictions, and what each feature adds.

Neither program is needed: the files are read here. This room trains nothing.
"""
