// The numbers in an expression, such as the weight in `BM25 + 0.3*lsi`, and the expression with another number.
// The service reads expressions; this module only finds what sliders may change.

const TOKEN = /\s+|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|[^\W\d][\w.:/-]*|>>|./gsu;

function tokens(text) {
  const found = [];
  for (const match of text.matchAll(TOKEN)) {
    if (match[0].trim()) found.push({ text: match[0], begin: match.index, end: match.index + match[0].length });
  }
  return found;
}

const isNumber = (token) => token !== undefined && /^-?\d/.test(token.text);
const isName = (token) => token !== undefined && /^[^\W\d]/u.test(token.text) && token.text !== 'and';

// Return the numbers of an expression: {begin, end, value, kind, name}. A weight that is not written, as that of BM25 in
// `BM25 + 0.3*lsi`, has the value 1 and an empty place.
export function numbers(text) {
  const all = tokens(text);
  const found = [];
  operands(all, 0, text, found);
  all.forEach((token, place) => {
    const [before, equals] = [all[place - 2], all[place - 1]];
    if (isNumber(token) && equals?.text === '=' && isName(before)) {
      found.push({ begin: token.begin, end: token.end, value: Number(token.text), kind: 'parameter', name: before.text, of: owner(all, place) });
    }
  });
  return found.sort((one, other) => one.begin - other.begin);
}

// The component in whose parentheses a token stands.
function owner(all, place) {
  for (let depth = 0, at = place; at >= 0; at--) {
    if (all[at].text === ')') depth += 1;
    if (all[at].text === '(' && depth-- === 0) return isName(all[at - 1]) ? all[at - 1].text : '';
  }
  return '';
}

// Read the operands of one level from `place`; return the place after its end.
function operands(all, place, text, found) {
  let blend = [];
  let from = place;
  const close = () => {
    if (blend.length) {
      const last = all[place - 1];
      if (last && from < place) blend.push([from, place]);
      for (const [begin, end] of blend) addWeight(all, begin, end, text, found);
    }
    blend = [];
  };
  while (place < all.length && all[place].text !== ')') {
    const token = all[place];
    if (token.text === '+') {
      if (from < place) blend.push([from, place]);
      from = place + 1;
    } else if (token.text === '>>' || token.text === ',') {
      close();
      from = place + 1;
    } else if (token.text === '(') {
      place = operands(all, place + 1, text, found);
      continue;
    }
    place += 1;
  }
  close();
  return place + 1;
}

function addWeight(all, begin, end, text, found) {
  const [first, star] = [all[begin], all[begin + 1]];
  const weighted = isNumber(first) && star?.text === '*';
  const inner = all[weighted ? begin + 2 : begin];
  if (!inner || (!weighted && isNumber(first))) return;
  // A depth, as in `% 100`, is no part of the operand's name.
  const cut = all.slice(begin, end).findIndex((token) => token.text === '%');
  const of = text.slice(inner.begin, all[(cut > 0 ? begin + cut : end) - 1].end);
  const place = weighted ? { begin: first.begin, end: first.end } : { begin: first.begin, end: first.begin };
  found.push({ ...place, value: weighted ? Number(first.text) : 1, kind: 'weight', name: of, of: '' });
}

// Return the expression with another value of one of its numbers.
export function withNumber(text, number, value) {
  const written = String(Number(Number(value).toPrecision(4)));
  const star = number.begin === number.end ? '*' : '';
  if (star && written === '1') return text;
  return text.slice(0, number.begin) + written + star + text.slice(number.end);
}

// Return the lowest and highest value and the step of a slider. `initial` is the value at which the drag began, and `facts`
// are what the service knows of a parameter: its type and its range.
export function span({ kind }, initial, facts = {}) {
  if (kind === 'weight') return [Math.min(0, 2 * initial), Math.max(1, 2 * initial), 0.01];
  const [low, high] = Array.isArray(facts.range) && facts.range.every((end) => typeof end === 'number') ? facts.range : [0, Infinity];
  const most = Math.min(high, Math.max(high <= 1 ? high : facts.type === 'whole number' ? 20 : 2, 2 * initial));
  return [low, most, facts.type === 'whole number' ? 1 : most > 20 ? 0.5 : 0.01];
}
