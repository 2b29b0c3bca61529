// Rankings side by side: lines follow each document from ranking to ranking; the tables say what the rankings share.

import { Component, html } from './html.js';
import { Answers } from './ask.js';
import { CLOSED, link } from './address.js';
import { Commands } from './commands.js';
import { Grade, Move } from './hits.js';
import { letter, moves, overlaps } from './moves.js';
import { short } from './numbers.js';
import { Notes, Problem, Text, visible } from './text.js';
import { asked } from './search.js';

// The height of a row and the width of the gap with the lines, in pixels. The style sheet has the same numbers.
const ROW = 46;
const GAP = 56;

export default class Compare extends Component {
  light = (docno) => () => this.setState({ lit: docno });

  render({ state, say, grades, health }, { lit }) {
    if (!state.query.trim()) return html`<p class="empty">Type a query to see the rankings side by side.</p>`;
    const requests = state.ranker.map((ranker) => ['search', asked(state, ranker)]);
    const onAnswers = (slots) => say(slots.map(({ problem, answer }, place) => problem?.detail ?? sentence(place, slots[0].answer, answer)).filter(Boolean).join('. '));
    return html`<section class="compare" aria-label="Rankings side by side">
      <${Answers} requests=${requests} onAnswers=${onAnswers}>
        ${(slots) => {
          // A ranking that never had an answer has its sentence above, and no place among the others.
          const lists = slots.map(({ answer, problem }) => (problem && !answer ? null : answer?.result.hits ?? []));
          const shown = lists.flatMap((hits, place) => (hits ? [place] : []));
          const docnos = lists.map((hits) => hits?.map((hit) => hit.docno));
          const isOld = slots.some((slot) => slot.isOld);
          return html`
            ${slots.map(({ problem }, place) => problem && html`<p class="which">Ranking ${letter(place)}</p><${Problem} problem=${problem} />`)}
            <${Notes} notes=${[...new Set(slots.flatMap(({ answer }) => answer?.notes ?? []))]} />
            ${shown.length > 1 && html`<${Shared} state=${state} docnos=${docnos} shown=${shown} grades=${grades} />`}
            <div class=${`scroll ${isOld ? 'is-old' : ''}`} tabindex="0" role="region" aria-label="Rankings">
              <div class="columns" style=${{ gridTemplateColumns: shown.map(() => 'minmax(8.5rem, 1fr)').join(` ${GAP}px `) }} onMouseLeave=${this.light('')}>
                ${shown.map((place, at) => html`
                  ${at > 0 && html`<${Lines} from=${docnos[shown[at - 1]]} to=${docnos[place]} lit=${lit} />`}
                  <${Ranking} state=${state} place=${place} hits=${lists[place]} grades=${grades} lit=${lit} light=${this.light}
                    rose=${at ? moves(docnos[place], docnos[shown[0]]) : null} />`)}
              </div>
            </div>`;
        }}
      <//>
      <${Commands} state=${state} requests=${requests} query=${state.query} health=${health} />
    </section>`;
  }
}

function sentence(place, first, answer) {
  if (!place) return '';
  const [one, other] = [first, answer].map((each) => each?.result.hits.map((hit) => hit.docno) ?? []);
  return `${letter(place)} shares ${overlaps(one, other).at(-1) ?? 0} of ${one.length} with A`;
}

// The title of a hit; without one, its passage.
const nameOf = (hit) => hit.title || hit.passage || hit.docno;

function Ranking({ state, place, hits, grades, rose, lit, light }) {
  return html`<div class="ranking">
    <h2><span class="letter">${letter(place)}</span> <code title=${visible(state.ranker[place] || 'BM25')}><${Text}>${state.ranker[place] || 'BM25'}<//></code></h2>
    <ol>${hits.map((hit, at) => html`<li key=${hit.docno} class=${`cell ${lit === hit.docno ? 'is-lit' : ''}`} onMouseEnter=${light(hit.docno)} onFocusIn=${light(hit.docno)}>
      <span class="rank">${hit.rank}</span>
      <a class="hit-link" href=${link(state, { ...CLOSED, ranker: [state.ranker[place]], docno: hit.docno })} title=${visible(nameOf(hit))}><${Text}>${nameOf(hit)}<//></a>
      <span class="facts"><${Text} class="docno">${hit.docno}<//> <span class="figure">${short(hit.score)}</span></span>
      <span class="tags">${rose && html`<${Move} move=${rose[at]} />`}<${Grade} grades=${grades} docno=${hit.docno} /></span>
    </li>`)}</ol>
    ${!hits.length && html`<p class="nothing">No hits</p>`}
  </div>`;
}

// Lines between two rankings. Rising ones are solid, falling ones dashed; a stub ends at a document that is gone or new.
function Lines({ from, to, lit }) {
  const height = Math.max(from.length, to.length, 1) * ROW;
  const y = (place) => place * ROW + ROW / 2;
  const ranks = new Map(to.map((docno, place) => [docno, place]));
  const drawn = from.map((docno, place) => {
    const next = ranks.get(docno);
    if (next === undefined) return { docno, kind: 'gone', path: `M0 ${y(place)}h14` };
    const kind = next < place ? 'up' : next > place ? 'down' : 'same';
    return { docno, kind, path: `M0 ${y(place)}C${GAP / 2} ${y(place)} ${GAP / 2} ${y(next)} ${GAP} ${y(next)}` };
  });
  const old = new Set(from);
  to.forEach((docno, place) => old.has(docno) || drawn.push({ docno, kind: 'new', path: `M${GAP - 14} ${y(place)}h14` }));
  return html`<svg class="lines" width=${GAP} height=${height} viewBox=${`0 0 ${GAP} ${height}`} aria-hidden="true">
    ${drawn.map(({ docno, kind, path }) => html`<path key=${docno} class=${`line is-${kind} ${lit ? (lit === docno ? 'is-lit' : 'is-dim') : ''}`} d=${path} />`)}
  </svg>`;
}

// What each ranking shares with the first, by depth, and how many judged documents it has.
function Shared({ state, docnos, shown, grades }) {
  const [lead, ...others] = shown;
  const first = docnos[lead];
  const gone = (ranking) => first.filter((docno) => !ranking.includes(docno));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="What the rankings share"><table class="shared">
    <caption class="visually-hidden">What the rankings share</caption>
    <thead><tr><th scope="col">Ranking</th><th scope="col">Shared with ${letter(lead)}</th><th scope="col">By depth</th>${grades && html`<th scope="col">Relevant</th><th scope="col">Not judged</th>`}</tr></thead>
    <tbody>${shown.map((place) => {
      const ranking = docnos[place];
      const shared = overlaps(first, ranking);
      return html`<tr><th scope="row"><span class="letter">${letter(place)}</span> <code><${Text}>${state.ranker[place] || 'BM25'}<//></code></th>
        <td>${place !== lead ? `${shared.at(-1) ?? 0} of ${first.length}` : ''}</td>
        <td>${place !== lead ? html`<${Depths} shared=${shared} />` : ''}</td>
        ${grades && html`<td>${ranking.filter((docno) => grades[docno] > 0).length}</td><td>${ranking.filter((docno) => grades[docno] === undefined).length}</td>`}</tr>`;
    })}</tbody></table></div>
  <ul class="notes">
    ${others.map((place) => [place, gone(docnos[place])]).filter(([, each]) => each.length).map(([place, each]) => html`<li>Gone from ${letter(place)}: <${Text}>${each.slice(0, 8).join(', ')}<//>${each.length > 8 ? ` and ${each.length - 8} more` : ''}</li>`)}
    <li>Lines join neighbours, solid where a document rises and dashed where it falls. Arrows count ranks since ${letter(lead)}.</li>
  </ul>`;
}

// The share of common documents at each depth, as small bars.
function Depths({ shared }) {
  const width = Math.max(2, Math.min(8, 120 / Math.max(shared.length, 1)));
  const words = `shared at depth 1 to ${shared.length}: ${shared.slice(0, 20).join(', ')}`;
  return html`<svg class="depths" role="img" aria-label=${words} width=${width * shared.length} height="18"><title>${words}</title>${shared.map((number, place) => {
    const size = Math.max(1, (18 * number) / (place + 1));
    return html`<rect x=${place * width} y=${18 - size} width=${width - 1} height=${size} />`;
  })}</svg>`;
}
