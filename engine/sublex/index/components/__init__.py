"""The components of a segment: for each kind a writer and a reader, side by side in one file.

A writer gets the `FolderWriter` of a new segment, and a reader the `ComponentFolder` of a finished one. Builds and merges write
through the same writers. `Segment` composes the readers. `docs/format.md` describes the bytes.
"""
