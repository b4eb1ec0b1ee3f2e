// Texts and what is marked in them, without the page: offsets count code points, as the server does.

const TOKENS = new RegExp(
  [
    String.raw`(?<comment>#[^\n]*)`,
    String.raw`(?<string>[rbfuRBFU]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))`,
    String.raw`(?<keyword>\b(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield|None|True|False)\b)`,
  ].join('|'),
  'g',
);

/** Comments, strings and keywords: {start, end, kind}. */
export function tokens(text) {
  const found = [];
  let units = 0;
  let points = 0;
  for (const match of text.matchAll(TOKENS)) {
    points += [...text.slice(units, match.index)].length;
    const length = [...match[0]].length;
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    found.push({ start: points, end: points + length, kind });
    points += length;
    units = match.index + match[0].length;
  }
  return found;
}

/** Where the lines of a text begin. */
export function lineStarts(points) {
  const starts = [0];
  points.forEach((point, at) => {
    if (point === '\n') starts.push(at + 1);
  });
  return starts;
}

/** The offsets of a place that counts lines and columns from 1; undefined if the text has no such line. */
export function range(item, starts, length) {
  if (item.line > starts.length || item.line < 1) return undefined;
  const start = Math.min(starts[item.line - 1] + item.column - 1, length);
  const last = Math.min(item.end_line, starts.length);
  return { start, end: Math.max(start, Math.min(starts[last - 1] + item.end_column - 1, length)) };
}

/** Marks of a text as they lie in its successor: what was typed over is gone, what comes after has moved. */
export function moved(marks, before, after) {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const shift = after.length - before.length;
  const kept = [];
  for (const mark of marks) {
    if (mark.end <= head) kept.push(mark);
    else if (mark.start >= before.length - tail) kept.push({ ...mark, start: mark.start + shift, end: mark.end + shift });
  }
  return kept;
}

/** The text cut where any mark begins or ends: {start, end, marks}, the narrowest mark last. */
export function segments(length, marks) {
  const cuts = [...new Set([0, length, ...marks.flatMap((mark) => [mark.start, mark.end])])].sort((a, b) => a - b);
  const width = (mark) => mark.end - mark.start;
  const waiting = [...marks].sort((a, b) => a.start - b.start);
  const found = [];
  let open = [];
  let next = 0;
  for (let at = 0; at + 1 < cuts.length; at += 1) {
    const [start, end] = [cuts[at], cuts[at + 1]];
    open = open.filter((mark) => mark.end > start);
    while (next < waiting.length && waiting[next].start === start) open.push(waiting[next++]);
    open.sort((a, b) => width(b) - width(a));
    found.push({ start, end, marks: [...open] });
  }
  return found;
}

/** What a file is for the page: {name, kind, cells}. Throws an Error in words for people. */
export function fromFile(name, text) {
  if (/\.(md|rst)$/i.test(name)) return { name, kind: 'markdown', cells: [{ text }] };
  if (!/\.ipynb$/i.test(name)) return { name, kind: 'python', cells: [{ text }] };
  let data;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is no notebook: ${error.message}`);
  }
  const listed = data?.cells ?? data?.worksheets?.[0]?.cells;
  if (!Array.isArray(listed) || !listed.length) throw new Error(`${name} is no notebook with cells`);
  const cells = listed.map((cell) => {
    const source = cell.source ?? cell.input ?? '';
    return { text: Array.isArray(source) ? source.join('') : String(source), code: cell.cell_type === 'code' };
  });
  return { name, kind: 'notebook', cells };
}

/** A document as the part of a link that no server sees. */
export async function packed(document) {
  const { name, kind, cells } = document;
  const bytes = new TextEncoder().encode(JSON.stringify({ name, kind, cells }));
  const squeezed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const data = new Uint8Array(await new Response(squeezed).arrayBuffer());
  let text = '';
  for (const byte of data) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The document of such a part. Throws an Error for anything else. */
export async function unpacked(part) {
  try {
    const text = atob(part.replaceAll('-', '+').replaceAll('_', '/'));
    const data = Uint8Array.from(text, (char) => char.charCodeAt(0));
    const plain = new Blob([data]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const { name, kind, cells } = JSON.parse(await new Response(plain).text());
    if (!['python', 'markdown', 'notebook'].includes(kind) || !Array.isArray(cells) || !cells.length) throw new Error();
    return {
      name: String(name ?? ''),
      kind,
      cells: cells.map((cell) => ({ text: String(cell.text), code: cell.code !== false })),
    };
  } catch {
    throw new Error('this link holds no code: it may have been cut off');
  }
}
