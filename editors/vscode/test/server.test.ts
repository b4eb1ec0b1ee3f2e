import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { expanded, findServer, initializationOptions, readSettings } from '../src/server';
import type { Machine } from '../src/server';

const ROOT = path.resolve(__dirname, '..', '..');
const DEFAULTS = readSettings(() => undefined);

function machine(programs: readonly string[], more: Partial<Machine> = {}): Machine {
  return {
    platform: 'linux',
    home: '/home/me',
    environment: { PATH: '/usr/bin:/opt/bin' },
    folder: '/project',
    isProgram: (file) => Promise.resolve(programs.includes(file)),
    succeeds: () => Promise.resolve(false),
    ...more,
  };
}

test('a setting comes first, and is expanded', async () => {
  const settings = { ...DEFAULTS, command: ' ${workspaceFolder}/.venv/bin/jitlint ' };
  const all = machine(['/project/.venv/bin/jitlint', '/usr/bin/jitlint'], {
    interpreter: '/python',
    succeeds: () => Promise.resolve(true),
  });
  assert.deepEqual(await findServer(settings, all), {
    program: '/project/.venv/bin/jitlint',
    arguments: ['server'],
    from: 'setting',
  });
});

test('arguments belong to the setting', async () => {
  const settings = { ...DEFAULTS, command: 'uv', arguments: ['run', '--project', '${env:WHERE}', 'jitlint', 'server'] };
  const here = machine(['/opt/bin/uv'], { environment: { PATH: '/usr/bin:/opt/bin', WHERE: '/there' } });
  assert.deepEqual(await findServer(settings, here), {
    program: '/opt/bin/uv',
    arguments: ['run', '--project', '/there', 'jitlint', 'server'],
    from: 'setting',
  });
  const found = await findServer({ ...DEFAULTS, arguments: ['other'] }, machine(['/usr/bin/jitlint']));
  assert.deepEqual(found, { program: '/usr/bin/jitlint', arguments: ['server'], from: 'PATH' });
});

test('a setting that names nothing is said, and nothing else is taken', async () => {
  const found = await findServer({ ...DEFAULTS, command: '~/gone' }, machine(['/usr/bin/jitlint']));
  assert.ok('problem' in found);
  assert.match(found.problem, /`jitlint\.command` names `\/home\/me\/gone`/);
});

test('then the interpreter that has it, then the PATH', async () => {
  const asked: string[] = [];
  const succeeds = (program: string, args: readonly string[]): Promise<boolean> => {
    asked.push(program);
    assert.equal(args[0], '-c');
    return Promise.resolve(program === '/with/python');
  };
  const both = machine(['/opt/bin/jitlint'], { interpreter: '/with/python', succeeds });
  assert.deepEqual(await findServer(DEFAULTS, both), {
    program: '/with/python',
    arguments: ['-m', 'jitlint', 'server'],
    from: 'interpreter',
  });
  const path = machine(['/opt/bin/jitlint'], { interpreter: '/without/python', succeeds });
  assert.deepEqual(await findServer(DEFAULTS, path), {
    program: '/opt/bin/jitlint',
    arguments: ['server'],
    from: 'PATH',
  });
  assert.deepEqual(asked, ['/with/python', '/without/python']);
});

test('where there is none, the message says what to install', async () => {
  for (const interpreter of [undefined, '/without/python']) {
    const found = await findServer(DEFAULTS, machine([], { interpreter }));
    assert.ok('problem' in found);
    assert.match(found.problem, /pip install 'jitlint\[lsp\]'$/);
    assert.equal(found.problem.includes('/without/python'), interpreter !== undefined);
  }
});

test('on Windows', async () => {
  const windows = machine(['C:\\Tools\\jitlint.exe', 'D:\\project\\.venv\\Scripts\\jitlint.exe'], {
    platform: 'win32',
    environment: { Path: 'C:\\Windows;C:\\Tools' },
    folder: 'D:\\project',
  });
  const onPath = await findServer(DEFAULTS, windows);
  assert.ok('program' in onPath && onPath.program === 'C:\\Tools\\jitlint.exe');
  const named = await findServer({ ...DEFAULTS, command: '.venv\\Scripts\\jitlint' }, windows);
  assert.ok('program' in named && named.program === 'D:\\project\\.venv\\Scripts\\jitlint.exe');
});

test('what is replaced is not read again', () => {
  const odd = machine([], { folder: '/odd/$&/${env:HOME}', environment: { HOME: '/x', A: '$1' } });
  assert.equal(expanded('${env:A}/${env:NONE}~', odd), '$1/~');
  assert.equal(expanded('~', odd), '/home/me');
});

test('settings of another type count as not written', () => {
  const odd: Record<string, unknown> = {
    command: 3,
    arguments: ['a', 1],
    inlayHints: 'yes',
    codeLens: 1,
    semanticTokens: "yes",
    diagnosticsFor: 'none',
    debounce: -1,
    ahead: 'no',
  };
  assert.deepEqual(readSettings((name) => odd[name]), DEFAULTS);
});

interface Manifest {
  readonly main: string;
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly default: unknown }>> };
    readonly walkthroughs: readonly { readonly steps: readonly { readonly media: { readonly markdown: string } }[] }[];
  };
}

const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Manifest;

test('the manifest has the settings that are read, with the same defaults', () => {
  const { properties } = manifest.contributes.configuration;
  const asked = new Map<string, unknown>();
  const settings = readSettings((name) => {
    asked.set(`jitlint.${name}`, properties[`jitlint.${name}`]?.default);
    return asked.get(`jitlint.${name}`);
  });
  assert.deepEqual(settings, DEFAULTS);
  assert.deepEqual([...asked.keys(), 'jitlint.trace.server'].sort(), Object.keys(properties).sort());
  assert.deepEqual(initializationOptions(settings), {
    inlayHints: false,
    codeLens: false,
    semanticTokens: false,
    diagnosticsFor: 'open',
    debounce: 150,
    ahead: true,
    explanations: 'result',
  });
});

test('the manifest has the commands that are registered, and the pages of its steps', () => {
  const source = readFileSync(path.join(ROOT, 'src', 'extension.ts'), 'utf8');
  const registered = [...source.matchAll(/registerCommand\('([^']+)'/g)].map((match) => match[1]);
  assert.deepEqual(manifest.contributes.commands.map(({ command }) => command).sort(), registered.sort());
  for (const { media } of manifest.contributes.walkthroughs.flatMap(({ steps }) => steps)) {
    assert.ok(readFileSync(path.join(ROOT, media.markdown), 'utf8').length > 0);
  }
});
