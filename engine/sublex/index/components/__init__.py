"""The components of a segment. Each kind of component has a file with its writer and its reader.

A writer gets the `FolderWriter` of a new segment, and a reader the `ComponentFolder` of a finished segment. Builds and merges write
through the same writers. `Segment` composes the readers. `docs/format.md` describes the bytes.
"""
