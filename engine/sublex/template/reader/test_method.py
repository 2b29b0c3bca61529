"""NAME makes documents of records, and reports records that it cannot read."""

import sublex


def test_a_record_without_an_id_is_reported(tmp_path):
    file = tmp_path / "references.ris"
    file.write_text("TY  - JOUR\nID  - a\nTI  - Cranes\nPY  - 2005\nER  -\nTY  - JOUR\nTI  - Rivers\nER  -\n")
    index = sublex.build(file, tmp_path / "index", reader="NAME")
    document = index.document("a")
    assert (document.title, document.fields["PY"]) == ("Cranes", "2005")
    assert [str(problem) for problem in index.built.problems] == [f"{file}:6: the record has no ID"]
