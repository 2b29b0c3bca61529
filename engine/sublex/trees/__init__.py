"""Models of decision trees that LightGBM or XGBoost learned: their files, their predictions, and what each feature adds.

The code here reads the files itself and does not need these programs. It trains nothing.
"""
