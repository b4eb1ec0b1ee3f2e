/** The extension: starts the server, says how it is, shows pages of rules. All that can be decided without VS Code is in `server`. */

import * as vscode from 'vscode';
import { LanguageClient, State, Trace } from 'vscode-languageclient/node';
import type { LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';

import { thisMachine } from './machine';
import { INSTALL, findServer, initializationOptions, readSettings } from './server';
import type { Command, Settings } from './server';

const EXPLAIN = 'jitlint.explain';
const PAGES = 'jitlint-page';

/** What is used of the Python extension. */
interface PythonExtension {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(
      environment: { readonly path: string },
    ): Promise<{ readonly executable: { readonly uri?: vscode.Uri | undefined } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  session = new Session(context);
  await session.restart();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
  session = undefined;
}

/** One server for all folders of the workspace; it is started again when what it was told has changed. */
class Session {
  private readonly output = vscode.window.createOutputChannel('jitlint', { log: true });
  private readonly status = vscode.window.createStatusBarItem('jitlint', vscode.StatusBarAlignment.Right);
  private readonly pages = new Map<string, string>();
  private readonly calm: string;
  private client: LanguageClient | undefined;
  /** Starts and stops come one after the other. */
  private queue: Promise<void> = Promise.resolve();
  private python: PythonExtension | undefined;

  constructor(context: vscode.ExtensionContext) {
    this.calm = context.extensionPath;
    this.status.name = 'jitlint';
    this.status.command = 'jitlint.showOutput';
    context.subscriptions.push(
      this.output,
      this.status,
      vscode.commands.registerCommand('jitlint.restart', () => this.restart()),
      vscode.commands.registerCommand('jitlint.showOutput', () => this.output.show(true)),
      vscode.workspace.registerTextDocumentContentProvider(PAGES, {
        provideTextDocumentContent: (uri) => this.pages.get(uri.path) ?? '',
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('jitlint.trace')) {
          void this.client?.setTrace(traceOf());
        } else if (event.affectsConfiguration('jitlint')) {
          void this.restart();
        }
      }),
    );
    void this.followPython(context);
  }

  restart(): Promise<void> {
    this.queue = this.queue.then(() => this.end()).then(() => this.start());
    return this.queue;
  }

  stop(): Promise<void> {
    this.queue = this.queue.then(() => this.end());
    return this.queue;
  }

  private async end(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.output.warn(`The server did not stop as it should: ${String(error)}`);
    }
  }

  private async start(): Promise<void> {
    this.show('sync~spin', 'jitlint is starting');
    const settings = settingsNow();
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const found = await findServer(settings, thisMachine(this.calm, folder?.fsPath, await this.interpreter(folder)));
    if ('problem' in found) {
      this.fail(found.problem);
      return;
    }
    this.output.info(`Starting ${[found.program, ...found.arguments].join(' ')} (from: ${found.from})`);
    const client = this.makeClient(found, settings);
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (this.client === client && newState === State.Stopped) {
        this.show('error', 'jitlint has stopped');
      } else if (this.client === client && newState === State.Running) {
        this.show('check', `jitlint ${client.initializeResult?.serverInfo?.version ?? ''} is running`);
      }
    });
    try {
      await client.start();
      await client.setTrace(traceOf());
    } catch (error) {
      this.output.warn(String(error));
      this.fail(`The server could not be started with ${found.program}. It may lack what it needs: ${INSTALL}`);
    }
  }

  private makeClient(command: Command, settings: Settings): LanguageClient {
    const server: ServerOptions = {
      command: command.program,
      args: [...command.arguments],
      options: { cwd: this.calm },
    };
    const options: LanguageClientOptions = {
      documentSelector: [
        { scheme: 'file', language: 'python' },
        { notebook: 'jupyter-notebook', language: 'python' },
      ],
      outputChannel: this.output,
      initializationOptions: initializationOptions(settings),
      middleware: {
        executeCommand: async (name, args, next) => {
          const result: unknown = await next(name, args);
          if (name === EXPLAIN && typeof result === 'string' && result) {
            await this.showPage(String(args[0]), result);
          }
          return result;
        },
      },
    };
    return new LanguageClient('jitlint', 'jitlint', server, options);
  }

  private async showPage(code: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: PAGES, path: `${code}.md` });
    this.pages.set(uri.path, text);
    await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
  }

  private show(icon: string, tooltip: string): void {
    this.status.text = `$(${icon}) jitlint`;
    this.status.tooltip = tooltip;
    this.status.show();
  }

  private fail(problem: string): void {
    this.show('error', problem);
    this.output.warn(problem);
    void this.advise(problem);
  }

  private async advise(problem: string): Promise<void> {
    const chosen = await vscode.window.showErrorMessage(`jitlint: ${problem}`, 'Copy Command', 'Settings', 'Output');
    if (chosen === 'Copy Command') {
      await vscode.env.clipboard.writeText(INSTALL);
    } else if (chosen === 'Settings') {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'jitlint.command');
    } else if (chosen === 'Output') {
      this.output.show(true);
    }
  }

  /** The interpreter that the Python extension has chosen for a folder. */
  private async interpreter(folder: vscode.Uri | undefined): Promise<string | undefined> {
    try {
      const python = await this.pythonExtension();
      const chosen = python?.environments.getActiveEnvironmentPath(folder);
      const resolved = chosen && (await python?.environments.resolveEnvironment(chosen));
      return resolved?.executable.uri?.fsPath;
    } catch (error) {
      this.output.warn(`The Python extension did not name an interpreter: ${String(error)}`);
      return undefined;
    }
  }

  private async pythonExtension(): Promise<PythonExtension | undefined> {
    this.python ??= await vscode.extensions.getExtension<PythonExtension>('ms-python.python')?.activate();
    return this.python;
  }

  /** Another interpreter, another server: unless a setting names it. */
  private async followPython(context: vscode.ExtensionContext): Promise<void> {
    try {
      const python = await this.pythonExtension();
      const changes = python?.environments.onDidChangeActiveEnvironmentPath(() => {
        if (!settingsNow().command.trim()) {
          void this.restart();
        }
      });
      if (changes) {
        context.subscriptions.push(changes);
      }
    } catch (error) {
      this.output.warn(`The Python extension cannot be used: ${String(error)}`);
    }
  }
}

function settingsNow(): Settings {
  const table = vscode.workspace.getConfiguration('jitlint');
  return readSettings((name) => table.get(name));
}

function traceOf(): Trace {
  return Trace.fromString(vscode.workspace.getConfiguration('jitlint').get('trace.server', 'off'));
}
