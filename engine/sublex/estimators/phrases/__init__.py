"""Phrases by number (`phrase_list`), the words in which they are written (`lexicon`), and the means to find them in any text."""
