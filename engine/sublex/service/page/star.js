// A word in the middle of its senses: rays, as long as the senses are likely, with words at their ends.

import { html } from './html.js';
import { visible } from './text.js';

const [WIDTH, HEIGHT] = [520, 360];
const SHOWN = 4;

export function Star({ centre, rays }) {
  const most = Math.max(...rays.map((ray) => ray.size), 0.01);
  const drawn = rays.map((ray, place) => {
    const angle = (2 * Math.PI * place) / rays.length;
    const length = 0.35 + (0.65 * ray.size) / most;
    return { ...ray, x: Math.cos(angle) * length * 150, y: Math.sin(angle) * length * 125, side: Math.cos(angle) };
  });
  // The first line of a ray's words: above a ray that goes up, below one that goes down, beside others.
  const top = (ray) => {
    const more = 13 * (Math.min(ray.words.length, SHOWN) - 1);
    if (Math.abs(ray.side) > 0.3) return ray.y + 4 - more / 2;
    return ray.y < 0 ? ray.y - 12 - more : ray.y + 20;
  };
  const beside = (ray) => ray.x + (ray.side > 0.3 ? 14 : ray.side < -0.3 ? -14 : 0);
  const anchor = (side) => (side > 0.3 ? 'start' : side < -0.3 ? 'end' : 'middle');
  return html`<svg class="star" viewBox=${`${-WIDTH / 2} ${-HEIGHT / 2} ${WIDTH} ${HEIGHT}`} role="img" aria-label=${`The senses of ${visible(centre)}, which the table lists`}>
    ${drawn.map((ray) => html`<line x1="0" y1="0" x2=${ray.x} y2=${ray.y} stroke-width=${1 + (5 * ray.size) / most} />
      <circle cx=${ray.x} cy=${ray.y} r=${3 + (5 * ray.size) / most} />
      <text x=${beside(ray)} y=${top(ray)} text-anchor=${anchor(ray.side)}>
        ${ray.words.slice(0, SHOWN).map((word, place) => html`<tspan x=${beside(ray)} dy=${place ? 13 : 0}>${visible(word)}</tspan>`)}</text>`)}
    <circle class="middle" r="5" /><text class="middle" y="-9" text-anchor="middle">${visible(centre)}</text>
  </svg>`;
}
