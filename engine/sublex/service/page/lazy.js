// A view whose module is loaded when it is first shown, so that the first page stays small.

import { Component, html } from './html.js';

export class Lazy extends Component {
  componentDidMount() {
    this.props.load().then((module) => this.setState({ View: module.default }), () => this.setState({ failed: true }));
  }

  render({ load, ...rest }, { View, failed }) {
    if (failed) return html`<p role="alert">This view could not be loaded; reload the page.</p>`;
    return View ? html`<${View} ...${rest} />` : html`<p class="empty" aria-busy="true">…</p>`;
  }
}
