"""Source-LDA (Wood, Tan, Wang and Arnold 2017): topic models whose topics come from labelled texts, a knowledge source.

`model.SourceLDA` is the estimator. `priors` turns a knowledge source into the priors of topics, and `smoothing` scales their strength.
"""
