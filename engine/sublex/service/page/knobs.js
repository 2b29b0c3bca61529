// Sliders for the numbers in an expression. While one is dragged, its range stays as it was.

import { Component, html } from './html.js';
import { numbers, span, withNumber } from './expression.js';
import { parameterOf } from './parameters.js';
import { visible } from './text.js';

export class Knobs extends Component {
  ranges = new Map();

  // Numbers that a fitted model was fitted with stay; others need a parameter that the service knows.
  facts = (number) => (number.kind === 'weight' ? {} : parameterOf(number.of, number.name, () => this.setState({})));

  rangeOf(key, number) {
    const found = this.ranges.get(key);
    if (found && number.value >= found[0] && number.value <= found[1]) return found;
    const range = span(number, number.value, this.facts(number));
    this.ranges.set(key, range);
    return range;
  }

  render({ expression, letter, onChange }) {
    const found = numbers(expression).filter((number) => this.facts(number)?.stage !== 'fit' && this.facts(number));
    if (!found.length) return null;
    return html`<div class="knobs" role="group" aria-label=${`Numbers of ${letter ? `ranking ${letter}` : 'the expression'}`}>
      ${found.map((number, place) => {
        const name = number.kind === 'weight' ? `weight of ${number.name}` : `${number.of} ${number.name}`;
        const [low, high, step] = this.rangeOf(`${place} ${name}`, number);
        const change = (event) => event.target.value !== '' && Number.isFinite(Number(event.target.value)) && onChange(withNumber(expression, number, event.target.value));
        return html`<div class="knob" key=${`${place} ${name}`}>
          <span class="knob-name" title=${visible(name)}>${number.kind === 'weight' ? html`<bdi class="mono">× ${visible(number.name)}</bdi>` : html`<bdi class="mono">${visible(`${number.of} ${number.name}`)}</bdi>`}</span>
          <input type="range" aria-label=${visible(name)} min=${low} max=${high} step=${step} value=${number.value} onInput=${change} />
          <input type="number" class="figure" aria-label=${`${visible(name)}, as a number`} step=${step} value=${number.value} onChange=${change} />
        </div>`;
      })}
    </div>`;
  }
}
