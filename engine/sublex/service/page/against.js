// Two documents for one query, part by part; and a document that is missed, with what would bring it in.

import { html } from './html.js';
import { CLOSED, link } from './address.js';
import { counted, short, signed } from './numbers.js';
import { lastRank } from './search.js';
import { Notes, Text } from './text.js';

export function Versus({ state, slots }) {
  const [{ answer }, one, other] = slots;
  const rows = answer.result;
  const [first, second] = [state.docno, state.versus];
  const gap = one.answer.result.value - other.answer.result.value;
  const most = Math.max(...rows.map((row) => Math.abs(row.difference)), 0);
  const several = rows.some((row) => row.part);
  return html`
    <p class="lead">${Number.isFinite(gap)
      ? html`<${Text} class="docno">${first}<//> is <strong>${short(Math.abs(gap))} ${gap < 0 ? 'below' : 'above'}</strong> <${Text} class="docno">${second}<//>.`
      : html`One of <${Text} class="docno">${first}<//> and <${Text} class="docno">${second}<//> is not found.`}
      ${' '}<a href=${link(state, { docno: second, versus: first })}>Turn round</a></p>
    <${Notes} notes=${answer.notes} />
    <div class="scroll" tabindex="0" role="region" aria-label="Differences">
    <table class="versus">
      <thead><tr><th scope="col">Word</th>${several && html`<th scope="col" class="part">Part</th>`}<th scope="col"><${Text} class="docno">${first}<//></th>
        <th scope="col"><${Text} class="docno">${second}<//></th><th scope="col" colspan="2">Difference</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr>
        <th scope="row"><${Text}>${row.word}<//></th>${several && html`<td class="part"><code><${Text}>${row.part}<//></code></td>`}
        <td>${short(row[first])}</td><td>${short(row[second])}</td>
        <td class="track is-centred" aria-hidden="true"><span class=${`span ${row.difference < 0 ? 'is-less' : 'is-sum'}`}
          style=${{ left: `${50 - (row.difference < 0 ? (50 * -row.difference) / most : 0)}%`, width: `${(50 * Math.abs(row.difference)) / most}%` }}></span></td>
        <td>${signed(row.difference)}</td></tr>`)}</tbody>
      <tfoot><tr><th scope="row">Sum</th>${several && html`<td></td>`}<td>${short(one.answer.result.value)}</td><td>${short(other.answer.result.value)}</td>
        <td></td><td>${signed(gap)}</td></tr></tfoot>
    </table></div>`;
}

export function WhyNot({ state, answer }) {
  const { docno, rank, found, words, stages, changes } = answer.result;
  const end = lastRank(state);
  const isShown = rank && rank <= end;
  return html`
    <p class="lead"><${Text} class="docno">${docno}<//> is ${rank ? html`at <strong>rank ${rank.toLocaleString('en')}</strong> of ${found.toLocaleString('en')}` : html`<strong>not among</strong> the ${counted(found, 'document')} found`};
      the hits shown end at rank ${end}.${' '}<a href=${link(state, { ...CLOSED, docno })}>Why its score</a></p>
    <${Notes} notes=${answer.notes} />
    ${changes.length > 0 && html`<h3>What brings it in</h3><ul class="changes">${changes.map((change) => html`<li><${Text}>${change}<//></li>`)}</ul>`}
    ${!changes.length && isShown && html`<p>It is among the hits.</p>`}
    <h3>Its words</h3>
    <table class="plain"><thead><tr><th scope="col">Word</th><th scope="col">Weight</th><th scope="col">In the document</th><th scope="col">In documents</th></tr></thead>
      <tbody>${words.map((word) => html`<tr><th scope="row"><${Text}>${word.word}<//></th><td>${short(word.weight)}</td>
        <td class=${word.tf ? '' : 'is-missing'}>${word.tf || 'missing'}</td><td>${word.df ? word.df.toLocaleString('en') : 'none'}</td></tr>`)}</tbody></table>
    ${stages.length > 1 && html`<h3>After each stage</h3>
    <table class="plain"><thead><tr><th scope="col">After</th><th scope="col">Rank</th><th scope="col">Found</th></tr></thead>
      <tbody>${stages.map((stage) => html`<tr><th scope="row"><code><${Text}>${stage.after}<//></code></th><td class=${stage.rank ? '' : 'is-missing'}>${stage.rank?.toLocaleString('en') ?? 'dropped'}</td><td>${stage.found.toLocaleString('en')}</td></tr>`)}</tbody></table>`}`;
}
