"""The components of NAME fulfil their contracts."""

import pytest

from sublex.testing import checks


@pytest.mark.parametrize("check", checks("NAME"), ids=str)
def test_contract(check, tmp_path):
    check(tmp_path)
