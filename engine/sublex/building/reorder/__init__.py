"""Reordering: put similar documents next to each other, so that gaps in posting lists and score bounds become smaller.

`similar_order` finds the order by recursive graph bisection, and `reorder_segment` writes a segment in this order.
"""
