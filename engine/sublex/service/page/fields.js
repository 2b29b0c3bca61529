// The fields of a request: the query, one expression for each ranking, sliders for the numbers in it, and the settings.

import { html } from './html.js';
import { Expression } from './expression_field.js';
import { Reading } from './reading.js';
import { Knobs } from './knobs.js';
import { Lazy } from './lazy.js';
import { link } from './address.js';
import { letter } from './moves.js';

const LANGUAGES = { plain: 'plain words', query: 'query language', weighted: 'weighted terms' };

// An expression is asked for when typing pauses for this many milliseconds, since half of one is a mistake.
const EXPRESSION_PAUSE = 250;

export function Fields({ state, asked, type, go, topics }) {
  const hasQuery = state.view !== 'topics';
  const several = state.ranker.length > 1;
  const rank = (place, ranker) => state.ranker.map((each, at) => (at === place ? ranker : each));
  return html`<form class=${`fields ${several ? 'has-several' : ''}`} role="search" onSubmit=${(event) => event.preventDefault()}>
    ${hasQuery && html`<label class="query-field"><span class="label">Query</span>
      <input id="query" type="search" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="10000" value=${state.query} placeholder=${state.view === 'judge' ? topics?.find((each) => each.qid === state.topic)?.text : undefined}
        onInput=${(event) => type({ query: event.target.value, topic: '', docno: '', versus: '', why_not: '' })} /></label>
    <${Reading} state=${asked} />`}
    <div class="rankers">
      ${state.ranker.map((ranker, place) => html`<div class="ranker" key=${place}>
        <${Expression} id=${place ? `ranker-${place + 1}` : 'ranker'} label=${several ? `Ranking ${letter(place)}` : 'Ranked by'} value=${ranker} state=${state}
          onType=${(text) => type({ ranker: rank(place, text), base: '' }, EXPRESSION_PAUSE)} />
        ${several && html`<a class="remove" href=${link(state, { ranker: state.ranker.filter((_, at) => at !== place) })}>Remove<span class="visually-hidden"> ranking ${letter(place)}</span></a>`}
        <${Knobs} key=${`knobs-${place}`} expression=${ranker} letter=${several ? letter(place) : ''}
          onChange=${(text) => type({ ranker: rank(place, text), base: several ? '' : state.base || ranker })} />
      </div>`)}
      ${hasQuery && state.costs && asked.query.trim() && html`<${Lazy} key="costs" load=${() => import('./costs.js')} state=${asked} />`}
    </div>
    <div class="settings">
      ${state.ranker.length < 6 && html`<a class="add" href=${link(state, { ranker: [...state.ranker, ''], docno: '', versus: '', why_not: '', base: '' })} data-focus="last-ranker">Compare with another ranking</a>`}
      ${hasQuery && html`<a role="button" data-replace aria-pressed=${Boolean(state.costs)} href=${link(state, { costs: state.costs ? '' : 'true' })}>Cost of each stage</a>`}
      ${hasQuery && topics?.length > 0 && html`<label>Topic <select value=${state.topic} onChange=${(event) => {
        const topic = topics.find((each) => each.qid === event.target.value);
        go({ topic: topic?.qid ?? '', query: topic?.text ?? state.query, docno: '', versus: '', why_not: '' });
      }}><option value="">none</option>${topics.map(({ qid, text }) => html`<option value=${qid} selected=${qid === state.topic}>${qid} ${text}</option>`)}</select></label>`}
      ${hasQuery && html`<label>Hits <input id="k" type="number" min="1" max="1000" value=${state.k} onInput=${(event) => /^[1-9]\d{0,2}$|^1000$/.test(event.target.value) && type({ k: event.target.value })} /></label>
      <label>Read as <select value=${state.language} onChange=${(event) => go({ language: event.target.value })}>${Object.entries(LANGUAGES).map(([name, words]) =>
        html`<option value=${name} selected=${name === state.language}>${words}</option>`)}</select></label>`}
    </div>
  </form>`;
}
