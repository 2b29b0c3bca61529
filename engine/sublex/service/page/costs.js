// What each stage of the expressions costs for the query: milliseconds with a bar, and how many documents it hands on.

import { html } from './html.js';
import { Answers } from './ask.js';
import { letter } from './moves.js';
import { asked } from './search.js';
import { counted } from './numbers.js';
import { Problem, Text } from './text.js';

export default function Costs({ state }) {
  const requests = state.ranker.map((ranker) => ['costs', asked(state, ranker)]);
  return html`<${Answers} requests=${requests}>
    ${(slots) => {
      const most = Math.max(...slots.flatMap(({ answer }) => (answer?.result ?? []).map((row) => row.milliseconds)), 0.001);
      return slots.map(({ answer, problem, isOld }, place) => html`
        ${problem && html`<${Problem} problem=${problem} />`}
        ${answer && !problem && html`<div class=${`scroll ${isOld ? 'is-old' : ''}`} tabindex="0" role="region" aria-label="Cost of each stage"><table class="plain costs">
          <caption class="visually-hidden">Cost of each stage</caption>
          <thead><tr><th scope="col">${slots.length > 1 && html`<span class="letter">${letter(place)}</span> `}Stage</th><th scope="col">ms</th><th scope="col"><span class="visually-hidden">Bar</span></th><th scope="col">Hands on</th></tr></thead>
          <tbody>${answer.result.map((row) => html`<${Row} name=${row.stage} milliseconds=${row.milliseconds} most=${most} found=${row.found} />
            ${row.parts.map((part) => html`<${Row} name=${part.part} milliseconds=${part.milliseconds} most=${most} isPart />`)}`)}</tbody></table></div>`}`);
    }}
  <//>`;
}

const Row = ({ name, milliseconds, most, found, isPart }) => html`<tr>
  <th scope="row" class=${isPart ? 'part-of' : ''}>${isPart && html`<span class="soft">of it, alone </span>`}<code><${Text}>${name}<//></code></th><td>${milliseconds.toFixed(2)}</td>
  <td class="cost-bar" aria-hidden="true"><span class="bar"><span style=${{ width: `${Math.min(100, (100 * milliseconds) / most)}%` }}></span></span></td>
  <td>${found === undefined ? '' : counted(found, 'document')}</td></tr>`;
