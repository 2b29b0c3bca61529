"""Algorithms on arrays that several plugins share, and base classes of representations and estimators.

Truncated SVD (`svd`), sums of word vectors (`bags`), scores that are linear in term counts (`linear`), norms and cosines of sparse rows
(`sparse_rows`), models of topics (`topics`), lists of phrases (`phrases`), representations that sum over words
(`word_sums`), and the interface of scikit-learn's estimators (`estimator`). A method that only one plugin uses is in
that plugin. The data are SciPy's sparse matrices with a row for each document and a column for each term. They may come
from an index or from elsewhere. Only `word_sums` and `topics.representation` use an index. `blocks` cuts the work so that
results are the same, to the byte, for any number of workers.
"""
