// Judge the documents that several rankings find for a topic, those that nobody judged first, with keys or buttons.

import { Component, html } from './html.js';
import { Answers, post } from './ask.js';
import { link } from './address.js';
import { Commands } from './commands.js';
import { letter } from './moves.js';
import { asked } from './search.js';
import { Grade } from './hits.js';
import { Parts, Problem, Text } from './text.js';

const GRADES = [0, 1, 2, 3];

// The name with which this browser judges. Nobody can guess it, so nobody else takes its judgements back.
const made = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
function me() {
  try {
    if (!localStorage.judge) localStorage.judge = made;
    return localStorage.judge;
  } catch {
    // A browser that stores nothing judges under one name until the page is closed.
    return made;
  }
}

export default class Judging extends Component {
  state = { problem: null };

  componentDidMount() {
    document.addEventListener('keydown', this.key);
  }

  componentWillUnmount() {
    document.removeEventListener('keydown', this.key);
  }

  // A digit judges the document that has the focus, `u` takes one's own last judgement back.
  key = (event) => {
    const docno = document.activeElement?.closest?.('[data-docno]')?.dataset.docno;
    if (docno === undefined || event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, select')) return;
    if (event.key === 'u') {
      event.preventDefault();
      this.takeBack();
      return;
    }
    const grade = GRADES.find((each) => String(each) === event.key);
    if (grade === undefined) return;
    event.preventDefault();
    this.judge(docno, grade);
    document.activeElement.closest('[data-docno]').nextElementSibling?.querySelector('a')?.focus();
  };

  async judge(docno, grade) {
    const { state, regrade, say } = this.props;
    try {
      await post('judge', { topic: state.topic, docno, grade, by: me() });
      this.setState({ problem: null });
      regrade(docno, grade);
      say(`${docno} has grade ${grade}`);
    } catch (problem) {
      this.setState({ problem });
    }
  }

  takeBack = async () => {
    const { relearn, say } = this.props;
    try {
      await post('unjudge', { by: me() });
      this.setState({ problem: null });
      relearn();
      say('Your last judgement is taken back');
    } catch (problem) {
      this.setState({ problem });
    }
  };

  // Documents keep their places while they are judged; another topic or ranking sorts anew.
  sorted(slots, grades) {
    const { state } = this.props;
    const key = `${state.topic}\n${state.ranker.join('\n')}\n${state.k}`;
    const found = new Map();
    slots.forEach(({ answer }, place) => {
      for (const hit of answer.result.hits) {
        const each = found.get(hit.docno) ?? { hit, ranks: [] };
        each.ranks[place] = hit.rank;
        found.set(hit.docno, each);
      }
    });
    if (this.sortedFor !== key) {
      this.sortedFor = key;
      const best = (docno) => Math.min(...found.get(docno).ranks.filter(Boolean));
      this.order = [...found.keys()].sort((a, b) => (grades[a] !== undefined) - (grades[b] !== undefined) || best(a) - best(b));
    }
    return this.order.filter((docno) => found.has(docno)).map((docno) => found.get(docno));
  }

  render({ state, grades, health, topics }, { problem }) {
    if (!health) return null;
    if (!health.judge) return html`<p class="empty">Judging needs a file for the judgements; start the service with one: sublex serve INDEX --topics FILE --judge FILE</p>`;
    if (!state.topic) return html`<p class="empty">Choose a topic to judge the documents that the rankings find for it.</p>
      <ul class="topic-list">${topics.map(({ qid, text, judged }) => html`<li><a class="hit-link" href=${link(state, { topic: qid, query: text })}><span class="docno">${qid}</span> <${Text}>${text}<//></a> <span class="soft">${judged} judged</span></li>`)}</ul>`;
    if (!grades || !topics.length) return html`<p class="empty" aria-busy="true">…</p>`;
    const topic = topics.find(({ qid }) => qid === state.topic);
    if (!topic) return html`<p class="empty">There is no topic <${Text}>${state.topic}<//>. <a href=${link(state, { topic: '' })}>All topics</a></p>`;
    // Without a query, the topic is asked; without an expression, the default ranking.
    const query = state.query.trim() || topic.text;
    const requests = state.ranker.map((ranker) => ['search', { ...asked({ ...state, query }, ranker), parts: true }]);
    return html`<section class="judging" aria-label="Judging">
      <${Answers} requests=${requests}>
        ${(slots) => {
          const failed = slots.find((slot) => slot.problem);
          if (failed) return html`<${Problem} problem=${failed.problem} />`;
          if (slots.some((slot) => !slot.answer || slot.isOld)) return html`<p class="empty" aria-busy="true">…</p>`;
          const pool = this.sorted(slots, grades);
          const open = pool.filter(({ hit }) => grades[hit.docno] === undefined).length;
          return html`${problem && html`<${Problem} problem=${problem} />`}
            <p class="lead">${pool.length} documents of ${slots.length === 1 ? html`<code><${Text}>${state.ranker[0] || 'the default ranking'}<//></code>` : `${slots.length} rankings`}, ${open} not judged.${' '}
              <kbd>j</kbd> and <kbd>k</kbd> go from one to the next; <kbd>0</kbd> to <kbd>3</kbd> judge, <kbd>u</kbd> takes your last judgement back.${' '}
              <button type="button" onClick=${this.takeBack}>Take back</button></p>
            <h2 class="visually-hidden">Documents</h2>
            <ol class="pool">${pool.map(({ hit, ranks }) => html`<li key=${hit.docno} data-docno=${hit.docno} class="hit">
              <${Grade} grades=${grades} docno=${hit.docno} />
              <div class="what"><h3><a class="hit-link" href=${link(state, { view: '', query, docno: hit.docno, ranker: [state.ranker[0]] })}><${Text}>${hit.title || hit.docno}<//></a></h3>
                <p class="facts"><${Text} class="docno">${hit.docno}<//> <span>${slots.map((_, place) => (ranks[place] ? `${letter(place)} ${ranks[place]}` : null)).filter(Boolean).join(', ')}</span></p>
                ${hit.passage && html`<p class="passage"><${Parts} parts=${hit.passage_parts ?? [[hit.passage, '']]} /></p>`}
                <p class="grades" role="group" aria-label=${`Grade of ${hit.docno}`}>${GRADES.map((grade) => html`<button type="button" aria-pressed=${grades[hit.docno] === grade} onClick=${() => this.judge(hit.docno, grade)}>${grade}</button>`)}</p></div></li>`)}</ol>`;
        }}
      <//>
      <${Commands} state=${state} requests=${requests} query=${query} health=${health} />
    </section>`;
  }
}
