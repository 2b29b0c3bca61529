"""The functions that the command line and the shell share.

They print results, show bars of progress, handle interrupts, compile kernels ahead, and complete expressions.
"""
