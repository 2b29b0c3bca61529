// What a document is about: its keyphrases by each fitted model that has keyphrases. A full circle stands before one that the
// text mentions, a hollow one before one that it does not.

import { html } from './html.js';
import { Answers } from './ask.js';
import { link } from './address.js';
import { Problem, Text } from './text.js';

const NUMBER = 10;
// A weaker keyphrase is shown if the document is more likely about it than not.
const LEAST = 0.5;

export default function About({ state, models }) {
  const requests = models.map((expression) => ['keyphrases', { index: state.index, generation: state.generation, expression, docno: state.docno, number: NUMBER, perhaps: true }]);
  return html`<${Answers} requests=${requests}>
    ${(slots) => slots.map(({ answer, problem, isOld }, place) => html`<section class="about" aria-label=${`Keyphrases by ${models[place]}`}>
      <h3>What it is about, by <code><${Text}>${models[place]}<//></code></h3>
      ${problem && html`<${Problem} problem=${problem} />`}
      ${answer && !problem && html`<div class=${isOld ? 'is-old' : ''}><${Keyphrases} state=${state} model=${models[place]} rows=${answer.result.filter((row) => row['about it'] === 'yes' || row.strength >= LEAST)} /></div>`}
    </section>`)}
  <//>`;
}

function Keyphrases({ state, model, rows }) {
  if (!rows.length) return html`<p class="soft">The model knows no keyphrase for this document.</p>`;
  return html`<ul class="counts">${rows.map((row) => {
    const isMentioned = row.mentioned === 'yes';
    return html`<li><span class="count">${row.strength.toFixed(2)}</span>
      <span class="bar" aria-hidden="true"><span style=${{ width: `${100 * Math.min(1, row.strength)}%` }}></span></span>
      <span class=${isMentioned ? '' : 'is-latent'} title=${row['evoked by'] ? `evoked by ${row['evoked by']}` : ''}><span aria-hidden="true">${isMentioned ? '●' : '○'} </span>
        <a href=${link(state, { view: 'meaning', model, word: row.keyphrase })}><${Text}>${row.keyphrase}<//></a>
        <span class="visually-hidden">${isMentioned ? ', mentioned' : ', not mentioned'}</span>${row['about it'] === 'yes' ? '' : html` <span class="soft">perhaps</span>`}</span></li>`;
  })}</ul>
  <p class="soft">● the text mentions it, ○ it does not</p>`;
}
