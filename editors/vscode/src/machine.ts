/** The machine that the extension runs on. */

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import * as os from 'node:os';

import type { Machine } from './server';

/** An interpreter that does not answer is none. */
const PATIENCE = 20_000;

/**
 * The machine, with what only the editor knows. calm: a folder without Python modules; programs are run there, so that
 * no file of the workspace is taken for a module of the standard library.
 */
export function thisMachine(calm: string, folder?: string, interpreter?: string): Machine {
  return {
    platform: process.platform,
    home: os.homedir(),
    environment: process.env,
    folder,
    interpreter,
    isProgram: async (file) => {
      try {
        await access(file, constants.X_OK);
        return (await stat(file)).isFile();
      } catch {
        return false;
      }
    },
    succeeds: (program, args) =>
      new Promise((resolve) => {
        execFile(program, [...args], { cwd: calm, timeout: PATIENCE, windowsHide: true }, (error) => resolve(error === null));
      }),
  };
}
