#include "millrace/tools/serve/status_page.h"

namespace millrace::serve {

// Every number is there as text, every state as a word: colours and bars only repeat them. What
// came from the server is set as text, never as HTML.
std::string_view status_page() {
  static constexpr std::string_view kPage = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark;
  --paper: #f6f7f9; --card: #ffffff; --ink: #1a2230; --pale: #56617a; --edge: #d5dae3;
  --bar: #2f6fb2; --bad: #b3261e; --good: #1d6b3a; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #12161d; --card: #1b212b; --ink: #e8ecf3; --pale: #a3aec2; --edge: #354052;
  --bar: #6aa9ea; --bad: #ff9b92; --good: #7fd6a0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 70rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: baseline; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 1.6rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 0 0 .6rem; overflow-wrap: anywhere; }
h4 { font-size: .9rem; margin: 1rem 0 .3rem; color: var(--pale); font-weight: 600; }
button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--pale);
  border-radius: .4rem; padding: .35rem .8rem; min-height: 2.75rem; }
button { cursor: pointer; }
:focus-visible { outline: 3px solid var(--bar); outline-offset: 2px; }
.spread { flex: 1; }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; padding: 1rem;
  margin-bottom: 1rem; }
.columns { display: grid; gap: 0 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .6rem 1rem; margin: 0; }
dt { color: var(--pale); font-size: .85rem; }
dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .4rem; text-align: right; border-bottom: 1px solid var(--edge); font-size: .92rem; }
th { color: var(--pale); font-weight: 600; }
th:first-child, td:first-child { text-align: left; }
td.bars { width: 40%; text-align: left; }
@media (min-width: 40rem) { td { white-space: nowrap; } }
.bar { display: block; height: .8rem; min-width: 1px; background: var(--bar); border-radius: 2px; }
.state { font-weight: 700; }
.bad { color: var(--bad); }
.good { color: var(--good); }
.reason { overflow-wrap: anywhere; margin: .6rem 0 0; }
svg { display: block; width: 100%; height: 5rem; }
polyline { fill: none; stroke: var(--bar); stroke-width: 2; vector-effect: non-scaling-stroke; }
.pale { color: var(--pale); font-size: .9rem; }
[hidden] { display: none; }
@media (forced-colors: active) { .bar { background: CanvasText; forced-color-adjust: none; } }
</style>
</head>
<body>
<header>
<h1>Millrace</h1>
<span>State: <span id="state" class="state" role="status">loading</span></span>
<span class="spread"></span>
<button id="pause" type="button" aria-pressed="false">Pause</button>
</header>
<p class="pale" id="facts">This page asks its server for numbers once a second.</p>
<noscript><p>This page needs its script. The same numbers are at <a href="/metrics">/metrics</a>.</p></noscript>
<form id="ask" class="card" hidden>
<label for="token">The server's token</label><br>
<input id="token" type="password" autocomplete="off"> <button type="submit">Show</button>
<p class="pale" id="asked">It stays in this page and goes nowhere but to this server.</p>
</form>
<main id="main" hidden>
<h2>Models</h2>
<div id="models"></div>
<h2>Devices</h2>
<div id="devices"></div>
</main>
<script>
'use strict';
const SPAN = 60;  // samples that "last minute" looks back
const history = [];
let token = '', paused = false, timer = 0;
const $ = id => document.getElementById(id);

function make(name, text, attributes = {}) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
function add(parent, ...children) { parent.append(...children); return parent; }

const count = n => n.toLocaleString('en');
function rate(n) { return n >= 100 ? count(Math.round(n)) : n.toFixed(1); }
function time(ns) {
  if (ns === null) return '–';
  const [value, unit] = ns < 1e6 ? [ns / 1e3, 'µs'] : ns < 1e9 ? [ns / 1e6, 'ms'] : [ns / 1e9, 's'];
  return value.toPrecision(3) + ' ' + unit;
}
function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (n >= 1024 && unit < 4) { n /= 1024; ++unit; }
  return (unit === 0 ? n : n.toPrecision(3)) + ' ' + units[unit];
}
function span(seconds) {
  const s = Math.floor(seconds), parts = [];
  if (s >= 86400) parts.push(Math.floor(s / 86400) + ' d');
  if (s >= 3600) parts.push(Math.floor(s / 3600) % 24 + ' h');
  if (s >= 60 && s < 86400) parts.push(Math.floor(s / 60) % 60 + ' min');
  if (s < 3600) parts.push(s % 60 + ' s');
  return parts.join(' ');
}

// Histograms are lists of [largest value, how many]: the difference of two is what came between.
function between(now, then) {
  const before = new Map(then);
  return now.map(([value, n]) => [value, n - (before.get(value) || 0)]).filter(([, n]) => n > 0);
}
function quantile(buckets, q) {
  const all = buckets.reduce((sum, [, n]) => sum + n, 0);
  if (all === 0) return null;
  let left = Math.max(1, Math.ceil(q * all));
  for (const [value, n] of buckets) { left -= n; if (left <= 0) return value; }
  return null;
}

const modelIn = (sample, name) => sample.status.models.find(m => m.model === name);
// Counters that became smaller are those of a server that has started again.
function first(name) {
  return history.find(sample => modelIn(sample, name));
}

function fact(list, name, value) { add(list, add(make('div'), make('dt', name), make('dd', value))); }

function table(caption, head, rows) {
  const made = make('table', undefined, {'aria-label': caption});
  add(made, add(make('thead'), add(make('tr'), ...head.map(h => make('th', h, {scope: 'col'})))));
  add(made, add(make('tbody'), ...rows.map(row => add(make('tr'), ...row.map(
      cell => cell instanceof Node ? cell : make('td', cell))))));
  return made;
}

function latencies(now, then) {
  const kinds = [['request_ns', 'Request'], ['queue_ns', 'In the queue'], ['batch_ns', 'On a device']];
  return table('Latencies', ['', 'p50', 'p90', 'p99', 'p99.9'], kinds.map(([key, name]) => {
    const buckets = between(now[key], then[key]);
    return [make('th', name, {scope: 'row'}), ...[.5, .9, .99, .999].map(q => time(quantile(buckets, q)))];
  }));
}

function batches(model) {
  const all = model.batch_rows.reduce((sum, [, n]) => sum + n, 0);
  if (all === 0) return make('p', 'No batch has run yet.', {class: 'pale'});
  return table('Rows of batches', ['Rows', 'Batches', 'Share', ''], model.batch_rows.map(([rows, n]) => {
    const bar = add(make('td', undefined, {class: 'bars', 'aria-hidden': 'true'}), make('span', undefined, {class: 'bar'}));
    bar.firstChild.style.width = 100 * n / all + '%';
    return [rows <= 8 ? rows : '≤ ' + rows, count(n), (100 * n / all).toFixed(1) + '%', bar];
  }));
}

// p99 of each second.
function curve(name) {
  const points = [];
  for (let i = 1; i < history.length; ++i) {
    const now = modelIn(history[i], name), then = modelIn(history[i - 1], name);
    points.push(now && then ? quantile(between(now.request_ns, then.request_ns), .99) : null);
  }
  const known = points.filter(p => p !== null);
  if (known.length < 2) return make('p', 'The curve begins with requests of two seconds.', {class: 'pale'});
  const most = Math.max(...known);
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 ' + (SPAN - 1) + ' 100');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'p99 of each second: now ' + time(known.at(-1)) + ', at most ' + time(most));
  const line = document.createElementNS(svg.namespaceURI, 'polyline');
  line.setAttribute('points', points.map((p, i) =>
      p === null ? '' : (SPAN - points.length + i) + ',' + (98 - 94 * p / most)).filter(Boolean).join(' '));
  svg.append(line);
  return add(make('div'), svg, make('div', 'now ' + time(known.at(-1)) + ', at most ' + time(most), {class: 'pale'}));
}

function show_model(now, then, seconds) {
  const card = make('section', undefined, {class: 'card', 'aria-label': 'Model ' + now.model});
  const done = now.succeeded - then.succeeded;
  const facts = make('dl');
  fact(facts, 'Requests/s', seconds > 0 ? rate(done / seconds) : '–');
  fact(facts, 'Rows/s', seconds > 0 ? rate((now.rows - then.rows) / seconds) : '–');
  fact(facts, 'Queued', count(now.queued) + ' of ' + count(now.most_queued));
  fact(facts, 'Queued bytes', bytes(now.queued_bytes));
  fact(facts, 'Answered', count(now.succeeded));
  fact(facts, 'Refused', count(now.refused));
  fact(facts, 'Failed', count(now.failed));
  fact(facts, 'Late or gone', count(now.cancelled));
  const padded = now.rows + now.padding;
  fact(facts, 'Padding', padded > 0 ? (100 * now.padding / padded).toFixed(1) + ' %' : '–');
  fact(facts, 'Batch sizes', now.batch_sizes.map(sizes => sizes.join(', ')).join('; '));
  return add(card, make('h3', now.model), facts,
      add(make('div', undefined, {class: 'columns'}),
          add(make('div'), make('h4', 'Latency, last minute'), latencies(now, then)),
          add(make('div'), make('h4', 'Rows of batches since the start'), batches(now)),
          add(make('div'), make('h4', 'p99 of each second'), curve(now.model))));
}

function show_device(now, then, seconds) {
  const card = make('section', undefined, {class: 'card', 'aria-label': 'Device ' + now.device});
  const works = now.state === 'works';
  const facts = make('dl');
  const state = make('dd', (works ? '✓ ' : '✗ ') + now.state, {class: 'state ' + (works ? 'good' : 'bad')});
  add(facts, add(make('div'), make('dt', 'State'), state));
  const busy = then && seconds > 0 ? (now.busy_ns - then.busy_ns) / (seconds * 1e9) : null;
  fact(facts, 'Busy', busy === null ? '–' : (100 * busy).toFixed(0) + ' %');
  fact(facts, 'Queue', count(now.queued));
  fact(facts, 'Running', count(now.launches_in_flight));
  fact(facts, 'Launches', count(now.launches));
  fact(facts, 'Memory', now.memory_bytes === undefined ? '–' : bytes(now.memory_bytes));
  add(card, make('h3', now.kind + ' ' + now.device), facts);
  if (now.reason) card.append(make('p', now.reason, {class: 'reason'}));
  return card;
}

function say_state(words, good) {
  const state = $('state');
  const text = (good ? '✓ ' : '✗ ') + words;
  if (state.textContent === text) return;  // else a screen reader says it each second
  state.textContent = text;
  state.className = 'state ' + (good ? 'good' : 'bad');
}

function show() {
  const latest = history.at(-1), status = latest.status;
  say_state(status.state, status.state === 'ready');
  $('facts').textContent = 'Version ' + status.version + ', up ' + span(status.uptime_s) + ', ' +
      count(status.in_flight) + ' in flight, ' + count(status.requests) + ' requests of any kind.';
  $('models').replaceChildren(...status.models.map(model => {
    const from = first(model.model);
    return show_model(model, modelIn(from, model.model), (latest.at - from.at) / 1000);
  }));
  if (status.models.length === 0) $('models').append(make('p', 'No model is loaded yet.', {class: 'pale'}));
  $('devices').replaceChildren(...status.devices.map((device, i) =>
      show_device(device, history[0].status.devices[i], (latest.at - history[0].at) / 1000)));
  $('main').hidden = false;
}

async function look() {
  timer = 0;
  try {
    const answer = await fetch('/status', {cache: 'no-store', headers: token ? {Authorization: 'Bearer ' + token} : {}});
    if (answer.status === 401) {
      if (token) $('asked').textContent = 'This is not the token of this server.';
      token = '';
      say_state('a token is needed', false);
      if ($('ask').hidden) { $('ask').hidden = false; $('token').focus(); }
      return;
    }
    if (!answer.ok) throw new Error('status ' + answer.status);
    const status = await answer.json();
    $('ask').hidden = true;
    if (history.length > 0 && history.at(-1).status.uptime_s > status.uptime_s) history.length = 0;
    history.push({at: performance.now(), status});
    if (history.length > SPAN) history.shift();
    show();
  } catch (error) {
    say_state('no answer: ' + error.message, false);
  }
  plan();
}
function plan() {
  if (timer === 0 && !paused && !document.hidden) timer = setTimeout(look, 1000);
}
$('pause').addEventListener('click', () => {
  paused = !paused;
  $('pause').setAttribute('aria-pressed', String(paused));
  clearTimeout(timer);
  timer = 0;
  if (!paused) look();
});
$('ask').addEventListener('submit', event => {
  event.preventDefault();
  token = $('token').value;
  $('token').value = '';
  look();
});
document.addEventListener('visibilitychange', plan);
look();
</script>
</body>
</html>
)html";
  return kPage;
}

}  // namespace millrace::serve
