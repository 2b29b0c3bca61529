// The view of one ranking: what was found, the hits, and beside them why a document stands where it stands.

import { html } from './html.js';
import { Answers } from './ask.js';
import { CLOSED, link } from './address.js';
import { Commands } from './commands.js';
import { Hits } from './hits.js';
import { Notes, Problem, Text } from './text.js';
import { counted } from './numbers.js';
import { Lazy } from './lazy.js';

// The highest rank that the service shows.
const MOST = 1000;

// The last rank that the page shows.
export const lastRank = (state) => Math.min(MOST, Number(state.from) + Number(state.k) - 1);

export const asked = (state, ranker) => ({
  index: state.index, query: state.query, ranker, k: state.k, generation: state.generation, language: state.language === 'plain' ? '' : state.language,
});

export function Search({ state, say, grades, info, health, isFollowed }) {
  if (!state.query.trim()) return html`<${Empty} state=${state} />`;
  const request = ['search', { ...asked(state, state.ranker[0]), from: state.from === '1' ? '' : state.from, parts: true }];
  const requests = [request];
  if (state.base) requests.push(['search', { ...asked(state, state.base), k: lastRank(state), docnos: true }]);
  const onAnswers = ([{ answer, problem }]) => say(problem ? problem.detail : sentence(answer.result.hits, state));
  return html`<div class=${state.docno ? 'split' : 'single'}>
    <section class="results" aria-label="Hits">
      <h2 class="visually-hidden">Hits</h2>
      ${(columnsOf(info).length > 0 || modelsOf(info).length > 0) && html`<${Lazy} load=${() => import('./facets.js')} state=${state} columns=${columnsOf(info)} models=${modelsOf(info)} />`}
      <${Answers} requests=${requests} onAnswers=${onAnswers}>
        ${([{ answer, problem, isOld }, base]) => html`
          ${problem && html`<${Problem} problem=${problem} />`}
          ${answer && html`<div class=${isOld || problem ? 'is-old' : ''} aria-busy=${isOld}>
            <${Notes} notes=${answer.notes} />
            ${base?.answer && html`<p class="basis">Moved since <code><${Text}>${state.base}<//></code>
              <a href=${link(state, { ranker: [state.base, state.ranker[0]], base: '', ...CLOSED })}>Side by side</a>
              <a href=${link(state, { ranker: [state.base], base: '' })}>Take back</a></p>`}
            <${Hits} state=${state} hits=${answer.result.hits} grades=${grades}
              base=${base?.answer?.result.hits.map((hit) => hit.docno)} />
            <${Pages} state=${state} answer=${answer} />
          </div>`}`}
      <//>
      <${Commands} state=${state} requests=${[request]} query=${state.query} health=${health} />
    </section>
    ${state.docno && html`<${Lazy} load=${() => import('./why.js')} state=${state} say=${say} health=${health} info=${info} isFollowed=${isFollowed} />`}
  </div>`;
}

// The columns of the index and its fitted models, as `info` lists them: "year:int, theme:text".
const columnsOf = (info) => (info?.columns ?? '').split(', ').filter((each) => each.includes(':')).map((each) => each.split(':')[0]);
export const modelsOf = (info) => (typeof info?.fitted === 'string' && info.fitted !== 'nothing' ? info.fitted.split(/, (?![^(]*\))/) : []).filter((each) => /^(lda|laki|sourcelda|dcot)(\(|$)/.test(each));

// What a screen reader says of new hits.
function sentence(hits, { query, from }) {
  if (!hits.length) return from === '1' ? `Nothing is found for ${query}` : `No more hits for ${query}`;
  return `${counted(hits.length, 'hit')} for ${query}${from === '1' ? '' : `, from rank ${from}`}; first ${hits[0].title || hits[0].docno}`;
}

// The hits before and after these ones, of the same generation, whatever was added to the index meanwhile.
function Pages({ state, answer: { result: { hits }, generation } }) {
  const [k, from] = [Number(state.k), Number(state.from)];
  const hasMore = hits.length === k && from + k <= MOST;
  if (from === 1 && !hasMore && !state.generation) return null;
  const page = (first) => link(state, { ...CLOSED, from: String(first), generation: String(generation) });
  return html`<nav class="more" aria-label="Pages of hits">
    ${from > 1 && html`<a href=${page(Math.max(1, from - k))} data-focus="hits">Hits before</a>`}
    <span class="soft">${hits.length ? `Ranks ${hits[0].rank.toLocaleString('en')} to ${hits.at(-1).rank.toLocaleString('en')}` : 'No more hits'}</span>
    ${hasMore && html`<a href=${page(from + k)} data-focus="hits">More hits</a>`}
    ${state.generation && html`<span class="soft">of generation ${state.generation}</span> <a href=${link(state, { ...CLOSED, from: '1', generation: '' })} data-focus="hits">As the index is now</a>`}
  </nav>`;
}

const Empty = () => html`<div class="empty">
  <p>Type a query. Hits appear while you type; each tells why it stands where it stands.</p>
  <p>Keys: <kbd>/</kbd> query, <kbd>e</kbd> expression, <kbd>j</kbd> <kbd>k</kbd> from hit to hit, <kbd>Enter</kbd> why,
    <kbd>?</kbd> all keys.</p>
</div>`;
