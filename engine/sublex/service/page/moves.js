// Compare rankings, given as lists of docnos: how far each document moved, and what two rankings share.

// The letter by which the page calls a ranking.
export const letter = (place) => 'ABCDEF'[place];

// Return for each docno of `ranking` how many ranks it rose since `base`; null for one that is not in `base`.
// `places` are those of the docnos in their ranking, from 0, if these are not the first ones.
export function moves(ranking, base, places = [...ranking.keys()]) {
  const ranks = new Map(base.map((docno, place) => [docno, place]));
  return ranking.map((docno, at) => (ranks.has(docno) ? ranks.get(docno) - places[at] : null));
}

// Return how many documents two rankings share in their first 1, 2, … hits.
export function overlaps(one, other) {
  const seen = [new Set(), new Set()];
  let shared = 0;
  const found = [];
  for (let depth = 0; depth < Math.max(one.length, other.length); depth++) {
    for (const [side, docno] of [one[depth], other[depth]].entries()) {
      if (docno === undefined) continue;
      if (seen[1 - side].has(docno)) shared += 1;
      seen[side].add(docno);
    }
    found.push(shared);
  }
  return found;
}

// Return a move as text and as words for screen readers.
export function told(move) {
  if (move === null) return ['new', 'new'];
  if (move > 0) return [`↑${move}`, `up ${move}`];
  if (move < 0) return [`↓${-move}`, `down ${-move}`];
  return ['=', 'same rank'];
}
