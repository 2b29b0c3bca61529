"""Small tools without any code for search: checks of arguments, messages, files, strings, threads, compilation of kernels."""
