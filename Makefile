.PHONY: install quick test all lint docs site bench demo

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

# All of the cases that are many and alike, twice the random examples, and twice as long.
all: $(INSTALLED)
	SUBLEX_TESTS=all pytest
	cd tests && python forgeries.py 1400 && NUMBA_BOUNDSCHECK=1 python forgeries.py 500 2000

lint: $(INSTALLED)
	ruff check . && ruff format --check . && mypy

docs: $(INSTALLED)
	pytest tests/test_docs.py

# The pages of docs/ with a reference of the public API, in build/site; a link that leads nowhere is an error.
site:
	pip install -q -e '.[site]'
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict -q -f docs/site/mkdocs.yml
	@echo 'build/site/index.html; with its search: python -m http.server -d build/site'

bench:
	python benchmarks/indexing.py $(COLLECTION)

demo:
	pip install . && sublex demo
