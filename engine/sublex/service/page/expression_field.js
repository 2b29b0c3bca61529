// A field for an expression, which offers what may stand at its end: components, parameters, fitted models.

import { Component, createRef, html } from './html.js';
import { ask } from './ask.js';
import { Text } from './text.js';

const SHOWN = 8;

export class Expression extends Component {
  input = createRef();

  state = { offers: [], word: '', chosen: -1 };

  componentWillUnmount() {
    this.controller?.abort();
  }

  typed = (event) => {
    this.props.onType(event.target.value);
    this.complete(event.target);
  };

  async complete(field) {
    this.controller?.abort();
    this.controller = new AbortController();
    const before = field.value.slice(0, field.selectionStart);
    try {
      const { result } = await ask('complete', { index: this.props.state.index, text: before, what: 'expression', number: SHOWN }, this.controller.signal);
      const isWhole = result.offers.some((offer) => offer.text === result.word);
      this.setState({ word: result.word, offers: isWhole ? [] : result.offers, chosen: -1 });
    } catch {
      // Without offers, the field is a field.
      this.setState({ offers: [] });
    }
  }

  take(offer) {
    const field = this.input.current;
    const at = field.selectionStart;
    const begin = at - this.state.word.length;
    const end = begin + offer.text.length;
    // The field changes at once, so that letters typed next stand behind the offer.
    field.value = field.value.slice(0, begin) + offer.text + field.value.slice(at);
    field.focus();
    field.setSelectionRange(end, end);
    this.props.onType(field.value);
    this.setState({ offers: [], chosen: -1 });
    this.complete(field);
  }

  key = (event) => {
    const { offers, chosen } = this.state;
    if (event.key === 'ArrowDown' && !offers.length) {
      event.preventDefault();
      this.complete(event.target);
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!offers.length) return;
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      this.setState({ chosen: (chosen + step + offers.length) % offers.length });
    } else if ((event.key === 'Enter' || event.key === 'Tab') && offers[chosen]) {
      event.preventDefault();
      this.take(offers[chosen]);
    } else if (event.key === 'Escape' && offers.length) {
      event.preventDefault();
      event.stopPropagation();
      this.setState({ offers: [], chosen: -1 });
    }
  };

  leave = () => setTimeout(() => this.setState({ offers: [], chosen: -1 }), 150);

  render({ id, label, value }, { offers, chosen }) {
    const list = `${id}-offers`;
    return html`<div class="expression">
      <label for=${id} class="label">${label}</label>
      <input id=${id} ref=${this.input} class="mono" type="text" role="combobox" aria-autocomplete="list" aria-expanded=${offers.length > 0} aria-controls=${list}
        aria-activedescendant=${chosen >= 0 ? `${list}-${chosen}` : undefined} autocomplete="off" autocapitalize="none" spellcheck="false"
        maxlength="4000" placeholder="BM25" value=${value} onInput=${this.typed} onKeyDown=${this.key} onBlur=${this.leave} />
      <ul id=${list} class="offers" role="listbox" aria-label=${`Offers for ${label}`} hidden=${!offers.length}>
        ${offers.map((offer, place) => html`<li id=${`${list}-${place}`} role="option" aria-selected=${place === chosen}
          onMouseDown=${(event) => { event.preventDefault(); this.take(offer); }}>
          <code><${Text}>${offer.text}<//></code>${offer.help && html` <small><${Text}>${offer.help}<//></small>`}</li>`)}
      </ul>
    </div>`;
  }
}
