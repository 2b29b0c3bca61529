"""Studies: an experiment in one file, from collections to tables, that runs, resumes and is checked as a whole.

`study_file` reads the file, `places` decides which paths it may read, `store` keeps what was done in the study's folder, `steps` does
it, and `run_study` puts the steps in order. `results` holds the outcome, which `page` and `study_lock` write. Nothing in a file is
executed: a study names components of installed plugins, and files below its own folder.
"""
