// The state of the page is its address: this module reads it, writes it and makes links of it.
// The names of parameters are those of the service, so a link says what is asked.

// One value each, with the value that is left out of links.
const SINGLE = {
  view: '', index: '', query: '', k: '10', from: '1', generation: '', language: 'plain', topic: '', docno: '', versus: '', why_not: '', base: '',
  word: '', model: '', of: '', where: '', measure: '', code: '', costs: '',
};
const MAX_RANKERS = 6;

// Return the state that a query string such as ?query=crane&ranker=BM25 stands for.
export function read(search) {
  const given = new URLSearchParams(search);
  const state = {};
  for (const [name, usual] of Object.entries(SINGLE)) state[name] = given.get(name) ?? usual;
  for (const name of ['k', 'from']) if (!/^\d{1,4}$/.test(state[name]) || Number(state[name]) < 1) state[name] = SINGLE[name];
  state.ranker = given.getAll('ranker').slice(0, MAX_RANKERS);
  if (!state.ranker.length) state.ranker = [''];
  return state;
}

// What makes other hits: their first page of the current generation is shown.
const OTHER_HITS = ['view', 'index', 'query', 'k', 'language', 'ranker'];

// Return a state, changed as `changes` says.
export function changed(state, changes) {
  const isOther = OTHER_HITS.some((name) => name in changes);
  return { ...state, ...(isOther ? { from: SINGLE.from, generation: SINGLE.generation } : {}), ...changes };
}

// Return the query string of a state, changed as `changes` says. Usual values are left out.
export function link(state, changes = {}) {
  const next = changed(state, changes);
  const given = new URLSearchParams();
  for (const [name, usual] of Object.entries(SINGLE)) if (next[name] !== usual && next[name]) given.append(name, next[name]);
  if (next.ranker.length > 1 || next.ranker[0]) for (const ranker of next.ranker) given.append('ranker', ranker);
  const text = given.toString();
  return text ? `?${text}` : '?';
}

// Changes that close the panel beside the hits.
export const CLOSED = { docno: '', versus: '', why_not: '' };
