"""The report of a comparison: one HTML file that needs no network and no other file.

A report is made from a `Comparison` of `sublex.evaluation`. `page` fills the template. The comparison has the tables;
`curves` and `rankings` compute the other figures of the page. `svg` draws the plots, and `page_data` writes the JSON
that the page's script reads.
"""
