/**
 * Which command starts the server, and what it is told when it starts. Knows nothing of VS Code: what is asked of the
 * machine comes in as `Machine`, so that all of it can be tested.
 */

import * as path from 'node:path';

export const INSTALL = "pip install 'jitlint[lsp]'";

/** The settings of the extension, as they are in package.json. */
export interface Settings {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly inlayHints: boolean;
  readonly codeLens: boolean;
  readonly semanticTokens: boolean;
  readonly diagnosticsFor: 'open' | 'workspace';
  readonly debounce: number;
  readonly ahead: boolean;
}

/** What the server understands in `initializationOptions`. */
export interface InitializationOptions {
  readonly inlayHints: boolean;
  readonly codeLens: boolean;
  readonly semanticTokens: boolean;
  readonly diagnosticsFor: 'open' | 'workspace';
  readonly debounce: number;
  readonly ahead: boolean;
  readonly explanations: 'result';
}

/** The machine, as far as the choice of a command depends on it. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The first folder of the workspace. */
  readonly folder?: string | undefined;
  /** The interpreter that the Python extension has chosen, if it is there. */
  readonly interpreter?: string | undefined;
  isProgram(file: string): Promise<boolean>;
  succeeds(program: string, args: readonly string[]): Promise<boolean>;
}

export interface Command {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly from: 'setting' | 'interpreter' | 'PATH';
}

/** Nothing to start, in words for the user. */
export interface Missing {
  readonly problem: string;
}

/** Whether an interpreter has the server, without running any of it. */
const HAS_SERVER = "import sys; from importlib.util import find_spec as f; sys.exit(not (f('jitlint') and f('pygls')))";

export async function findServer(settings: Settings, machine: Machine): Promise<Command | Missing> {
  const wanted = expanded(settings.command.trim(), machine);
  if (wanted) {
    const program = await located(wanted, machine);
    if (program === undefined) {
      return { problem: `\`jitlint.command\` names \`${wanted}\`, which is no program here.` };
    }
    const args = settings.arguments.map((argument) => expanded(argument, machine));
    return { program, arguments: args, from: 'setting' };
  }
  const { interpreter } = machine;
  if (interpreter !== undefined && (await machine.succeeds(interpreter, ['-c', HAS_SERVER]))) {
    return { program: interpreter, arguments: ['-m', 'jitlint', 'server'], from: 'interpreter' };
  }
  const program = await located('jitlint', machine);
  if (program !== undefined) {
    return { program, arguments: ['server'], from: 'PATH' };
  }
  const where = interpreter === undefined ? 'on the PATH' : `in ${interpreter}, nor on the PATH`;
  return { problem: `There is no jitlint server ${where}. Install it with: ${INSTALL}` };
}

/** What the server is told; `explanations`: a rule's page is the answer to a question, and shown by the extension. */
export function initializationOptions(settings: Settings): InitializationOptions {
  const { inlayHints, codeLens, semanticTokens, diagnosticsFor, debounce, ahead } = settings;
  return { inlayHints, codeLens, semanticTokens, diagnosticsFor, debounce, ahead, explanations: 'result' };
}

/** The settings, of any values: what somebody wrote by hand may be of another type, and counts as not written then. */
export function readSettings(get: (name: string) => unknown): Settings {
  const command = get('command');
  const args = get('arguments');
  const debounce = get('debounce');
  return {
    command: typeof command === 'string' ? command : '',
    arguments: Array.isArray(args) && args.every((each) => typeof each === 'string') ? args : ['server'],
    inlayHints: get('inlayHints') === true,
    codeLens: get('codeLens') === true,
    semanticTokens: get('semanticTokens') === true,
    diagnosticsFor: get('diagnosticsFor') === 'workspace' ? 'workspace' : 'open',
    debounce: typeof debounce === 'number' && debounce >= 0 && debounce <= 10_000 ? debounce : 150,
    ahead: get('ahead') !== false,
  };
}

/** The text with `~`, `${workspaceFolder}` and `${env:NAME}` replaced. */
export function expanded(text: string, machine: Machine): string {
  const whole = text.replace(/^~(?=$|[/\\])/, () => machine.home);
  return whole
    .replace(/\$\{workspaceFolder\}/g, () => machine.folder ?? '')
    .replace(/\$\{env:([^}]*)\}/g, (_, name: string) => machine.environment[name] ?? '');
}

/** The file of a program: a path (of the workspace, if it is relative), or a name that the PATH is searched for. */
async function located(name: string, machine: Machine): Promise<string | undefined> {
  const isWindows = machine.platform === 'win32';
  const paths = isWindows ? path.win32 : path.posix;
  const isPath = name.includes('/') || (isWindows && name.includes('\\'));
  const variable = machine.environment['PATH'] ?? machine.environment['Path'] ?? '';
  const folders = isPath ? [machine.folder ?? machine.home] : variable.split(paths.delimiter).filter(Boolean);
  // Scripts of the kinds .bat and .cmd need a shell, which would take the arguments apart.
  const endings = isWindows && !paths.extname(name) ? ['.exe', '.com'] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = paths.resolve(folder, name + ending);
      if (await machine.isProgram(file)) {
        return file;
      }
    }
  }
  return undefined;
}
