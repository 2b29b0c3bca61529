"""Small tools that are not about search: arguments, messages, files, strings, threads, compilation of kernels."""
