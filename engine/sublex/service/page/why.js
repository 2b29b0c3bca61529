// Beside the hits: why a document has its score, why it is above another one, or why it is not among the hits.

import { Component, createRef, html } from './html.js';
import { Answers } from './ask.js';
import { CLOSED, link } from './address.js';
import { Commands } from './commands.js';
import { Bars } from './bars.js';
import { Tree } from './tree.js';
import { Versus, WhyNot } from './against.js';
import { Notes, Problem, Text, visible } from './text.js';
import { short } from './numbers.js';
import { units } from './contributions.js';
import { Lazy } from './lazy.js';
import { asked, lastRank, modelsOf } from './search.js';

// Words beyond this number have no colour of their own.
const COLOURS = 7;

// Return the number of the colour of each word, by the size of what it adds. A word in two parts has one colour.
export function coloursOf(found) {
  const sizes = new Map();
  for (const { label, value } of found) if (label !== 'offset') sizes.set(label, (sizes.get(label) ?? 0) + Math.abs(value));
  const ordered = [...sizes.keys()].sort((one, other) => sizes.get(other) - sizes.get(one));
  return new Map(ordered.map((label, place) => [label.toLowerCase(), Math.min(place + 1, COLOURS + 1)]));
}

const hasKeyphrases = (model) => /^laki(\(|$)/.test(model);

export default class Beside extends Component {
  head = createRef();

  componentDidMount() {
    // A page that has just been opened keeps its focus; a panel that a user opened takes it.
    if (this.props.isFollowed) this.head.current?.focus({ preventScroll: matchMedia('(min-width: 60rem)').matches });
  }

  componentDidUpdate(before) {
    const key = ({ docno, versus, why_not }) => `${docno}\n${versus}\n${why_not}`;
    if (key(before.state) !== key(this.props.state)) this.head.current?.focus({ preventScroll: true });
  }

  render({ state, say, health, info }) {
    const given = { ...asked(state, state.ranker[0]), k: lastRank(state), docno: state.docno };
    const explained = ['explain', { ...given, k: '' }];
    const requests = state.versus ? [['explain', { ...given, versus: state.versus, k: '' }], explained, ['explain', { ...given, docno: state.versus, k: '' }]]
      : state.why_not ? [['explain', { ...given, why_not: true }]]
        : [explained, ['matches', { ...given, k: '' }]];
    const title = state.versus ? 'Why one above the other' : state.why_not ? 'Why not' : 'Why';
    const onAnswers = ([{ problem }]) => say(problem ? problem.detail : `${title}: ${state.docno}`);
    return html`<aside class="beside" aria-label=${title}>
      <div class="beside-head">
        <h2 tabindex="-1" ref=${this.head}>${title}</h2>
        <a class="close" href=${link(state, CLOSED)} data-close>Close</a>
      </div>
      <${Answers} requests=${requests} onAnswers=${onAnswers}>
        ${(slots) => html`
          ${slots[0].problem && html`<${Problem} problem=${slots[0].problem} />`}
          ${slots[0].answer && !slots[0].problem && html`<div class=${slots[0].isOld ? 'is-old' : ''}>${
            state.versus ? slots[1].answer && slots[2].answer && slots[0].answer.parameters.versus && html`<${Versus} state=${state} slots=${slots} />`
              : state.why_not ? slots[0].answer.parameters.why_not && html`<${WhyNot} state=${state} answer=${slots[0].answer} />`
                : !slots[0].answer.parameters.why_not && !slots[0].answer.parameters.versus && html`<${Why} state=${state} slots=${slots} />`
          }</div>`}`}
      <//>
      ${!state.versus && !state.why_not && modelsOf(info).some(hasKeyphrases) && html`<${Lazy} load=${() => import('./about.js')} state=${state} models=${modelsOf(info).filter(hasKeyphrases)} />`}
      <${Others} state=${state} key=${state.docno} />
      <${Commands} state=${state} requests=${requests.slice(0, 1)} query=${state.query} health=${health} />
    </aside>`;
  }
}

function Why({ state, slots: [{ answer: explained }, { answer: marked }] }) {
  const tree = explained.result;
  const found = units(tree);
  const colours = coloursOf(found);
  const { rank, found: hits } = tree.evidence ?? {};
  const place = rank ? `rank ${rank.toLocaleString('en')} of ${hits.toLocaleString('en')}` : `not among the ${(hits ?? 0).toLocaleString('en')} found`;
  return html`
    <p class="lead"><${Text} class="docno">${state.docno}<//> is at <strong>${place}</strong>, with score${' '}
      <strong>${short(tree.value)}</strong>.</p>
    <${Notes} notes=${explained.notes} />
    <${Bars} tree=${tree} found=${found} colours=${colours} />
    ${marked && marked.result.docno === state.docno && html`<${Coloured} document=${marked.result} colours=${colours} />`}
    <details class="whole"><summary>The whole computation</summary><${Tree} tree=${tree} /></details>`;
}

const Words = ({ parts, colours }) => html`<bdi>${parts.map(([text, label]) =>
  label ? html`<mark class=${`word colour-${colours.get(label.toLowerCase()) ?? COLOURS + 1}`}>${visible(text)}</mark>` : visible(text))}</bdi>`;

// The text of the document; its words have the colours and underlines of the bars.
function Coloured({ document, colours }) {
  return html`<section class="document" aria-label="Text">
    ${document.title.length > 0 && html`<h3><${Words} parts=${document.title} colours=${colours} /></h3>`}
    <p class="fulltext"><${Words} parts=${document.text} colours=${colours} /></p>
  </section>`;
}

// Forms for another document: against this one, or in place of it.
class Others extends Component {
  render({ state }, { docno = '' }) {
    const other = docno.trim();
    const submit = (event) => {
      event.preventDefault();
      event.target.querySelector('a[href]')?.click();
    };
    return html`<form class="others" onSubmit=${submit}>
      <label>Another document <input name="other" autocomplete="off" spellcheck="false" placeholder="docno" value=${docno}
        onInput=${(event) => this.setState({ docno: event.target.value })} /></label>
      <a role="button" href=${other ? link(state, { ...CLOSED, docno: state.docno, versus: other }) : undefined} aria-disabled=${!other}>Compare with it</a>
      <a role="button" href=${other ? link(state, { ...CLOSED, docno: other, why_not: 'true' }) : undefined} aria-disabled=${!other}>Why is it not shown</a>
      <a href=${link(state, { ...CLOSED, docno: state.docno, why_not: 'true' })}>Why is ${' '}<${Text} class="docno">${state.docno}<//> not higher</a>
    </form>`;
  }
}
