// What is in the index: its facts, its fitted models, and its terms, with their frequencies as Zipf drew them.

import { html } from './html.js';
import { Answers } from './ask.js';
import { link } from './address.js';
import { Commands } from './commands.js';
import { Problem, Text } from './text.js';

const TERMS = 200;

export default function IndexView({ state, address, type, say, health }) {
  const pattern = state.word || '*';
  const requests = [['info', { index: state.index, terms: TERMS }], ['card', { index: state.index }], ['terms', { index: state.index, pattern, number: 50 }]];
  const onAnswers = ([info, , terms]) => say(terms.problem?.detail ?? `${info.answer?.result.documents ?? 0} documents; ${terms.answer?.result.length ?? 0} terms shown`);
  return html`<section class="index-view" aria-label="Index">
    <${Answers} requests=${requests} onAnswers=${onAnswers}>
      ${([info, card, terms]) => html`<div class="halves">
        <div>${info.problem && html`<${Problem} problem=${info.problem} />`}${info.answer && html`<${Facts} facts=${info.answer.result} />`}
          <h2>Fitted models</h2>${card.answer?.result.length
            ? html`<ul class="models">${card.answer.result.map((model) => html`<li><a href=${link(state, { view: '', ranker: [model.expression] })}><code><${Text}>${model.expression}<//></code></a> ${model.outdated && html`<${Text}>${model.outdated}<//>`}</li>`)}</ul>`
            : html`<p class="soft">none</p>`}
          ${info.answer && html`<${Zipf} terms=${info.answer.result.top_terms} />`}</div>
        <div><label class="query-field"><span class="label">Terms that match; * and ? stand for any characters, for any one</span>
          <input id="query" class="mono" type="search" spellcheck="false" autocomplete="off" placeholder="*" value=${address.word} onInput=${(event) => type({ word: event.target.value })} /></label>
          ${terms.problem && html`<${Problem} problem=${terms.problem} />`}
          ${terms.answer && html`<div class="scroll" tabindex="0" role="region" aria-label="Terms"><table class=${`plain terms ${terms.isOld ? 'is-old' : ''}`}><thead><tr><th scope="col">Written</th><th scope="col" class="text">Term</th><th scope="col">Documents</th><th scope="col">Occurrences</th></tr></thead>
            <tbody>${terms.answer.result.map((term) => html`<tr><th scope="row"><a class="hit-link" href=${link(state, { view: '', query: term.written, word: '' })}><${Text}>${term.written}<//></a></th>
              <td class="text"><code><${Text}>${term.term}<//></code></td><td>${term.df.toLocaleString('en')}</td><td>${term.cf.toLocaleString('en')}</td></tr>`)}</tbody></table></div>`}</div>
      </div>`}
    <//>
    <${Commands} state=${state} requests=${requests} health=${health} />
  </section>`;
}

const SHOWN = ['documents', 'terms', 'tokens', 'postings', 'mean_length', 'analyzer', 'profile', 'stored', 'fields', 'columns', 'bytes', 'generation'];

const Facts = ({ facts }) => html`<table class="plain"><caption class="visually-hidden">Facts</caption><tbody>${SHOWN.filter((name) => facts[name] !== undefined && facts[name] !== '').map((name) => html`<tr>
  <th scope="row">${name.replace('_', ' ')}</th><td><${Text}>${typeof facts[name] === 'number' ? facts[name].toLocaleString('en', { maximumFractionDigits: 1 }) : facts[name]}<//></td></tr>`)}</tbody></table>`;

// Document frequency by rank, both on logarithmic scales.
function Zipf({ terms }) {
  if (!terms?.length) return null;
  const [width, height] = [420, 180];
  const most = Math.log10(Math.max(...terms.map((term) => term.df), 2));
  const x = (place) => (width * Math.log10(place + 1)) / Math.log10(Math.max(terms.length, 2));
  const y = (df) => height - (height * Math.log10(Math.max(df, 1))) / most;
  const words = `Documents of the ${terms.length} most frequent terms, from ${terms[0].df} for ${terms[0].written} to ${terms.at(-1).df}`;
  return html`<figure class="zipf"><svg viewBox=${`-6 -6 ${width + 12} ${height + 12}`} role="img" aria-label=${words}>
    <path class="axis" d=${`M0 0V${height}H${width}`} />
    ${terms.map((term, place) => html`<circle cx=${x(place)} cy=${y(term.df)} r="2.2"><title>${`${term.written} ${term.df}`}</title></circle>`)}
  </svg><figcaption class="soft">${words}; both axes are logarithmic</figcaption></figure>`;
}
