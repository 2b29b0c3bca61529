"""The functions that the command line and the shell share.

They print results, show progress bars, handle interrupts, compile kernels in advance, and complete expressions.
"""
