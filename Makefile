.PHONY: test lint bench demo docs

test:
	pip install -e '.[test]' && pytest

lint:
	ruff check . && ruff format --check . && mypy

docs:
	pytest tests/test_docs.py

bench:
	python benchmarks/indexing.py $(COLLECTION)

demo:
	pip install . && sublex demo
