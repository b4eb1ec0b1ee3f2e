// The page: boxes to type in, what the server says of their text, and the path of what is pointed at.

import { EXAMPLES } from './examples.js';
import { fromFile, lineStarts, moved, packed, range, segments, tokens, unpacked } from './text.js';

const WAIT = 150; // milliseconds after a key
const BROKEN = new Set(['JIT001', 'JIT003']); // what was seen before stays where its text is
const byId = (id) => document.getElementById(id);
const [editor, hover, valueBox, state] = ['editor', 'hover', 'value', 'state'].map(byId);

let shown = { name: '', kind: 'python', cells: [] }; // with a box for each cell
let answer = { findings: [], values: [] };
let chosen; // the finding whose path is drawn while nothing is pointed at
let pointed; // the values, or the finding, under the pointer or the caret
let timer;
let isAsking = false;
let isStale = false;

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Text in which `code` is marked. */
function words(text) {
  return text.split(/`([^`]*)`/).map((part, at) => (at % 2 ? element('code', '', part) : part));
}

// ---------------------------------------------------------------- documents

function load(document) {
  clearTimeout(timer);
  for (const cell of shown.cells) cell.box.remove();
  shown = { name: document.name, kind: document.kind, cells: document.cells.map((cell) => box(cell)) };
  answer = { findings: [], values: [] };
  chosen = pointed = undefined;
  state.textContent = '';
  hover.hidden = true;
  byId('name').textContent = document.name;
  editor.append(...shown.cells.map((cell) => cell.box));
  for (const cell of shown.cells) draw(cell);
  list();
  ask();
}

/** One box: the text as it is seen, and an invisible field over it that takes the keys. */
function box({ text, code = true }) {
  const field = element('textarea');
  field.value = text;
  field.spellcheck = false;
  field.autocapitalize = 'off';
  field.setAttribute('aria-label', code ? 'Code' : 'Words');
  const seen = element('pre');
  const numbers = element('div', 'numbers');
  const whole = element('div', code ? 'cell' : 'cell words', numbers, element('div', 'code', seen, field));
  const cell = { box: whole, field, seen, numbers, code, points: [...field.value], values: [], findings: [] };
  field.addEventListener('input', () => typed(cell));
  field.addEventListener('keydown', (event) => onKey(event, field));
  field.addEventListener('mousemove', (event) => onPointer(event));
  field.addEventListener('mouseleave', () => point(undefined));
  return cell;
}

function onKey(event, field) {
  if (event.key === 'Escape') {
    field.blur(); // so that Tab goes on to what comes next
    point(undefined);
  } else if (event.key === 'Tab' && !event.shiftKey) {
    event.preventDefault();
    field.setRangeText('    ', field.selectionStart, field.selectionEnd, 'end');
    field.dispatchEvent(new Event('input'));
  }
}

/** Keys may come faster than a text is drawn. */
function typed(cell) {
  state.textContent = '';
  point(undefined);
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
  cell.frame ??= requestAnimationFrame(() => {
    cell.frame = undefined;
    follow(cell);
    drawPath();
  });
}

function follow(cell) {
  const now = [...cell.field.value];
  cell.values = moved(cell.values, cell.points, now);
  cell.findings = moved(cell.findings, cell.points, now);
  cell.points = now;
  draw(cell);
}

// ---------------------------------------------------------------- the server

async function ask() {
  if (isAsking) {
    isStale = true;
    return;
  }
  isAsking = true;
  byId('busy').textContent = 'looking …';
  const asked = shown;
  const texts = asked.cells.map((cell) => cell.field.value);
  try {
    const cells = asked.cells.map((cell, at) => ({ text: texts[at], code: cell.code }));
    const body = JSON.stringify({ kind: asked.kind, cells });
    const response = await fetch('/look', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    if (!response.ok) throw new Error(await response.text());
    const said = await response.json();
    if (asked === shown && asked.cells.every((cell, at) => cell.points.join('') === texts[at])) take(said);
  } catch (error) {
    state.textContent = error instanceof TypeError ? 'the playground has ended; start it again' : error.message;
  }
  isAsking = false;
  byId('busy').textContent = '';
  if (isStale) {
    isStale = false;
    ask();
  }
}

function take(said) {
  const isBroken = said.problem !== null || said.findings.some(({ code }) => BROKEN.has(code));
  const before = chosen;
  answer = isBroken ? { ...said, values: answer.values } : said;
  shown.cells.forEach((cell, at) => {
    const starts = lineStarts(cell.points);
    const inCell = (item) => (item.cell ?? 1) === at + 1;
    const mark = (item) => {
      const found = range(item, starts, cell.points.length);
      return found && { ...found, item };
    };
    cell.findings = said.findings.filter(inCell).map(mark).filter(Boolean);
    if (!isBroken) cell.values = said.values.filter(inCell).map(mark).filter(Boolean);
  });
  const same = (finding) => before && finding.code === before.code && finding.message === before.message;
  chosen = said.findings.find(same) ?? said.findings[0];
  pointed = undefined;
  if (said.problem) state.textContent = said.problem;
  if (said.about) byId('about').textContent = said.about;
  for (const cell of shown.cells) draw(cell);
  list();
  drawPath();
}

// ---------------------------------------------------------------- drawing

/** One word for what a value is in all situations under a transform. */
function status(rows) {
  const found = new Set(rows.filter((row) => row.in_trace).map((row) => row.status));
  found.delete('unknown');
  return found.size > 1 ? 'mixed' : [...found][0];
}

function draw(cell) {
  const { points } = cell;
  const marks = [
    ...(cell.code && shown.kind !== 'markdown' ? tokens(points.join('')) : []).map((token) => ({ ...token, token: token.kind })),
    ...cell.values.map((mark) => ({ ...mark, row: mark.item })),
    ...cell.findings.map((mark) => ({ ...mark, end: Math.max(mark.end, mark.start + 1), finding: mark.item })),
    ...lineStarts(points).slice(1).map((start) => ({ start: start - 1, end: start })), // each line end by itself
  ];
  cell.notes = [element('span', 'note')];
  const pieces = [];
  for (const segment of segments(points.length, marks)) {
    const text = points.slice(segment.start, segment.end).join('');
    if (text === '\n') {
      pieces.push(cell.notes.at(-1));
      cell.notes.push(element('span', 'note'));
    }
    pieces.push(piece(text, segment.marks));
  }
  cell.seen.replaceChildren(...pieces, cell.notes.at(-1), '\n');
  cell.numbers.textContent = lineStarts(points).map((_, at) => at + 1).join('\n');
}

function piece(text, marks) {
  const token = marks.find((mark) => mark.token)?.token ?? '';
  const rows = marks.filter((mark) => mark.row);
  const narrowest = rows.at(-1);
  const here = rows.filter((mark) => mark.start === narrowest.start && mark.end === narrowest.end).map((mark) => mark.row);
  const findings = marks.filter((mark) => mark.finding).map((mark) => mark.finding);
  const classes = [token, text === '\n' || isLiteral(here) ? '' : status(here), findings[0]?.severity];
  const made = element('span', classes.filter(Boolean).join(' '), text);
  made.about = { rows: here, findings };
  return made;
}

/** Numbers and strings are what they are; colour would only tire. */
const isLiteral = (rows) => /^['"\d]/.test(rows[0]?.text ?? '');

const boxOf = (place) => shown.cells[(place.cell ?? 1) - 1];

/** The places from the transform to what is pointed at, or to the finding that is chosen. */
function path() {
  const aim = pointed ?? chosen;
  if (aim === undefined) return [];
  const steps = aim.related ?? aim.because;
  const places = [...steps, { cell: aim.cell, line: aim.line, message: '' }];
  const several = places.filter((place, at) => at === places.length - 1 || place.line !== places[at + 1].line || place.cell !== places[at + 1].cell);
  return several.map((place, at) => ({ ...place, number: at + 1, isEnd: at === several.length - 1 }));
}

function vector(tag, attributes, text = '') {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

function drawPath() {
  const svg = byId('path');
  const height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--height'));
  const x = 40;
  const steps = path().filter((step) => boxOf(step));
  const y = (step) => boxOf(step).box.offsetTop + 6 + (step.line - 0.5) * height;
  const lines = steps.slice(1).map((step, at) => {
    const [from, to] = [y(steps[at]), y(step)];
    const bulge = Math.min(14 + Math.abs(to - from) / 10, 36);
    return vector('path', { d: `M ${x} ${from} C ${x - bulge} ${from}, ${x - bulge} ${to}, ${x} ${to}` });
  });
  const ends = steps.flatMap((step) => [
    vector('circle', { cx: x, cy: y(step), r: 8, class: step.isEnd ? 'end' : '' }),
    vector('text', { x, y: y(step), class: step.isEnd ? 'last' : '' }, String(step.number)),
  ]);
  for (const note of shown.cells.flatMap((cell) => cell.notes)) note.textContent = '';
  for (const step of steps.filter((each) => each.message)) {
    const note = boxOf(step).notes[step.line - 1];
    const before = note?.textContent;
    if (note) note.textContent = `${before ? `${before}; ` : ''}${step.number} ${step.message.replaceAll('`', '')}`;
  }
  svg.setAttribute('height', String(editor.scrollHeight));
  svg.replaceChildren(...(steps.length > 1 ? [...lines, ...ends] : []));
}

// ---------------------------------------------------------------- findings

function list() {
  const { findings } = answer;
  const count = findings.length === 1 ? '1 finding' : `${findings.length || 'No'} findings`;
  byId('count').textContent = count;
  byId('findings').replaceChildren(...findings.map(card));
  describe(undefined);
}

function card(finding) {
  const where = `${finding.cell ? `cell ${finding.cell}, ` : ''}line ${finding.line}`;
  const link = element('a', '', `${finding.code} ${finding.name}`);
  link.href = `/rules/${finding.code}`;
  link.target = '_blank';
  const made = element(
    'li',
    `is-${finding.severity}${finding === chosen ? ' chosen' : ''}`,
    element('p', 'head', `${finding.severity} · `, link, ` · ${where}`),
    element('p', '', ...words(finding.message)),
    ...(finding.help ? [element('p', 'help', ...words(finding.help))] : []),
  );
  made.tabIndex = 0;
  const choose = () => {
    chosen = finding;
    list();
    drawPath();
    boxOf(finding)?.box.scrollIntoView({ block: 'nearest' });
  };
  made.addEventListener('click', choose);
  made.addEventListener('keydown', (event) => event.key === 'Enter' && choose());
  return made;
}

// ---------------------------------------------------------------- what is pointed at

function onPointer(event) {
  const under = document.elementsFromPoint(event.clientX, event.clientY).find((each) => each.about);
  point(under?.about, event);
}

function point(about, event) {
  const aim = about?.findings[0] ?? about?.rows.find((row) => row.in_trace && row.because.length);
  hover.hidden = !event || !(about?.rows.length || about?.findings.length);
  if (!hover.hidden) {
    hover.replaceChildren(...described(about));
    hover.style.left = `${Math.min(event.clientX + 12, innerWidth - hover.offsetWidth - 8)}px`;
    const below = event.clientY + 18;
    const fits = below + hover.offsetHeight < innerHeight;
    hover.style.top = `${fits ? below : Math.max(event.clientY - hover.offsetHeight - 12, 8)}px`;
  }
  if (about !== undefined) describe(about);
  if (aim === pointed) return;
  pointed = aim;
  drawPath();
}

function describe(about) {
  const parts = about === undefined ? [] : described(about);
  const nothing = element('p', 'help', 'Point at a value, or put the caret on it, to see what it is and why.');
  valueBox.replaceChildren(...(parts.length ? parts : [nothing]));
}

function described(about) {
  const told = about.findings.map((finding) => element('p', '', element('b', '', `${finding.code} `), ...words(finding.message)));
  const seen = new Set();
  for (const row of about.rows) {
    const head = element('p', '', element('code', '', row.text), ': ', element('b', row.in_trace ? row.status : '', row.status));
    head.append(row.kind ? ` ${row.kind}` : '', row.why ? ', from ' : '', ...words(row.why ?? ''));
    head.append(row.in_trace ? '' : ' (outside of any transform)');
    const steps = row.because.map((step) => {
      return element('li', '', `${step.cell ? `cell ${step.cell}, ` : ''}line ${step.line}: `, ...words(step.message));
    });
    const key = head.textContent + steps.map((step) => step.textContent).join();
    if (!seen.has(key)) told.push(head, ...(steps.length ? [element('ol', '', ...steps)] : []));
    seen.add(key);
  }
  return told;
}

document.addEventListener('selectionchange', () => {
  const cell = shown.cells.find((each) => each.field === document.activeElement);
  if (cell === undefined) return;
  const caret = [...cell.field.value.slice(0, cell.field.selectionStart)].length;
  const width = (mark) => mark.end - mark.start;
  const around = cell.values.filter((mark) => mark.start <= caret && caret <= mark.end);
  const least = Math.min(...around.map(width));
  const findings = cell.findings.filter((mark) => mark.start <= caret && caret <= mark.end).map((mark) => mark.item);
  describe({ rows: around.filter((mark) => width(mark) === least).map((mark) => mark.item), findings });
});

// ---------------------------------------------------------------- the bar above

async function open(file) {
  try {
    load(fromFile(file.name, await file.text()));
  } catch (error) {
    state.textContent = error.message;
  }
}

function current() {
  return { ...shown, cells: shown.cells.map((cell) => ({ text: cell.field.value, code: cell.code })) };
}

let own = ''; // the part of the address that this page has written itself

async function share() {
  own = `#${await packed(current())}`;
  history.replaceState(undefined, '', own);
  const say = (where) => {
    state.textContent = `The link is ${where}. It opens wherever a playground runs at ${location.host}.`;
  };
  say('in the address bar');
  navigator.clipboard.writeText(location.href).then(
    () => say('in the address bar, and copied'),
    () => undefined, // not allowed: the address bar has it
  );
}

async function fromAddress() {
  if (location.hash === own && own) return;
  if (location.hash.length < 2) {
    load(EXAMPLES[0]);
    return;
  }
  try {
    load(await unpacked(location.hash.slice(1)));
  } catch (error) {
    if (!shown.cells.length) load(EXAMPLES[0]);
    state.textContent = error.message;
  }
}

byId('examples').append(...EXAMPLES.map((example) => element('option', '', example.name)));
byId('examples').addEventListener('change', (event) => load(EXAMPLES[event.target.selectedIndex]));
byId('open').addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', (event) => event.target.files[0] && open(event.target.files[0]));
byId('share').addEventListener('click', share);
editor.addEventListener('dragover', (event) => event.preventDefault());
editor.addEventListener('drop', (event) => {
  event.preventDefault();
  if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
});
addEventListener('hashchange', fromAddress);
addEventListener('resize', drawPath);
fromAddress();
