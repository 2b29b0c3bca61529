// Numbers as people read them.

// Return a score with about four significant digits, a minus sign and no exponent where it can be avoided.
export function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return 'no score';
  const size = Math.abs(value);
  const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  const text = size && size < 0.0001 ? value.toPrecision(2) : value.toFixed(digits);
  return text.replace('-', '−');
}

export const signed = (value) => (value > 0 ? `+${short(value)}` : short(value));

export const counted = (number, noun) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
