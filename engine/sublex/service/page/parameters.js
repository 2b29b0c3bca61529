// What the service knows of the parameters of components, asked once for all fields.

import { ask } from './ask.js';

let asked = null;
const known = new Map();

// Return what is known of a parameter: {type, range, stage, help}. The first call asks, and `then` is called with the answer.
export function parameterOf(component, name, then) {
  asked ??= ask('components').then(({ result }) => {
    for (const { name: owner, params } of result) for (const param of params) known.set(`${owner.toLowerCase()} ${param.name}`, param);
  }, () => {});
  if (!known.size) asked.then(then);
  return known.get(`${component.toLowerCase()} ${name}`);
}
