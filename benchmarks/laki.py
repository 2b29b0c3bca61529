"""Measure LAKI's network: exactness, learning, pruning, belief propagation, cost, and time beside the released program.

    python benchmarks/laki.py [--parts exact swaps weights pruning propagation cost peer] [--queries 6] [--peer PROGRAM]

All parts use networks that the script makes. The large one has 5,000 keyphrases, 20,000 units and 200,000 links, nine tenths of them within
one of 250 subjects. Times are processor seconds of one thread.

`peer` compares the time of a query with that of the released C++ code (remenberl/Latent-Keyphrase-Inference, compiled with -O3). A driver
of some lines calls its `InferenceOnline::DoInference`, with a minimum time of 0, 5,000 sweeps, at most 200 keyphrases and the link
threshold 0.01, its default. The queries go to both programs in turn in one run. Pruning and set-up are included on both sides. The driver's
parser is bypassed, since it needs a trained segmentation. PROGRAM is called with the model file, the id of the first unit, sweeps and
keyphrases. It prints a line when it is ready; then it reads lines of `id:count` and answers each with its processor milliseconds and with
`id:probability` of the keyphrases.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import product
from math import erf
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from sublex_laki.estimator import Network, encode
from sublex_laki.estimator.network import network_of

PARTS = ("exact", "swaps", "errors", "weights", "pruning", "propagation", "cost", "peer")
LENGTHS = (2, 10, 30, 100, 200)


def random_network(seed: int, keyphrases: int, units: int, leak: float, weight: float = 1.0) -> Network:
    """Return a network as PPL Bench makes them: 3 to 10 children, exponential weights and leaks."""
    chance = np.random.default_rng(seed)
    links = np.zeros((keyphrases, keyphrases + units))
    for k in range(keyphrases):
        children = np.arange(k + 1, keyphrases + units)
        own = chance.choice(children, chance.integers(3, 11), replace=False)
        links[k, own] = chance.exponential(weight, len(own)) + 1e-3
    leaks = chance.exponential(leak, keyphrases + units) + leak / 100
    return network_of(csr_array(links), leaks, np.full(keyphrases, -1))


def drawn(network: Network, documents: int, chance: np.random.Generator) -> np.ndarray:
    """Return documents drawn from a network, as states of all its nodes."""
    links, states = network.children.toarray(), np.zeros((documents, len(network.leaks)))
    for node in range(len(network.leaks)):
        sums = network.leaks[node] + states[:, : network.keyphrases] @ links[:, node]
        states[:, node] = chance.random(documents) < -np.expm1(-sums)
    return states


def enumerated(network: Network, counts: np.ndarray) -> np.ndarray:
    """Return the exact probabilities of the keyphrases; those that are no ancestors of a unit are off, as in the paper."""
    size = network.keyphrases
    links = network.children.toarray()
    reaches = (links[:, size:] * (counts > 0)).sum(axis=1) > 0
    for k in range(size - 1, -1, -1):
        reaches[k] |= (links[k, :size] * reaches > 0).any()
    states = np.array(list(product((0, 1), repeat=size)), float)
    states = states[(states[:, ~reaches] == 0).all(axis=1)]
    sums = network.leaks + states @ links
    on = np.column_stack((states, np.tile(counts > 0, (len(states), 1)))) > 0
    logs = np.where(on, np.log(-np.expm1(-sums)), -sums) @ np.append(np.ones(size), np.maximum(counts, 1))
    p = np.exp(logs - logs.max())
    return p @ states / p.sum()


def clustered(
    seed: int = 0, keyphrases: int = 5000, units: int = 20_000, links: int = 200_000
) -> tuple[Network, np.ndarray]:
    """Return a large network, and the subject of each keyphrase."""
    chance, subjects = np.random.default_rng(seed), 250
    of_keyphrase, of_unit = chance.integers(0, subjects, keyphrases), chance.integers(0, subjects, units)
    order = np.argsort(of_unit, kind="stable")
    begin = np.searchsorted(of_unit[order], np.arange(subjects + 1))
    parents = chance.integers(0, keyphrases, int(1.2 * links))
    subject = of_keyphrase[parents]
    sizes = begin[subject + 1] - begin[subject]
    inside = order[begin[subject] + (sizes * chance.random(len(parents)) ** 1.5).astype(int)]
    anywhere = (units * chance.random(len(parents)) ** 3).astype(int)
    children = keyphrases + np.where(chance.random(len(parents)) < 0.9, inside, anywhere)
    # Some links lead to a rarer keyphrase of the same subject.
    others = chance.permutation(keyphrases)[chance.integers(0, keyphrases, len(parents))]
    broader = (chance.random(len(parents)) < 0.04) & (others > parents)
    others = np.where(of_keyphrase[others] == subject, others, parents + subjects)
    children = np.where(broader & (others < keyphrases), others, children)
    pairs = chance.permutation(np.unique(parents * (keyphrases + units) + children))[:links]
    weights = np.clip(chance.exponential(0.3, len(pairs)), 0.02, 2)
    shape = (keyphrases, keyphrases + units)
    leaks = np.exp(chance.uniform(np.log(2e-4), np.log(5e-3), keyphrases + units))
    made = csr_array((weights, (pairs // shape[1], pairs % shape[1])), shape=shape)
    return network_of(made, leaks, np.full(keyphrases, -1)), of_keyphrase


def queries(network: Network, subjects: np.ndarray, length: int, number: int, seed: int = 1) -> csr_array:
    """Return documents with so many distinct units, drawn from three keyphrases of a subject at a time and some from anywhere."""
    chance = np.random.default_rng(seed + 1000 * length)
    rows = np.zeros((number, network.units))
    silhouettes = network.silhouettes
    for row in rows:
        while (row > 0).sum() < length:
            alike = np.flatnonzero(subjects == subjects[chance.integers(len(subjects))])
            for k in chance.choice(alike, min(3, len(alike)), replace=False):
                part = silhouettes[[k]]
                row[part.indices[chance.random(part.nnz) < -np.expm1(-part.data)]] += 1
            row[chance.integers(network.units)] += chance.random() < 0.3
        extra = chance.permutation(np.flatnonzero(row))[length:]
        row[extra] = 0
    return csr_array(rows)


def top(values: np.ndarray) -> set[int]:
    """Return the ten best keyphrases."""
    return {*np.argsort(-values, kind="stable")[:10].tolist()}


def overlap(first: csr_array, second: csr_array) -> float:
    """Return the mean share of the ten best keyphrases that two results have in common."""
    return float(np.mean([len(top(a) & top(b)) / 10 for a, b in zip(first.toarray(), second.toarray(), strict=True)]))


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return the processor seconds of a call: the least of some."""
    found = []
    for _ in range(times):
        begin = time.thread_time()
        work()
        found.append(time.thread_time() - begin)
    return min(found)


# Parts.


def show_exact() -> None:
    """Print the largest errors on networks of 12 keyphrases with large leaks."""
    print("\n| estimate | sweeps | largest error, mean of 10 networks | worst |\n|---|---|---|---|")
    networks = [random_network(seed, 12, 24, 0.1) for seed in range(10)]
    rows = [csr_array(drawn(n, 4, np.random.default_rng(s))[:, 12:]) for s, n in enumerate(networks)]
    truths = [np.array([enumerated(n, counts) for counts in x.toarray()]) for n, x in zip(networks, rows, strict=True)]
    for estimate, sweeps in product(("probabilities", "samples"), (5000, 100_000)):
        errors = [
            np.abs(encode(n, x, sweeps=sweeps, estimate=estimate, method="gibbs").toarray() - truth).max()
            for n, x, truth in zip(networks, rows, truths, strict=True)
        ]
        print(f"| {estimate} | {sweeps:,} | {np.mean(errors):.4f} | {max(errors):.4f} |")


def show_swaps() -> None:
    """Print the errors on networks with leaks of 1e-4 to 1e-3, where two parents of one unit rarely change places."""
    print(
        "\n| swaps a sweep | largest error of a document, median | mean | worst | ms a document |\n|---|---|---|---|---|"
    )
    cases = []
    for seed in range(10):
        made = random_network(seed, 10, 12, 0.1)
        chance = np.random.default_rng(seed)
        network = made.with_values(made.weights, np.exp(chance.uniform(np.log(1e-4), np.log(1e-3), 22)))
        states = drawn(made, 40, chance)
        chosen = states[states[:, 10:].sum(axis=1) >= 3][:4, 10:]
        cases.append((network, csr_array(chosen), np.array([enumerated(network, counts) for counts in chosen])))
    for swaps in (0, 1, 3, 10):
        errors, spent = [], 0.0
        for (network, rows, truth), seed in product(cases, range(3)):
            begin = time.thread_time()
            found = encode(network, rows, swaps=swaps, seed=seed, method="gibbs").toarray()
            spent += time.thread_time() - begin
            errors += np.abs(found - truth).max(axis=1).tolist()
        print(
            f"| {swaps} | {np.median(errors):.3f} | {np.mean(errors):.3f} | {max(errors):.3f} "
            f"| {1000 * spent / len(errors):.2f} |"
        )


def show_errors() -> None:
    """Print how far belief propagation is from the exact probabilities on small networks, which are dense."""
    print(
        "\n| leaks | keyphrases, units | documents | largest error of a document, median | mean | worst |\n|---|---|---|---|---|---|"
    )
    for leaks, (keyphrases, units) in product(("about .1", "1e-4 to 1e-3"), ((6, 12), (10, 12), (12, 24))):
        errors = []
        for seed in range(10):
            made = random_network(seed, keyphrases, units, 0.1)
            chance = np.random.default_rng(seed)
            small = np.exp(chance.uniform(np.log(1e-4), np.log(1e-3), keyphrases + units))
            network = made if leaks == "about .1" else made.with_values(made.weights, small)
            states = drawn(made, 40, chance)
            rows = states[states[:, keyphrases:].sum(axis=1) >= 3][:4, keyphrases:]
            truth = np.array([enumerated(network, counts) for counts in rows])
            errors += np.abs(encode(network, csr_array(rows)).toarray() - truth).max(axis=1).tolist()
        figures = " | ".join(f"{value:.3f}" for value in (np.median(errors), np.mean(errors), max(errors)))
        print(f"| {leaks} | {keyphrases}, {units} | {len(errors)} | {figures} |")


def show_weights() -> None:
    """Print how well EM finds weights again when keyphrases are observed, from 20,000 documents, beside their standard errors.

    A z-score is the error of a weight in its standard errors. If EM finds the maximum of the likelihood, z-scores have a mean of 0 and a
    standard deviation of 1, and 95 % are within 1.96. `expected` is the share of the weights that would then be within 5 %.
    """
    print(
        "\n| seed | links | of them | within 5 % | expected | standard error, median | z mean | z sd | within 1.96 |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    for seed in range(3):
        teacher = random_network(seed, 10, 30, 0.05)
        states = drawn(teacher, 20_000, np.random.default_rng(seed))
        network = fitted_to_states(teacher, states)
        deviations = standard_errors(teacher, states[:, :10])
        frequent = states[:, teacher.parents].sum(axis=0) >= 500
        errors, z = np.abs(network.weights / teacher.weights - 1), (network.weights - teacher.weights) / deviations
        likely = np.array([erf(x / np.sqrt(2)) for x in 0.05 * teacher.weights / deviations])
        # The normal approximation of an estimate fails where nearly all children of a parent are on.
        for name, chosen in (
            ("parent on ≥ 500 times", frequent),
            ("and weight ≤ 3", frequent & (teacher.weights <= 3)),
        ):
            inside = [f"{(found[chosen]).mean():.0%}" for found in (errors <= 0.05, likely, np.abs(z) <= 1.96)]
            print(
                f"| {seed} | {name} | {chosen.sum()} | {inside[0]} | {inside[1]} "
                f"| {np.median((deviations / teacher.weights)[chosen]):.3f} | {z[chosen].mean():.2f} | {z[chosen].std():.2f} "
                f"| {inside[2]} |"
            )


def fitted_to_states(teacher: Network, states: np.ndarray) -> Network:
    """Return the network that EM finds from documents whose keyphrases are observed, after 300 iterations."""
    children = np.repeat(np.arange(len(teacher.leaks)), np.diff(teacher.starts))
    on = states[:, teacher.parents]
    network = teacher.with_values(np.full(len(children), 0.5), np.full(len(teacher.leaks), 0.1))
    for _ in range(300):
        sums = network.leaks + states[:, : teacher.keyphrases] @ network.children.toarray()
        each = states / -np.expm1(-sums)
        links = (on * each[:, children]).sum(axis=0) * network.strengths / on.sum(axis=0)
        leaks = each.mean(axis=0) * -np.expm1(-network.leaks)
        network = network.with_values(*(-np.log1p(-np.minimum(x, 1 - 1e-6)) for x in (links, leaks)))
    return network


def standard_errors(network: Network, keyphrases: np.ndarray) -> np.ndarray:
    """Return the standard error of each weight by the information of documents whose keyphrases are observed."""
    found = np.zeros(len(network.weights))
    for child in range(len(network.leaks)):
        links = slice(network.starts[child], network.starts[child + 1])
        inputs = np.column_stack((np.ones(len(keyphrases)), keyphrases[:, network.parents[links]]))
        sums = inputs @ np.append(network.leaks[child], network.weights[links])
        information = (inputs / np.expm1(sums)[:, None]).T @ inputs
        found[links] = np.sqrt(np.diag(np.linalg.inv(information)))[1:]
    return found


def show_pruning(number: int) -> None:
    """Print how much the ten best keyphrases change by pruning, beside how much they change with the seed."""
    network, subjects = clustered()
    print(
        "\n| units | pruned and full | two seeds, pruned | two seeds, full | ms pruned | ms full |\n|---|---|---|---|---|---|"
    )
    for length in (10, 30, 100):
        rows = queries(network, subjects, length, number)
        pruned, full, other, other_full = (
            encode(network, rows, most=most, seed=seed, method="gibbs")
            for seed, most in ((0, 200), (0, 5000), (1, 200), (1, 5000))
        )
        spent = [
            1000 * seconds(lambda m=most, x=rows: encode(network, x, most=m, method="gibbs")) / number
            for most in (200, 5000)
        ]
        print(
            f"| {length} | {overlap(pruned, full):.2f} | {overlap(pruned, other):.2f} | {overlap(full, other_full):.2f} "
            f"| {spent[0]:.1f} | {spent[1]:.1f} |"
        )


def show_propagation(number: int) -> None:
    """Print the overlap of the ten best keyphrases by belief propagation, and by short Gibbs chains, with those by a long chain."""
    network, subjects = clustered()
    print("\n| units | propagation | probabilities | samples | propagation ms | Gibbs ms |\n|---|---|---|---|---|---|")
    for length in LENGTHS:
        rows = queries(network, subjects, length, number)
        truth = encode(network, rows, sweeps=100_000, seed=5, method="gibbs")
        found = [
            overlap(truth, encode(network, rows, **options))  # type: ignore[arg-type]
            for options in ({"method": "propagation"}, {"method": "gibbs"}, {"method": "gibbs", "estimate": "samples"})
        ]
        spent = [
            1000 * seconds(lambda m=m, x=rows: encode(network, x, method=m), 3) / number
            for m in ("propagation", "gibbs")
        ]
        print(f"| {length} | {' | '.join(f'{x:.2f}' for x in found)} | {spent[0]:.2f} | {spent[1]:.2f} |")


def show_cost(number: int) -> None:
    """Print the slopes of the logarithm of time over those of sweeps, keyphrases and units (figure 6 of the paper)."""
    network, subjects = clustered()
    rows = queries(network, subjects, 100, number)
    print("\n| of | values | ms | slope |\n|---|---|---|---|")
    for name, values in (
        ("sweeps", (2500, 5000, 10_000, 20_000)),
        ("most", (50, 100, 200, 400)),
        ("units", (50, 100, 200)),
    ):
        spent = []
        for value in values:
            given = queries(network, subjects, value, number) if name == "units" else rows
            options = {} if name == "units" else {name: value}
            spent.append(1000 * seconds(lambda g=given, o=options: encode(network, g, method="gibbs", **o), 2) / number)  # type: ignore[misc]
        slope = np.polyfit(np.log(values), np.log(spent), 1)[0]
        print(f"| {name} | {', '.join(map(str, values))} | {', '.join(f'{x:.1f}' for x in spent)} | {slope:.2f} |")


def write_model(network: Network, path: Path) -> None:
    """Write a network to a file that the released program can read. There, node 0 is the parent of all leaks."""
    lines = ["parent\tchild\tweight"]
    lines += [f"0\t{node + 1}\t{leak:.17g}" for node, leak in enumerate(network.leaks)]
    children = np.repeat(np.arange(len(network.leaks)), np.diff(network.starts))
    rows = zip(network.parents.tolist(), children.tolist(), network.weights.tolist(), strict=True)
    lines += [f"{parent + 1}\t{child + 1}\t{weight:.17g}" for parent, child, weight in rows]
    path.write_text("\n".join(lines) + "\n")


def show_peer(program: str, number: int) -> None:
    """Print the time of queries beside the released program's, each query by one and then by the other."""
    network, subjects = clustered()
    with tempfile.TemporaryDirectory() as folder:
        write_model(network, Path(folder) / "model")
        command = [program, str(Path(folder) / "model"), str(network.keyphrases + 1), "5000", "200"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
            assert peer.stdin and peer.stdout
            peer.stdout.readline()
            encode(network, queries(network, subjects, 2, 1), method="gibbs")
            print(
                "\n| units | released ms | Sublex ms | ratio | propagation ms | ten best in common |\n|---|---|---|---|---|---|"
            )
            for length in LENGTHS:
                compare(peer, network, queries(network, subjects, length, number))


def compare(peer: subprocess.Popen[str], network: Network, rows: csr_array) -> None:
    """Print a row of the comparison."""
    assert peer.stdin and peer.stdout
    spent, same = [], []
    for number in range(rows.shape[0]):
        row = rows[[number]]
        first = network.keyphrases + 1
        line = " ".join(f"{first + unit}:{count:g}" for unit, count in zip(row.indices, row.data, strict=True))
        peer.stdin.write(line + "\n")
        peer.stdin.flush()
        milliseconds, *answer = peer.stdout.readline().split()
        found = np.zeros(network.keyphrases)
        for item in answer:
            keyphrase, _, value = item.partition(":")
            found[int(keyphrase) - 1] = float(value)
        ours = 1000 * seconds(lambda row=row: encode(network, row, method="gibbs"))
        propagation = 1000 * seconds(lambda row=row: encode(network, row, method="propagation"))
        spent.append((float(milliseconds), ours, propagation))
        same.append(len(top(found) & top(encode(network, row, method="gibbs").toarray()[0])) / 10)
    theirs, ours, propagation = np.mean(spent, axis=0)
    print(
        f"| {rows.nnz // rows.shape[0]} | {theirs:.1f} | {ours:.2f} | {ours / theirs:.2f} | {propagation:.2f} "
        f"| {np.mean(same):.2f} |",
        flush=True,
    )


def main() -> None:
    """Run the parts that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:-1])
    parser.add_argument("--queries", type=int, default=6)
    parser.add_argument("--peer", metavar="PROGRAM", help="the driver of the released program, for the part peer")
    options = parser.parse_args()
    if "peer" in options.parts and not options.peer:
        parser.error("The part peer needs --peer PROGRAM.")
    for part in options.parts:
        arguments = {"peer": (options.peer, options.queries), "pruning": (options.queries,)}
        arguments |= dict.fromkeys(("propagation", "cost"), (options.queries,))
        globals()[f"show_{part}"](*arguments.get(part, ()))


if __name__ == "__main__":
    main()
