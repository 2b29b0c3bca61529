// The list of keys, in a dialog.

import { Component, createRef, html } from './html.js';
import { KEYS } from './keys.js';

export class Help extends Component {
  dialog = createRef();

  open = () => this.dialog.current.showModal();

  render() {
    return html`<button type="button" class="help-button" onClick=${this.open} aria-haspopup="dialog">Keys <kbd>?</kbd></button>
      <dialog ref=${this.dialog} aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl class="keys">${KEYS.map(([key, does]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}</dl>
        <p>Keys act when no field has the focus.</p>
        <form method="dialog"><button>Close</button></form>
      </dialog>`;
  }
}
