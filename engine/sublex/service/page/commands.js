// The same view as commands, as Python and as a study, which give the same hits.

import { Component, html } from './html.js';
import { Answers } from './ask.js';
import { link } from './address.js';
import { Text, visible } from './text.js';

class Code extends Component {
  copy = async () => {
    try {
      await navigator.clipboard.writeText(this.props.text);
      this.setState({ said: 'Copied' });
    } catch {
      this.setState({ said: 'Select the text to copy it' });
    }
    setTimeout(() => this.setState({ said: '' }), 2000);
  };

  render({ name, text }, { said }) {
    return html`<div class="code">
      <h3>${name}</h3>
      <pre tabindex="0" aria-label=${name}><code>${visible(text)}</code></pre>
      <button type="button" onClick=${this.copy}>Copy<span class="visually-hidden"> ${name}</span></button>
      <span role="status">${said}</span>
    </div>`;
  }
}

// The judgements by which rankings are measured. The file of the judgements made here is the first; another one has more.
export const qrelsOf = (health) => (health?.judge && health.judgements[1]) || health?.judgements[0] || '';

// The rankings of a view as a study, and how to run it.
const Study = ({ slot: { answer, problem } }) => {
  if (problem) return html`<div class="code"><h3>Study</h3><p class="soft"><${Text}>${problem.detail}<//></p></div>`;
  if (!answer) return null;
  const { study, file, command } = answer.result;
  return html`<${Code} name="Study" text=${study} />
    <p class="soft">${answer.notes.map((note) => html`<${Text}>${note}<//> `)}Save it as <code><${Text}>${file}<//></code> and run: <code><${Text}>${command}<//></code></p>`;
};

// `requests` are the requests of the view. They are asked for their commands only if the link says so. A view that ranks has a
// study of its rankings, too; `query` is the query that they rank by, and `measure` what is measured.
export function Commands({ state, requests, health, query = '', measure = '' }) {
  const isOpen = Boolean(state.code);
  const all = requests.map(([name, given]) => [name, { ...given, parts: '', step: true }]);
  all.push(['into-study', { index: state.index, ranker: state.ranker.map((each) => each || 'BM25'), query, measure, qrels: qrelsOf(health), language: state.language === 'plain' ? '' : state.language }]);
  return html`<div class="commands">
    <p><a href=${link(state, { code: isOpen ? '' : 'true' })} aria-expanded=${isOpen} role="button" data-replace
      >${isOpen ? 'Hide the code' : 'As command, as Python, into a study'}</a></p>
    ${isOpen && health && html`<${Answers} requests=${all}>
      ${(slots) => {
        const lines = (what) => [...new Set(slots.slice(0, -1).map(({ answer }) => answer?.[what]).filter(Boolean))].join('\n');
        return html`${['command', 'python'].map((what) => lines(what) && html`<${Code} name=${what === 'command' ? 'Command' : 'Python'} text=${lines(what)} />`)}
          <${Study} slot=${slots.at(-1)} />`;
      }}
    <//>`}
  </div>`;
}
