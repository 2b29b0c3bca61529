// How the query is read, below the field in which it is typed: words with their terms and documents, stop words, unknown words.

import { html } from './html.js';
import { Answers } from './ask.js';
import { Text } from './text.js';

const MEANINGS = { stopped: 'left out', unknown: 'in no document' };

const Piece = ({ span: [text, style] }) =>
  style || text.trim()
    ? html`<span class=${`read-${style || 'plain'}`} title=${MEANINGS[style]}><${Text}>${text}<//></span>`
    : html`<span class=${text.length > 1 ? 'gap' : ''}> </span>`;

// The hits come first: they are asked for at once, and this so many milliseconds later.
const AFTER = 50;

export function Reading({ state }) {
  if (!state.query.trim()) return html`<p class="reading"> </p>`;
  const asked = { index: state.index, query: state.query, language: state.language };
  return html`<${Answers} requests=${[['reading', asked]]} wait=${AFTER}>
    ${([{ answer }]) => html`<p class="reading"><span class="visually-hidden">Read as: </span>
      ${answer?.result.parts.map((span) => html`<${Piece} span=${span} />`)}</p>`}
  <//>`;
}
