/** The real server, started as the extension starts it. `JITLINT_PYTHON` names the interpreter that has it. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExecuteCommandRequest,
  ExitNotification,
  HoverRequest,
  InitializeRequest,
  InitializedNotification,
  PublishDiagnosticsNotification,
  ShowMessageNotification,
  ShutdownRequest,
  createProtocolConnection,
} from 'vscode-languageserver-protocol/node';
import type { Diagnostic, Hover, PublishDiagnosticsParams } from 'vscode-languageserver-protocol/node';

import { thisMachine } from '../src/machine';
import { findServer, initializationOptions, readSettings } from '../src/server';

const TRAIN = 'import jax\nfrom losses import loss\n\n@jax.jit\ndef step(x):\n    return loss(x)\n';
const BAD = 'def loss(x):\n    if x > 0:\n        return x\n    return -x\n';
const GOOD = 'def loss(x):\n    return abs(x)\n';

test('the server that is found tells of a bad file', { timeout: 120_000 }, async (context) => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'jitlint-')));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, 'jitlint.toml'), '');
  writeFileSync(path.join(folder, 'train.py'), TRAIN);
  writeFileSync(path.join(folder, 'losses.py'), BAD);
  const uri = (name: string): string => pathToFileURL(path.join(folder, name)).href;

  const settings = readSettings(() => undefined);
  const calm = path.resolve(__dirname, '..', '..');
  const found = await findServer(settings, thisMachine(calm, folder, process.env['JITLINT_PYTHON']));
  if ('problem' in found) {
    context.skip(found.problem);
    return;
  }
  const server = spawn(found.program, found.arguments, { cwd: calm, stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => server.kill());
  const ended = new Promise<number | null>((resolve) => server.on('exit', resolve));
  const connection = createProtocolConnection(server.stdout, server.stdin);
  const messages: string[] = [];
  const waiting: ((params: PublishDiagnosticsParams) => void)[] = [];
  connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
    for (const each of waiting) {
      each(params);
    }
  });
  connection.onNotification(ShowMessageNotification.type, ({ message }) => {
    messages.push(message);
  });
  connection.listen();
  /** The findings of a file, as soon as there are so many. */
  const told = (name: string, count: number): Promise<Diagnostic[]> =>
    new Promise((resolve) => {
      waiting.push((params) => {
        if (params.uri === uri(name) && params.diagnostics.length === count) {
          resolve(params.diagnostics);
        }
      });
    });

  await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
    workspaceFolders: [{ uri: uri(''), name: 'project' }],
    initializationOptions: initializationOptions(settings),
  });
  await connection.sendNotification(InitializedNotification.type, {});
  const first = told('losses.py', 1);
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri: uri('losses.py'), languageId: 'python', version: 1, text: BAD },
  });
  const [finding] = await first;
  assert.equal(finding?.code, 'JIT101');
  assert.deepEqual(finding.range, { start: { line: 1, character: 7 }, end: { line: 1, character: 12 } });
  assert.deepEqual(
    finding.relatedInformation?.map(({ location }) => [location.uri, location.range.start.line]),
    [
      [uri('train.py'), 3],
      [uri('train.py'), 5],
    ],
  );

  const hover: Hover | null = await connection.sendRequest(HoverRequest.type, {
    textDocument: { uri: uri('losses.py') },
    position: { line: 1, character: 7 },
  });
  assert.match(JSON.stringify(hover), /`x`: \*\*traced\*\*/);

  const page: unknown = await connection.sendRequest(ExecuteCommandRequest.type, {
    command: 'jitlint.explain',
    arguments: ['JIT101'],
  });
  assert.match(String(page), /^# JIT101 /);

  const last = told('losses.py', 0);
  await connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri: uri('losses.py'), version: 2 },
    contentChanges: [{ text: GOOD }],
  });
  await last;
  assert.deepEqual(messages, []);
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  assert.equal(await ended, 0);
  connection.dispose();
});
