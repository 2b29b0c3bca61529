// The topics by a measure: each ranking's value, sorted by the difference, and from a topic to its rankings.

import { html } from './html.js';
import { Answers } from './ask.js';
import { link } from './address.js';
import { letter } from './moves.js';
import { Commands, qrelsOf } from './commands.js';
import { short, signed } from './numbers.js';
import { Notes, Problem, Text } from './text.js';

const MEASURES = ['AP', 'nDCG@10', 'P@10', 'RR', 'R@1000', 'Bpref'];

export default function Topics({ state, topics, health, go, say }) {
  if (!health) return null;
  if (!health.topics.length || !health.judgements.length) {
    return html`<p class="empty">This view needs topics and judgements; start the service with them: sublex serve INDEX --topics FILE --qrels FILE</p>`;
  }
  const measure = state.measure || MEASURES[0];
  const rankers = state.ranker.map((ranker) => ranker || 'BM25');
  const names = [...new Set(rankers)];
  const requests = [['compare', { index: state.index, topics: health.topics[0], qrels: qrelsOf(health), ranker: names, measure }]];
  const onAnswers = ([{ problem, answer }]) => say(problem ? problem.detail : answer.result.systems.map((s) => `${s.name}: ${measure} ${s.measures[measure].toFixed(4)}`).join(', '));
  return html`<section class="topics" aria-label="Topics">
    <p class="settings"><label>Measure <select value=${measure} onChange=${(event) => go({ measure: event.target.value })}>${MEASURES.map((each) => html`<option selected=${each === measure}>${each}</option>`)}</select></label></p>
    <${Answers} requests=${requests} onAnswers=${onAnswers}>
      ${([{ answer, problem, isOld }]) => html`
        ${problem && html`<${Problem} problem=${problem} />`}
        ${!answer && !problem && html`<p class="empty" aria-busy="true">The rankings are being measured on all topics.</p>`}
        ${answer && html`<div class=${isOld ? 'is-old' : ''} aria-busy=${isOld}><${Table} state=${state} topics=${topics} result=${answer.result} measure=${answer.parameters.measure} count=${[answer.parameters.ranker].flat().length} />
          <${Notes} notes=${answer.result.notes} /></div>`}`}
    <//>
    <${Commands} state=${state} requests=${requests} measure=${measure} health=${health} />
  </section>`;
}

function Table({ state, topics, result, measure, count }) {
  // A single ranking comes back behind the default one, with which it is compared.
  const systems = result.systems.slice(-count);
  const values = systems.map((system) => system['by topic']);
  const texts = new Map(topics.map(({ qid, text }) => [qid, text]));
  const last = systems.length - 1;
  const rows = Object.keys(values[0]).map((qid) => ({ qid, values: values.map((each) => each[qid]?.[measure] ?? 0) }));
  const gap = (row) => row.values[last] - row.values[0];
  rows.sort((one, other) => (last ? Math.abs(gap(other)) - Math.abs(gap(one)) : one.values[0] - other.values[0]));
  const most = Math.max(1, ...rows.flatMap((row) => row.values));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Means"><table class="shared"><caption class="visually-hidden">Means</caption><thead><tr><th scope="col">Ranking</th><th scope="col">${measure}</th><th scope="col">95 % interval</th></tr></thead>
    <tbody>${systems.map((system, place) => html`<tr><th scope="row"><span class="letter">${letter(place)}</span> <code><${Text}>${system.name}<//></code></th>
      <td>${system.measures[measure].toFixed(4)}</td><td>${system.intervals?.[measure]?.map((each) => each.toFixed(3)).join(' to ') ?? ''}</td></tr>`)}</tbody></table></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Topics by measure"><table class="by-topic"><caption>${rows.length} topics, ${last ? `sorted by the difference of ${letter(last)} and A` : 'worst first'}</caption>
    <thead><tr><th scope="col">Topic</th><th scope="col" class="wide">${measure}: ${systems.map((_, place) => `${letter(place)} ${'○●◇◆□■'[place]}`).join(', ')}</th>${systems.map((_, place) => html`<th scope="col">${letter(place)}</th>`)}${last > 0 && html`<th scope="col">Difference</th>`}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>
      <th scope="row"><a class="hit-link" href=${link(state, { view: '', query: texts.get(row.qid) ?? '', topic: row.qid, docno: '' })}><span class="docno">${row.qid}</span> <${Text}>${texts.get(row.qid) ?? ''}<//></a></th>
      <td class="track wide" aria-hidden="true">${last > 0 && html`<span class=${`stem ${gap(row) < 0 ? 'is-less' : ''}`} style=${{ left: `${(100 * Math.min(...row.values)) / most}%`, width: `${(100 * (Math.max(...row.values) - Math.min(...row.values))) / most}%` }}></span>`}
        ${row.values.map((value, place) => html`<span class=${`dot is-${place}`} style=${{ left: `${(100 * value) / most}%` }}>${'○●◇◆□■'[place]}</span>`)}</td>
      ${row.values.map((value) => html`<td>${value.toFixed(3)}</td>`)}
      ${last > 0 && html`<td>${gap(row) ? signed(Number(gap(row).toFixed(4))) : short(0)}</td>`}</tr>`)}</tbody></table></div>`;
}
