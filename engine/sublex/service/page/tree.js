// An explanation as a tree that folds: each node with its value, and a bar for what it adds to the score.

import { html } from './html.js';
import { short } from './numbers.js';
import { shares } from './contributions.js';
import { Text, visible } from './text.js';

const OPERATIONS = { product: 'product of', scaled: 'factor times, plus offset' };

function asText(fact) {
  if (Array.isArray(fact)) return fact.map(asText).join(', ');
  if (fact && typeof fact === 'object') return Object.entries(fact).map(([name, value]) => `${name} ${asText(value)}`).join(', ');
  return typeof fact === 'number' && !Number.isInteger(fact) ? short(fact) : String(fact);
}

function Line({ node, share, most }) {
  const facts = Object.entries(node.evidence ?? {}).map(([name, fact]) => `${name} ${asText(fact)}`).join('; ');
  const operation = node.parts.length ? OPERATIONS[node.kind] : undefined;
  return html`<span class="node">
    <span class="node-value">${node.kind === 'evidence' ? (node.value ? `(${short(node.value)})` : '') : short(node.value)}</span>
    <span class="node-bar" aria-hidden="true">${share !== undefined && most > 0 && html`<span class=${share < 0 ? 'is-less' : ''} style=${{ width: `${(100 * Math.abs(share)) / most}%` }}></span>`}</span>
    <span class="node-label"><${Text}>${node.label}<//>${operation && html` <em>${operation}</em>`}
      ${facts && html` <small>${visible(facts)}</small>`}</span>
  </span>`;
}

function Node({ node, depth, found, most }) {
  const line = html`<${Line} node=${node} share=${found.get(node)} most=${most} />`;
  if (!node.parts.length) return html`<li>${line}</li>`;
  return html`<li><details open=${depth < 4}><summary>${line}</summary>
    <ul>${node.parts.map((part) => html`<${Node} node=${part} depth=${depth + 1} found=${found} most=${most} />`)}</ul></details></li>`;
}

export function Tree({ tree }) {
  const found = shares(tree);
  const most = Math.max(...[...found.values()].map(Math.abs).filter(Number.isFinite));
  return html`<ul class="tree"><${Node} node=${tree} depth=${0} found=${found} most=${most} /></ul>`;
}
