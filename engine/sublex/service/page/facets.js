// The documents found, counted by a column or by the labels of a fitted model. A click on one filters by it.

import { html } from './html.js';
import { Answers } from './ask.js';
import { CLOSED, link } from './address.js';
import { Problem, Text } from './text.js';
import { asked } from './search.js';

const NUMBER = 12;
const QUOTES = [["'", "'"], ['‘', '’'], ['«', '»']];

// Return the filter that keeps the documents with a value, as a stage of an expression; null if it cannot be written.
export function filterOf(column, value) {
  const text = String(value);
  const quotes = QUOTES.find((pair) => !pair.some((quote) => text.includes(quote)));
  return !quotes || /["\\\n]/.test(text) ? null : `where("${column} = ${quotes[0]}${text}${quotes[1]}")`;
}

// The filters that keep the documents with a label of a fitted model, by the name of the model.
const BY_LABEL = { lda: 'topic', sourcelda: 'topic', laki: 'keyphrase' };

// Return the filter that keeps the documents with a label of a fitted model, as a stage; null if there is no such filter.
export function labelFilterOf(model, { label, number }) {
  const filter = BY_LABEL[model.split('(')[0]];
  const isPlain = label && !/["\\\n]/.test(label);
  return filter && (isPlain || number !== undefined) ? `${filter}(${isPlain ? `"${label}"` : number}, of=${model})` : null;
}

export default function Facets({ state, columns, models }) {
  const names = [...columns, ...models];
  if (!names.length || !state.query.trim()) return null;
  const given = { ...asked(state, state.ranker[0]), k: '', of: state.of, number: NUMBER };
  return html`<section class="facets" aria-label="Facets">
    <p class="facet-names"><span class="label">Facets</span> ${names.map((name) => html`<a role="button" data-replace aria-pressed=${name === state.of}
      href=${link(state, { of: name === state.of ? '' : name })}><${Text}>${name}<//></a>`)}</p>
    ${state.of && html`<${Answers} requests=${[['facets', given]]}>
      ${([{ answer, problem, isOld }]) => html`
        ${problem && html`<${Problem} problem=${problem} />`}
        ${answer && !problem && html`<div class=${isOld ? 'is-old' : ''}><${Counts} state=${state} result=${answer.result} isColumn=${columns.includes(state.of)} /></div>`}`}
    <//>`}
  </section>`;
}

function Counts({ state, result, isColumn }) {
  const most = Math.max(...result.facets.map((facet) => facet.documents), 1);
  const ranker = state.ranker[0] || 'BM25';
  const choose = (stage) => (ranker.includes(stage) ? ranker.replace(` >> ${stage}`, '') : `${ranker} >> ${stage}`);
  return html`<p class="soft">${result.all ? 'All' : 'The first'} ${result.counted.toLocaleString('en')} documents found, by <${Text}>${state.of}<//></p>
    <ul class="counts">${result.facets.map((facet) => {
      const name = String(facet.value ?? facet.label ?? '');
      const stage = isColumn ? filterOf(state.of, name) : labelFilterOf(state.of, facet);
      const isOn = stage && ranker.includes(stage);
      return html`<li><span class="count">${facet.documents.toLocaleString('en')}</span>
        <span class="bar" aria-hidden="true"><span style=${{ width: `${(100 * facet.documents) / most}%` }}></span></span>
        ${stage ? html`<a href=${link(state, { ...CLOSED, ranker: [choose(stage)] })} aria-current=${isOn ? 'true' : undefined}><${Text}>${name}<//>${isOn ? ' (shown alone)' : ''}</a>` : html`<${Text}>${name}<//>`}</li>`;
    })}</ul>
    ${result.missing > 0 && html`<p class="soft">${result.missing.toLocaleString('en')} without a value</p>`}`;
}
