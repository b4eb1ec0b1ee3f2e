/** Writes the licences of the packages that the bundle contains beside it: they ask for that. Reads esbuild's list of inputs. */

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const { inputs } = JSON.parse(readFileSync('out/meta.json', 'utf8'));
const packages = new Set(
  Object.keys(inputs).flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
);
const texts = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const files = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
  if (files.length === 0) {
    throw new Error(`${folder} has no text of its licence`);
  }
  return [`${name} ${version} (${license})`, ...files.map((file) => readFileSync(`${folder}/${file}`, 'utf8'))].join('\n\n');
});
writeFileSync('out/bundle/LICENSES.txt', texts.join(`\n\n${'-'.repeat(70)}\n\n`));
