// The page: it reads its state from the address, shows the view of this state, and changes the address when users act.

import { Component, html, render } from './html.js';
import { CLOSED, changed, link, read } from './address.js';
import { ask } from './ask.js';
import { Fields } from './fields.js';
import { Help } from './help.js';
import { listen } from './keys.js';
import { Lazy } from './lazy.js';
import { Search } from './search.js';
import { Problem, Text } from './text.js';

// What is typed is asked for at once, but at most once in this many milliseconds; browsers allow 20 changes of the address a second.
// After SETTLED without typing, the back button leads to the state before.
const PAUSE = 60;
const SETTLED = 1500;
// A screen reader hears of hits when typing pauses.
const SPEECH = 700;

// The views beside that of a query, each with its name in the head and its module.
const VIEWS = {
  topics: { name: 'Topics', load: () => import('./topics.js') },
  judge: { name: 'Judge', load: () => import('./judging.js') },
  meaning: { name: 'Meaning', load: () => import('./meaning.js') },
  index: { name: 'Index', load: () => import('./index_view.js') },
};

// The name of a panel of a plugin in addresses.
const PANEL = 'panel-';

// Return the views that this service has: those above, and the panels of plugins.
function viewsOf(health) {
  const panels = (health?.panels ?? []).map(({ name, title, module }) => [PANEL + name, { name: title, load: () => import(module) }]);
  return { ...VIEWS, ...Object.fromEntries(panels) };
}

class Page extends Component {
  // `address` is what the fields show, and `asked` what the views show: the address that was taken last.
  state = { asked: read(location.search), address: read(location.search), health: null, problem: null, topics: [], grades: null, info: null, said: '' };
  // When that was.
  taken = -PAUSE;

  componentDidMount() {
    addEventListener('popstate', () => this.show(read(location.search)));
    document.addEventListener('click', this.follow);
    listen(this.close);
    ask('health').then(({ result }) => this.setState({ health: result }, this.learn), (problem) => this.setState({ problem }));
  }

  // Learn the topics and the grades that the service has.
  learn = async () => {
    const { health, address } = this.state;
    if (health?.topics.length && !this.state.topics.length) {
      ask('topics').then(({ result }) => this.setState({ topics: result }), () => {});
    }
    if (health && this.informed !== address.index) {
      this.informed = address.index;
      ask('info', { index: address.index, terms: 0 }).then(({ result }) => this.setState({ info: result }), () => {});
    }
    const topic = health?.judgements.length ? address.topic : '';
    if (topic === this.graded) return;
    this.graded = topic;
    // The first file, which is that of the judgements made here if there is one, has the last word.
    const files = topic ? health.judgements.map((qrels) => ask('judgements', { qrels, topic }).then(({ result }) => result.grades, () => ({}))) : [];
    const all = await Promise.all(files);
    if (this.graded === topic) this.setState({ grades: topic ? Object.assign({}, ...all.reverse()) : null });
  };

  show(address) {
    const query = address.query.trim();
    document.title = query ? `${query.slice(0, 60)} · Sublex` : 'Sublex';
    this.setState({ address, asked: address }, this.learn);
  }

  // Go to a changed state. With `replace`, the back button does not lead to the state that is left.
  go = (changes, replace = false) => {
    const address = changed(this.state.address, changes);
    const target = link(address) + location.hash;
    if (target !== location.search + location.hash || replace) history[replace ? 'replaceState' : 'pushState'](null, '', target);
    this.show(address);
  };

  // Take what is typed or dragged: at once into the field, and soon into the address; with `pause`, when typing pauses.
  // Each field has its own entry for the back button.
  type = (changes, pause = 0) => {
    const field = Object.keys(changes).join();
    this.pending = { ...this.pending, ...changes };
    this.setState({ address: changed(this.state.address, changes) });
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      this.taken = performance.now();
      const given = this.pending;
      this.pending = null;
      this.go(given, this.typedLast === field);
      this.typedLast = field;
      clearTimeout(this.settle);
      this.settle = setTimeout(() => (this.typedLast = ''), SETTLED);
    }, pause || Math.max(0, this.taken + PAUSE - performance.now()));
  };

  // Links of the page change its state and load nothing.
  follow = (event) => {
    const anchor = event.target.closest?.('a[href^="?"]');
    if (!anchor || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.isFollowed = true;
    this.typedLast = '';
    this.opener = anchor.classList.contains('hit-link') ? anchor.closest('[data-docno]')?.dataset.docno : this.opener;
    const isClosing = anchor.matches('[data-close]');
    this.go(read(anchor.getAttribute('href')), anchor.matches('[data-replace]'));
    if (isClosing) this.focusOpener();
    if (anchor.dataset.focus === 'hits') document.getElementById('results').focus();
    if (anchor.dataset.focus === 'last-ranker') requestAnimationFrame(() => [...document.querySelectorAll('.ranker .expression input')].at(-1)?.focus());
  };

  close = () => {
    if (!this.state.address.docno) return;
    this.go(CLOSED);
    this.focusOpener();
  };

  focusOpener() {
    requestAnimationFrame(() => {
      const links = [...document.querySelectorAll('.hit')];
      links.find((hit) => hit.dataset.docno === this.opener)?.querySelector('a')?.focus();
    });
  }

  regrade = (docno, grade) => {
    this.setState({ grades: { ...this.state.grades, [docno]: grade } });
  };

  relearn = () => {
    this.graded = undefined;
    this.learn();
  };

  say = (said) => {
    clearTimeout(this.speech);
    this.speech = setTimeout(() => this.setState({ said }), SPEECH);
  };

  render(_, { address, asked, health, problem, topics, grades, info, said }) {
    const shared = { regrade: this.regrade, relearn: this.relearn, isFollowed: Boolean(this.isFollowed), state: asked, say: this.say, go: this.go, type: this.type, topics, grades, health, info };
    const view = viewsOf(health)[asked.view];
    const isUnknown = asked.view.startsWith(PANEL) && !view;
    return html`
      <a class="skip" href="#results">Skip to the results</a>
      <${Head} ...${shared} />
      <main>
        ${problem && html`<${Problem} problem=${problem} />`}
        ${!['index', 'meaning'].includes(asked.view) && html`<${Fields} ...${shared} state=${address} asked=${asked} />`}
        <div id="results" tabindex="-1">${view
          ? html`<${Lazy} key=${asked.view} load=${view.load} ...${shared} address=${address} />`
          : isUnknown ? html`<p class="empty" aria-busy=${!health && !problem}>${health ? 'No plugin of this service has this view.' : '…'}</p>`
          : asked.ranker.length > 1 ? html`<${Lazy} key="compare" load=${() => import('./compare.js')} ...${shared} />` : html`<${Search} ...${shared} />`}</div>
      </main>
      <p class="visually-hidden" role="status" aria-live="polite" id="said">${said}</p>`;
  }
}

function Head({ state, health, go }) {
  const indexes = health?.indexes ?? [];
  const views = viewsOf(health);
  const now = indexes.find((each) => each.name === state.index) ?? indexes[0];
  return html`<header class="head">
    <h1><a class="brand" href="?">Sublex</a></h1>
    ${indexes.length > 1
      ? html`<label class="index">Index <select value=${now?.name} onChange=${(event) => go({ index: event.target.value, ...CLOSED })}>${indexes.map(({ name }) => html`<option value=${name} selected=${name === now?.name}>${name}</option>`)}</select></label>`
      : html`<span class="index"><${Text}>${now?.name ?? ''}<//></span>`}
    ${now && html`<span class="size">${now.documents.toLocaleString('en')} documents</span>`}
    <nav class="views" aria-label="Views">${[['', 'Search'], ...Object.entries(views).map(([view, { name }]) => [view, name])].map(([view, name]) => html`
      <a href=${link(state, { view, ...CLOSED })} aria-current=${(state.view in views ? state.view : '') === view ? 'page' : undefined}><${Text}>${name}<//></a>`)}</nav>
    <span class="grow"></span>
    <${Help} />
  </header>`;
}

render(html`<${Page} />`, document.getElementById('page'));
