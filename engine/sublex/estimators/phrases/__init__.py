"""Lists of phrases (`phrase_list`), numbers of their words (`lexicon`), and kernels that find phrases in texts."""
