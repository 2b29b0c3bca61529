"""Checks of the components of plugins on the demo collection: rankers, expanders, filters, readers and others.

`sublex plugin test` runs the checks. A plugin's own tests run them too:

    import pytest
    from sublex.testing import checks

    @pytest.mark.parametrize("check", checks("mine"), ids=str)
    def test_contract(check, tmp_path):
        check(tmp_path)

A check that fails raises an `AssertionError` with a sentence that names the wrong method and what to do. A check raises
`unittest.SkipTest`, which pytest knows, if a plugin gives too little to check. Several checks start other processes, so
the plugin must be installed.
"""

from sublex.testing.all_checks import CHECKS_OF, Check, checks
from sublex.testing.representations import CHECKS
from sublex.testing.subject import Subject

__all__ = ["CHECKS", "CHECKS_OF", "Check", "Subject", "checks"]
