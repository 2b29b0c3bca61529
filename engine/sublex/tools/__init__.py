"""Small tools that are not about search: checks of arguments, messages, files, strings, threads, compilation of kernels."""
