// Ask the service. `Answers` is a component that asks, and shows the newest answer: an older one never paints over it.

import { Component } from './html.js';

// The token stands in the fragment, which browsers do not send. It goes to the service in a header and into no link.
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';

// Return the path of a request. Empty values are left out; lists are repeated.
export function pathOf(operation, parameters) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== '' && each !== undefined && each !== null && each !== false) given.append(name, String(each));
    }
  }
  const text = given.toString();
  return `/v1/${operation}${text ? `?${text}` : ''}`;
}

// Return the answer to a request as {result, notes, …}. Throw the record of a problem.
export async function ask(operation, parameters = {}, signal = undefined) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  let answer;
  try {
    answer = await fetch(pathOf(operation, parameters), { headers, signal, credentials: 'omit' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw { status: 0, detail: 'The service does not answer. Start it again by: sublex serve' };
  }
  const record = await answer.json().catch(() => null);
  if (answer.ok && record) return record;
  throw { status: answer.status, detail: `The service answered ${answer.status} without a sentence.`, ...(record ?? {}) };
}

// Change something, such as a judgement.
export async function post(operation, parameters) {
  const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(`/v1/${operation}`, { method: 'POST', headers, body: JSON.stringify(parameters) });
  const record = await answer.json().catch(() => null);
  if (answer.ok && record) return record;
  throw { status: answer.status, detail: 'The service did not take the change.', ...(record ?? {}) };
}

// Asks `requests`, a list of [operation, parameters], and calls its child with a list of slots, one for each request:
// {answer, problem, isOld}. A slot keeps its last answer until a newer one is there. `isOld` says that it waits for one.
// `onAnswers` is called with the slots when all requests are answered. With `wait`, it asks so many milliseconds later.
export class Answers extends Component {
  slots = [];

  componentDidMount() {
    this.update();
  }

  componentDidUpdate() {
    this.update();
  }

  componentWillUnmount() {
    for (const slot of this.slots) slot.controller?.abort();
    this.slots = [];
  }

  update() {
    const { requests } = this.props;
    for (const slot of this.slots.splice(requests.length)) slot.controller?.abort();
    requests.forEach((request, place) => this.fill(place, ...request));
  }

  fill(place, operation, parameters) {
    const slot = (this.slots[place] ??= { answer: null, problem: null, isOld: true, path: '' });
    const path = pathOf(operation, parameters);
    if (slot.path === path) return;
    slot.controller?.abort();
    const controller = new AbortController();
    Object.assign(slot, { path, controller, isOld: true });
    this.setState({});
    // A slot that was given another path meanwhile, or that is gone, takes no answer.
    const settle = (facts) => {
      if (this.slots[place] !== slot || slot.path !== path) return;
      Object.assign(slot, { isOld: false, problem: null }, facts);
      this.setState({});
      if (this.slots.every((each) => !each.isOld)) this.props.onAnswers?.(this.slots);
    };
    const send = () => ask(operation, parameters, controller.signal).then(
      (answer) => settle({ answer: { ...answer, operation, parameters } }),
      (problem) => problem.name === 'AbortError' || settle({ problem }),
    );
    clearTimeout(slot.timer);
    if (this.props.wait) slot.timer = setTimeout(send, this.props.wait);
    else send();
  }

  render({ requests, children }) {
    const slots = requests.map((_, place) => this.slots[place] ?? { answer: null, problem: null, isOld: true });
    return (Array.isArray(children) ? children[0] : children)(slots);
  }
}
