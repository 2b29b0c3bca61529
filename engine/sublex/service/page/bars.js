// Bars that add up: each begins where the one before ends, and the last shows the whole score.

import { html } from './html.js';
import { short, signed } from './numbers.js';
import { evidence } from './contributions.js';
import { Text } from './text.js';

const MAX_ROWS = 24;
// The end of the label of a word that the document lacks.
const MISSING = ': not in this document';

// Return the rows to show: the largest units one by one, the others in one row.
function rowsOf(found) {
  const ordered = [...found].map((unit, place) => ({ ...unit, place }));
  if (ordered.length <= MAX_ROWS) return ordered;
  const kept = new Set([...ordered].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, MAX_ROWS - 1).map((u) => u.place));
  const rest = ordered.filter((unit) => !kept.has(unit.place));
  const value = rest.reduce((sum, unit) => sum + unit.value, 0);
  return [...ordered.filter((unit) => kept.has(unit.place)), { part: '', label: `${rest.length} others`, value, facts: '' }];
}

export function Bars({ tree, found, colours }) {
  if (!Number.isFinite(tree.value)) return html`<p>The document has no score: it is not found.</p>`;
  const rows = rowsOf(found);
  let sum = 0;
  const placed = rows.map((row) => ({ ...row, from: sum, to: (sum += row.value) }));
  const ends = [0, tree.value, ...placed.flatMap((row) => [row.from, row.to])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const at = (value) => (high > low ? (100 * (value - low)) / (high - low) : 0);
  const bar = (from, to) => ({ left: `${at(Math.min(from, to))}%`, width: `${Math.max(at(Math.max(from, to)) - at(Math.min(from, to)), 0.4)}%` });
  const parts = [...new Set(rows.map((row) => row.part))];
  const several = parts.filter(Boolean).length > 1;
  // Each part of a blend says the same of a word that the document lacks.
  const said = [...new Map(evidence(tree).filter((node) => !node.label.startsWith('frequency')).map((node) => [node.label, node])).values()];
  const uncounted = said.filter((node) => !node.label.endsWith(MISSING));
  const missing = said.filter((node) => node.label.endsWith(MISSING)).map((node) => node.label.slice(0, -MISSING.length));
  return html`<table class="bars">
    <caption class="visually-hidden">What each part adds to the score</caption>
    <thead class="visually-hidden"><tr><th scope="col">Part</th><th scope="col">Bar</th><th scope="col">Adds</th></tr></thead>
    ${parts.map((part) => html`<tbody>
      ${several && part && html`<tr class="bars-part"><th colspan="2" scope="rowgroup"><code><${Text}>${part}<//></code></th>
        <td>${signed(rows.filter((row) => row.part === part).reduce((all, row) => all + row.value, 0))}</td></tr>`}
      ${placed.filter((row) => row.part === part).map((row) => html`<tr title=${row.facts}>
        <th scope="row"><span class=${`word colour-${colours.get(row.label.toLowerCase()) ?? 0}`}><${Text}>${row.label}<//></span></th>
        <td class="track" aria-hidden="true"><span class=${`span colour-${colours.get(row.label.toLowerCase()) ?? 0} ${row.value < 0 ? 'is-less' : ''}`} style=${bar(row.from, row.to)}></span></td>
        <td>${signed(row.value)}</td></tr>`)}
    </tbody>`)}
    <tbody><tr class="bars-sum"><th scope="row">Score</th>
      <td class="track" aria-hidden="true"><span class="span is-sum" style=${bar(0, tree.value)}></span></td>
      <td>${short(tree.value)}</td></tr></tbody>
  </table>
  ${said.length > 0 && html`<ul class="evidence">${missing.length > 0 && html`<li>Not in this document: <${Text}>${missing.join(', ')}<//></li>`}${uncounted.map((node) => html`<li><${Text}>${node.label}<//>${
    node.evidence?.added ? html`: <${Text}>${Object.entries(node.evidence.added).map(([word, weight]) => `${word} ${short(weight)}`).join(', ')}<//>` : ''}</li>`)}</ul>`}`;
}
