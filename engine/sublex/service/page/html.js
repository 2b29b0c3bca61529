// Preact and htm, joined: `html` makes elements of template literals. Texts in them become text nodes, never markup.

import { Component, createRef, h, render } from './vendor/preact.mjs';
import htm from './vendor/htm.mjs';

export const html = htm.bind(h);
export { Component, createRef, render };
