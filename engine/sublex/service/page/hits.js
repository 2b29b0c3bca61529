// The hits of one ranking: title, docno, score with a bar, grade, best passage. Hits glide to their new places.

import { Component, createRef, html } from './html.js';
import { CLOSED, link } from './address.js';
import { short } from './numbers.js';
import { moves, told } from './moves.js';
import { Parts, Text } from './text.js';

const isCalm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

// A grade of a judged document, or ? for an unjudged one.
export function Grade({ grades, docno }) {
  if (!grades) return null;
  const grade = grades[docno];
  const words = grade === undefined ? 'not judged' : `grade ${grade}`;
  return html`<span class=${`grade ${grade > 0 ? 'is-relevant' : ''}`} title=${words}
    ><span aria-hidden="true">${grade ?? '?'}</span><span class="visually-hidden">${words}</span></span>`;
}

// How far a document moved, as an arrow, and in words for screen readers.
export function Move({ move }) {
  const [text, words] = told(move);
  const kind = move === null ? 'new' : move > 0 ? 'up' : move < 0 ? 'down' : 'same';
  return html`<span class=${`move is-${kind}`}><span aria-hidden="true">${text}</span><span class="visually-hidden">${words}</span></span>`;
}

// Beside a hit: its other columns, such as a theme.
const USUAL = new Set(['rank', 'score', 'docno', 'title', 'passage', 'title_parts', 'passage_parts']);
const Columns = ({ hit }) =>
  Object.entries(hit)
    .filter(([name, values]) => !USUAL.has(name) && values.length)
    .map(([name, values]) => html`<span class="column"><${Text}>${`${name} ${[values].flat().join(', ')}`}<//></span>`);

export class Hits extends Component {
  list = createRef();

  getSnapshotBeforeUpdate() {
    if (!this.list.current || isCalm()) return null;
    return new Map([...this.list.current.children].map((item) => [item.dataset.docno, item.getBoundingClientRect().top]));
  }

  componentDidUpdate(before, _, tops) {
    const order = (hits) => hits.map((hit) => hit.docno).join('\n');
    if (!tops || order(before.hits) === order(this.props.hits)) return;
    for (const item of this.list.current?.children ?? []) {
      const way = tops.get(item.dataset.docno) - item.getBoundingClientRect().top;
      if (way && Math.abs(way) < 2000) {
        item.animate([{ transform: `translateY(${way}px)` }, { transform: 'none' }], { duration: 220, easing: 'ease-out' });
      }
    }
  }

  render({ state, hits, grades, base }) {
    const most = Math.max(...hits.map((hit) => hit.score), 0);
    const rose = base ? moves(hits.map((hit) => hit.docno), base, hits.map((hit) => hit.rank - 1)) : [];
    return html`<ol class="hits" ref=${this.list}>
      ${hits.map((hit, place) => {
        const isOpen = hit.docno === state.docno;
        return html`<li key=${hit.docno} data-docno=${hit.docno} class=${isOpen ? 'hit is-open' : 'hit'}>
          <span class="rank">${hit.rank}</span>
          <div class="what">
            <h3><a class="hit-link" href=${link(state, { ...CLOSED, docno: hit.docno })} aria-current=${isOpen ? 'true' : undefined}
              >${hit.title ? html`<${Parts} parts=${hit.title_parts ?? [[hit.title, '']]} />` : html`<${Text}>${hit.docno}<//>`}</a></h3>
            <p class="facts">${hit.title && html`<${Text} class="docno">${hit.docno}<//>`}
              <${Grade} grades=${grades} docno=${hit.docno} />
              ${base && html`<${Move} move=${rose[place]} />`}
              <${Columns} hit=${hit} /></p>
            ${hit.passage && html`<p class="passage"><${Parts} parts=${hit.passage_parts ?? [[hit.passage, '']]} /></p>`}
          </div>
          <div class="score"><span class="figure"><span class="visually-hidden">score </span>${short(hit.score)}</span>
            <span class="bar" aria-hidden="true"><span style=${{ width: `${most > 0 ? (100 * Math.max(0, hit.score)) / most : 0}%` }}></span></span></div>
        </li>`;
      })}
    </ol>`;
  }
}
