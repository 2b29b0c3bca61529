"""Lists of phrases: the phrases of a model (`phrase_list`), the numbers of their words (`lexicon`), and kernels that find phrases in texts."""
