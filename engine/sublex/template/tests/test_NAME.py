"""NAME fulfils the contract of a representation."""

import pytest

from sublex.testing import CHECKS, Subject


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check, tmp_path):
    check(Subject("NAME(r=32)", tmp_path))
