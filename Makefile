.PHONY: install quick test lint docs bench demo

# Written when Sublex was installed here with what its tests need; `make install` installs it again.
INSTALLED = build/installed

$(INSTALLED): pyproject.toml
	pip install -e '.[test]'
	mkdir -p $(@D) && touch $@

install:
	rm -f $(INSTALLED)
	$(MAKE) $(INSTALLED)

# A tenth of the random examples of `pytest`, without the tests marked slow: kills, damages, bombs, browsers, real collections, pages, long chains.
quick: $(INSTALLED)
	SUBLEX_TESTS=quick pytest -m "not slow"

test: $(INSTALLED)
	pytest

lint: $(INSTALLED)
	ruff check . && ruff format --check . && mypy

docs: $(INSTALLED)
	pytest tests/test_docs.py

bench:
	python benchmarks/indexing.py $(COLLECTION)

demo:
	pip install . && sublex demo
