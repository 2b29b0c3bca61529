// Texts of collections and of users, shown safely: as text nodes, isolated from the text around them, controls made visible.

import { html } from './html.js';

const BIDI = {
  '\u061c': 'ALM', '\u200e': 'LRM', '\u200f': 'RLM', '\u202a': 'LRE', '\u202b': 'RLE', '\u202c': 'PDF', '\u202d': 'LRO',
  '\u202e': 'RLO', '\u2066': 'LRI', '\u2067': 'RLI', '\u2068': 'FSI', '\u2069': 'PDI',
};
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

// Return a text with pictures for control characters and names for those that turn the direction of text.
export function visible(text) {
  return String(text).replace(HIDDEN, (character) => {
    const code = character.codePointAt(0);
    if (BIDI[character]) return `⟨${BIDI[character]}⟩`;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '␡' : '⟨' + code.toString(16).padStart(4, '0').toUpperCase() + '⟩';
  });
}

// A text in its own direction.
export const Text = ({ children, ...rest }) => html`<bdi ...${rest}>${visible(children ?? '')}</bdi>`;

// Parts [text, is_match] as text with marks.
export const Parts = ({ parts }) =>
  html`<bdi>${parts.map(([text, match]) => (match ? html`<mark>${visible(text)}</mark>` : visible(text)))}</bdi>`;

// The address of the page without the generation that it names.
function now() {
  const given = new URLSearchParams(location.search);
  for (const name of ['generation', 'from']) given.delete(name);
  return `?${given}`;
}

// A mistake: its sentence and, in an expression, the place.
export const Problem = ({ problem }) => html`
  <div class="problem" role="alert">
    <p>${visible(problem.detail)}</p>
    ${problem.caret && html`<pre>${`${visible(problem.caret.text)}\n${problem.caret.mark}`}</pre>`}
    ${problem.now && html`<p><a href=${now()} data-focus="hits">As the index is now</a></p>`}
  </div>`;

export const Notes = ({ notes }) =>
  notes?.length ? html`<ul class="notes">${notes.map((note) => html`<li>${visible(note)}</li>`)}</ul>` : null;
