// The keys of the page. They act when no field has the focus; Escape and Alt keys always do.

const isField = (element) => element.matches?.('input:not([type=range]), select, textarea, [contenteditable]');

// Move the focus from hit to hit.
function step(way) {
  const links = [...document.querySelectorAll('.hit-link')];
  if (!links.length) return;
  const place = links.indexOf(document.activeElement);
  const open = links.findIndex((each) => each.getAttribute('aria-current'));
  const from = place >= 0 ? place : open;
  links[Math.max(0, Math.min(links.length - 1, from < 0 ? (way > 0 ? 0 : links.length - 1) : from + way))].focus();
}

// Open the hit beside the one that is open.
function turn(way) {
  const links = [...document.querySelectorAll('.hit-link')];
  const open = links.findIndex((each) => each.getAttribute('aria-current'));
  links[open + way]?.click();
}

const click = (selector) => document.querySelector(selector)?.click();
const focus = (selector) => {
  const element = document.querySelector(selector);
  element?.focus();
  element?.select?.();
};

export const KEYS = [
  ['/', 'Go to the query', () => focus('#query')],
  ['e', 'Go to the expression', () => focus('#ranker')],
  ['w', 'Go to the first slider of the expression', () => focus('.knob input')],
  ['j', 'Next hit', () => step(1)],
  ['k', 'Hit before', () => step(-1)],
  ['Enter', 'Why the hit stands where it stands', null],
  ['n', 'Why the next hit', () => turn(1)],
  ['p', 'Why the hit before', () => turn(-1)],
  ['o', 'Another document, to compare with or to ask why it is not shown', () => focus('.others input')],
  ['c', 'Compare with another ranking', () => click('.add')],
  ['s', 'The view as command, as Python and as a study', () => click('.beside .commands a, .commands a')],
  ['g', 'Go to the views at the top of the page', () => focus('.views a')],
  ['Escape', 'Leave a field, close what is open', null],
  ['?', 'This list', () => click('.help-button')],
];

// Listen to the keys until the page is gone. `close` closes what is open beside the hits.
export function listen(close) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector('dialog[open]')) return;
    if (event.key === 'Escape') {
      if (isField(document.activeElement)) document.activeElement.blur();
      else close();
      return;
    }
    if (event.key === ' ' && document.activeElement.matches('a[role="button"]')) {
      // What says that it is a button is pressed by the space bar too.
      event.preventDefault();
      document.activeElement.click();
      return;
    }
    if (isField(document.activeElement)) {
      if (event.key === 'Enter' && document.activeElement.id === 'query') step(1);
      return;
    }
    const found = KEYS.find(([key, , run]) => key === event.key && run);
    if (!found) return;
    event.preventDefault();
    found[2]();
  });
}
