"""The report of a comparison: one HTML file that needs no network and no other file.

A report is made from a `Comparison` of `sublex.evaluation`. `page` fills the template, `curves` and `rankings` compute what the
page shows beyond the comparison's own tables, `svg` draws the plots, and `page_data` writes the JSON that the page's script reads.
"""
