/** The bundle, loaded where the editor's own module is a stand-in that takes anything: what it registers, what it says. */

import assert from 'node:assert/strict';
import Module from 'node:module';
import * as path from 'node:path';
import { test } from 'node:test';

/** Is any object, function and class; what it is given by name comes first. */
function anything(known: Readonly<Record<string, unknown>> = {}): unknown {
  const base = Object.assign(class {}, known); // own properties: a bundle copies them
  return new Proxy(base, {
    get: (target, name) => {
      if (typeof name === 'string' && name in known) {
        return known[name];
      }
      if (name === 'prototype' || typeof name === 'symbol') {
        return Reflect.get(target, name);
      }
      return name === 'then' ? undefined : anything();
    },
    apply: () => anything(),
  });
}

interface Extension {
  activate(context: unknown): Promise<void>;
  deactivate(): Promise<void>;
}

test('without a server it says what to install, and offers to start again', async () => {
  const commands = new Map<string, () => unknown>();
  const errors: string[] = [];
  const copied: string[] = [];
  const status = { name: '', text: '', tooltip: '', command: '', show: () => undefined };
  const editor = anything({
    window: anything({
      createStatusBarItem: () => status,
      showErrorMessage: (message: string, ...choices: string[]) => {
        errors.push(message);
        return Promise.resolve(choices[0]);
      },
    }),
    commands: anything({ registerCommand: (name: string, run: () => unknown) => commands.set(name, run) }),
    extensions: { getExtension: () => undefined },
    workspace: anything({ workspaceFolders: undefined, getConfiguration: () => ({ get: () => undefined }) }),
    StatusBarAlignment: { Right: 2 },
    env: { clipboard: { writeText: (text: string) => Promise.resolve(copied.push(text)) } },
  });
  const internals = Module as unknown as { _load(name: string, ...more: unknown[]): unknown };
  const load = internals._load;
  internals._load = (name, ...more) => (name === 'vscode' ? editor : load.call(internals, name, ...more));
  const { PATH } = process.env;
  process.env['PATH'] = '';
  try {
    const bundle = path.resolve(__dirname, '..', 'bundle', 'extension.js');
    const extension = internals._load(bundle, module, false) as Extension;
    await extension.activate({ subscriptions: [], extensionPath: __dirname });
    assert.deepEqual([...commands.keys()].sort(), ['jitlint.restart', 'jitlint.showOutput']);
    assert.equal(status.text, '$(error) jitlint');
    assert.match(errors.join(), /There is no jitlint server on the PATH\. Install it with: pip install 'jitlint\[lsp\]'/);
    assert.deepEqual(copied, ["pip install 'jitlint[lsp]'"]);
    await commands.get('jitlint.restart')?.();
    assert.equal(errors.length, 2);
    await extension.deactivate();
  } finally {
    process.env['PATH'] = PATH;
    internals._load = load;
  }
});
