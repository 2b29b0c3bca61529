"""Estimators that several plugins share: arrays in, arrays out.

Truncated SVD (`svd`), mixtures of Gaussians (`gmm`), conjugate gradients (`conjugate_gradients`), sums of word vectors (`bags`), scores
that are linear in term counts (`linear`), topics (`lda`), latent keyphrases (`laki`), and graphs of words (`word_graphs`). Their data are
SciPy's sparse rows of documents by terms, from the corpus view or from anywhere else; nothing here knows an index. `blocks` cuts the work
so that results are the same, to the byte, for any number of workers.
"""
