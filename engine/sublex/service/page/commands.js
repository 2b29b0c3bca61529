// The same view as commands and as Python, which give the same hits.

import { Component, html } from './html.js';
import { Answers } from './ask.js';
import { link } from './address.js';
import { visible } from './text.js';

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

// `requests` are the requests of the view. They are asked for their commands only if the link says so.
export function Commands({ state, requests }) {
  const isOpen = Boolean(state.code);
  return html`<div class="commands">
    <p><a href=${link(state, { code: isOpen ? '' : 'true' })} aria-expanded=${isOpen} role="button" data-replace
      >${isOpen ? 'Hide the code' : 'As command, as Python'}</a></p>
    ${isOpen &&
    html`<${Answers} requests=${requests.map(([name, given]) => [name, { ...given, parts: '', step: true }])}>
      ${(slots) => {
        const lines = (what) => [...new Set(slots.map(({ answer }) => answer?.[what]).filter(Boolean))].join('\n');
        return ['command', 'python'].map((what) => lines(what) && html`<${Code} name=${what === 'command' ? 'Command' : 'Python'} text=${lines(what)} />`);
      }}
    <//>`}
  </div>`;
}
