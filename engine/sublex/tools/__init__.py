"""Small tools that know nothing of searching: checked arguments, messages, whole files, strings, threads, compilation of kernels."""
