"""Algorithms on arrays that several plugins share, and base classes of representations and estimators.

Truncated SVD (`svd`), sums of word vectors (`bags`), scores that are linear in term counts (`linear`), norms and cosines of sparse rows
(`sparse_rows`), models of topics (`topics`), lists of phrases (`phrases`), representations that sum over words (`word_sums`), and the
habits of scikit-learn (`estimator`). A method that a single plugin uses lives in this plugin. Data are SciPy's sparse rows of documents by
terms, from the corpus view or from anywhere else; only `word_sums` and `topics.representation` know an index. `blocks` cuts the work so
that results are the same, to the byte, for any number of workers.
"""
