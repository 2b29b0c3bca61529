"""Studies: an experiment in one file, from collections to tables, which can be run, resumed and checked as a whole.

`study_file` reads the file, and `places` decides which paths it may read. `steps` has the steps: to build an index, fit
a model, tune, rank and measure. `run_study` runs them in order, and `store` keeps a record of each result in the
study's folder. The *identity* of a result is the set of all values that the result depends on; while it stays the same,
the result is not computed again. `results` has the outcome. `page` makes the report of it, and `study_lock` the *lock*,
the file `study.lock` with all figures of the study. A
*unit* is one repetition of an experiment, such as a seed. Nothing in a study file is executed: it names components of
installed plugins, and files below its own folder.
"""
