// What the parts of an explanation add to the score. The rules are those of the engine's comparison of two scores.

const counted = (node) => node.parts.filter((part) => part.kind !== 'evidence');
// A part of a blend: a weight times a normalised score.
const isWeighted = (node) => node.kind === 'product' && node.parts.length === 2 && node.parts[0].label === 'weight';

// Return the units of a score, such as words: {part, label, value, facts}. Their values add up to the score.
export function units(tree) {
  const found = [];
  collect(tree, 1, '', found);
  return found;
}

function collect(node, factor, part, found) {
  const parts = counted(node);
  const add = (each, label) => found.push({ part, label, value: factor * each.value, facts: factsOf(each) });
  if (node.kind === 'scaled' && parts.length === 3) {
    const [inner, scale, offset] = parts;
    collect(inner, factor * scale.value, part, found);
    found.push({ part, label: 'offset', value: factor * offset.value, facts: 'of the normalisation' });
  } else if (isWeighted(node)) {
    collect(parts[1], factor * parts[0].value, node.label, found);
  } else if (node.kind === 'sum' && parts.length) {
    for (const inner of parts) {
      if (inner.kind === 'scaled' || isWeighted(inner)) collect(inner, factor, part, found);
      else add(inner, inner.label.split(': ')[0]);
    }
  } else if (node.kind !== 'evidence') {
    add(node, node.label);
  }
}

// The labels of the parts below a unit, such as "rarity: in 9 of 252 documents", in one line.
function factsOf(node) {
  const labels = [];
  const walk = (each) => {
    for (const part of each.parts) {
      if (part.label.includes(': ')) labels.push(part.label.slice(part.label.indexOf(': ') + 2));
      walk(part);
    }
  };
  if (node.kind === 'product') walk(node);
  return labels.slice(0, 3).join('; ');
}

// Return what each node adds to the score, by node. Factors of products have no such number.
export function shares(tree) {
  const found = new Map();
  const walk = (node, factor) => {
    found.set(node, factor * node.value);
    const parts = counted(node);
    if (node.kind === 'scaled' && parts.length === 3) {
      walk(parts[0], factor * parts[1].value);
      found.set(parts[2], factor * parts[2].value);
    } else if (isWeighted(node)) {
      walk(parts[1], factor * parts[0].value);
    } else if (node.kind === 'sum') {
      for (const part of parts) walk(part, factor);
    }
  };
  walk(tree, 1);
  return found;
}

// Return the sentences of an explanation that count nothing, such as "how: not in this document".
export function evidence(tree) {
  const found = [];
  const walk = (node) => {
    for (const part of node.parts) {
      if (part.kind === 'evidence') found.push(part);
      else if (part.kind !== 'product' || isWeighted(part)) walk(part);
    }
  };
  walk(tree);
  return found;
}
