// What fitted models know: a word as a star of its senses, a keyphrase between broader and narrower ones, labels of topics
// to accept, rename or reject, and the topics of two models matched.

import { Component, html } from './html.js';
import { Answers, post } from './ask.js';
import { link } from './address.js';
import { Commands } from './commands.js';
import { Star } from './star.js';
import { Problem, Text } from './text.js';

const nameOf = (model) => model.split('(')[0];
const KINDS = {
  swg: { about: 'Senses of a word', field: 'Word', Panel: Senses },
  laki: { about: 'What a keyphrase stands for', field: 'Keyphrase', Panel: Keyphrase },
};
// Models of topics, whose labels people can name, and whose topics can be matched with those of another model.
const TOPICAL = ['lda', 'sourcelda'];

export default function Meaning({ state, address, health, go, type, say }) {
  return html`<section class="meaning" aria-label="Meaning">
    <${Answers} requests=${[['card', { index: state.index }]]}>
      ${([{ answer, problem }]) => {
        if (problem) return html`<${Problem} problem=${problem} />`;
        if (!answer) return null;
        const models = answer.result.map((each) => each.expression).filter((each) => nameOf(each) in KINDS || TOPICAL.includes(nameOf(each)));
        if (!models.length) return html`<p class="empty">No model of meaning is fitted to this index; fit one, as in: sublex fit INDEX 'lda(k=20)' laki</p>`;
        const model = models.includes(state.model) ? state.model : models[0];
        return html`<p class="settings"><label>Model <select value=${model} onChange=${(event) => go({ model: event.target.value, word: '', of: '' })}>
          ${models.map((each) => html`<option selected=${each === model}>${each}</option>`)}</select></label></p>
          <${Model} key=${model} ...${{ state, address, health, go, type, say, model, models }} />`;
      }}
    <//>
  </section>`;
}

function Model(props) {
  const { state, address, model, models, type } = props;
  const kind = KINDS[nameOf(model)];
  const others = models.filter((each) => each !== model && TOPICAL.includes(nameOf(each)));
  return html`
    ${kind && html`<label class="query-field"><span class="label">${kind.field}</span><input id="query" type="search" autocomplete="off" spellcheck="false" value=${address.word}
      onInput=${(event) => type({ word: event.target.value, model })} /></label>
      ${state.word.trim() ? html`<${kind.Panel} ...${props} />` : html`<p class="empty">${kind.about}: type one.</p>`}`}
    ${TOPICAL.includes(nameOf(model)) && html`<${Labels} ...${props} />`}
    ${TOPICAL.includes(nameOf(model)) && others.length > 0 && html`<${Matched} ...${props} others=${others} />`}`;
}

// A word as a star: a ray for each sense, as long as the sense is likely, with the neighbours of the word at its end.
function Senses({ state, model, say, health }) {
  const requests = [['senses', { index: state.index, word: state.word.trim(), expression: model }]];
  const onAnswers = ([{ answer, problem }]) => say(problem?.detail ?? `${state.word} has ${answer.result.length} senses`);
  return html`<${Answers} requests=${requests} onAnswers=${onAnswers}>
    ${([{ answer, problem, isOld }]) => html`
      ${problem && html`<${Problem} problem=${problem} />`}
      ${answer && !problem && html`<div class=${`halves ${isOld ? 'is-old' : ''}`}>
        <${Star} centre=${answer.parameters.word} rays=${answer.result.map((row) => ({ size: row.chance, label: `${row.topic}`, words: row.neighbours.split(', ') }))} />
        <div class="scroll" tabindex="0" role="region" aria-label="Senses"><table class="by-topic"><caption>Senses of <${Text}>${answer.parameters.word}<//>, the likeliest first</caption>
          <thead><tr><th scope="col">Sense</th><th scope="col" class="text">Neighbours</th><th scope="col">Chance</th><th scope="col">Documents</th></tr></thead>
          <tbody>${answer.result.map((row) => html`<tr><th scope="row">${row.topic}</th>
            <td class="text">${row.neighbours.split(', ').map((word, place) => html`${place ? ', ' : ''}<a href=${link(state, { word })}><${Text}>${word}<//></a>`)}
              <p class="soft">${row.examples.split(', ').filter(Boolean).map((docno) => html`<a class="docno" href=${link(state, { view: '', query: answer.parameters.word, docno, word: '' })}><${Text}>${docno}<//></a> `)}</p></td>
            <td>${row.chance.toFixed(2)}</td><td>${row.documents.toLocaleString('en')}</td></tr>`)}</tbody></table></div>
      </div>`}`}
  <//>
  <${Commands} state=${state} requests=${requests} health=${health} />`;
}

// A keyphrase: the broader ones above it, the narrower ones below it, and the words that it stands for.
function Keyphrase({ state, model, say, health }) {
  const requests = [['silhouette', { index: state.index, expression: model, phrase: state.word.trim() }]];
  const onAnswers = ([{ answer, problem }]) => say(problem?.detail ?? `${answer.result.length} words and phrases`);
  return html`<${Answers} requests=${requests} onAnswers=${onAnswers}>
    ${([{ answer, problem, isOld }]) => {
      const rows = (relation) => (answer?.result ?? []).filter((row) => row.relation === relation);
      const item = (row) => html`<li><a href=${link(state, { word: row.name })}><${Text}>${row.name}<//></a> <span class="soft">${row.probability.toFixed(2)}</span></li>`;
      return html`${problem && html`<${Problem} problem=${problem} />`}
        ${answer && !problem && html`<div class=${`halves ${isOld ? 'is-old' : ''}`}>
          <div><h2>Broader and narrower</h2><ul class="family">${rows('broader').map(item)}
            <li class="self"><strong><${Text}>${answer.parameters.phrase}<//></strong><ul>${rows('narrower').map(item)}</ul></li></ul></div>
          <div><h2>Words that it stands for</h2><ul class="counts">${rows('silhouette').map((row) => html`<li><span class="count">${row.probability.toFixed(2)}</span>
            <span class="bar" aria-hidden="true"><span style=${{ width: `${100 * Math.min(1, row.probability)}%` }}></span></span><${Text}>${row.name}<//></li>`)}</ul></div></div>`}`;
    }}
  <//>
  <${Commands} state=${state} requests=${requests} health=${health} />`;
}

// The labels of a model. Those who may write accept, rename and reject them.
class Labels extends Component {
  state = { problem: null, turn: 0 };

  async decide(action, labels) {
    const { state, model, say } = this.props;
    try {
      await post('label', { index: state.index || undefined, expression: model, action, labels });
      this.setState({ problem: null, turn: this.state.turn + 1 });
      say(`${labels[0]}: ${action}`);
    } catch (problem) {
      this.setState({ problem });
    }
  }

  rename = (row) => (event) => {
    event.preventDefault();
    const name = event.target.elements.name.value.trim();
    if (name && name !== row.label) this.decide('rename', [String(row.number), name]);
  };

  render({ state, model, health }, { problem, turn }) {
    const request = ['label', { index: state.index, expression: model }];
    return html`<h2>Labels</h2>${problem && html`<${Problem} problem=${problem} />`}
      <${Answers} key=${turn} requests=${[request]}>
        ${([{ answer, problem: failed }]) => html`${failed && html`<p class="soft"><${Text}>${failed.detail}<//></p>`}
          ${answer && html`<div class="scroll" tabindex="0" role="region" aria-label="Labels"><table class="by-topic"><thead><tr><th scope="col">Label</th><th scope="col" class="text">Words</th><th scope="col">Decision</th><th scope="col">Documents</th>${health?.write && html`<th scope="col">Decide</th>`}</tr></thead>
            <tbody>${answer.result.map((row) => html`<tr><th scope="row">${health?.write
              ? html`<form onSubmit=${this.rename(row)}><input name="name" aria-label=${`Name of label ${row.number}`} value=${row.label} /></form>`
              : html`<a href=${link(state, { view: '', query: row.words ?? row.label, model: '', word: '' })}><${Text}>${row.label}<//></a>`}</th>
              <td class="text"><${Text}>${row.words ?? ''}<//></td><td><${Text}>${row.decision ?? ''}<//></td><td>${(row.documents ?? 0).toLocaleString('en')}</td>
              ${health?.write && html`<td class="decide">${['accept', 'reject', 'undo'].map((action) => html`<button type="button" onClick=${() => this.decide(action, [String(row.number)])}>${action}<span class="visually-hidden"> label ${row.number}</span></button>`)}</td>`}</tr>`)}</tbody></table></div>`}`}
      <//>
      <${Commands} state=${state} requests=${[request]} health=${health} />`;
  }
}

// The topics of two models, matched by their words.
function Matched({ state, model, others, go, health }) {
  const other = others.includes(state.of) ? state.of : others[0];
  const request = ['match', { index: state.index, expression: model, other }];
  return html`<h2>Topics of two models</h2>
    <p class="settings"><label>Matched with <select value=${other} onChange=${(event) => go({ of: event.target.value, model })}>${others.map((each) => html`<option selected=${each === other}>${each}</option>`)}</select></label></p>
    <${Answers} requests=${[request]}>
      ${([{ answer, problem }]) => html`${problem && html`<${Problem} problem=${problem} />`}
        ${answer && html`<div class="scroll" tabindex="0" role="region" aria-label="Matched topics"><table class="by-topic"><thead><tr><th scope="col">Topic</th><th scope="col" class="wide">Overlap</th><th scope="col">Overlap</th><th scope="col" class="text">Partner</th></tr></thead>
          <tbody>${answer.result.map((row) => html`<tr><th scope="row"><${Text}>${row.topic}<//></th><td class="track wide" aria-hidden="true"><span class="stem" style=${{ left: 0, width: `${100 * row.overlap}%` }}></span></td>
            <td>${row.overlap.toFixed(2)}</td><td class="text"><${Text}>${row.partner || 'none'}<//></td></tr>`)}</tbody></table></div>`}`}
    <//>
    <${Commands} state=${state} requests=${[request]} health=${health} />`;
}
