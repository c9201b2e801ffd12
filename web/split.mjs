// Cuts the linked module in two: node web/split.mjs BIN
// BIN/derm.wasm comes from the linker, whole and with the names of its functions (and stays as
// derm.whole.wasm). It becomes what every page needs, and derm.rest.wasm what few do: the functions
// that only those of kDeferred and kDeferredNames reach. Both share one memory: the second
// fills the places in the first's table that call it (binaryen's wasm-split).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { readModule } from './wasm_functions.mjs';

/** Functions of derm.h that begin the second file; js/derm.mjs asks for it before it calls them. */
const kDeferred = [
  'derm_find_points', 'derm_add_face_shapes', 'derm_bake', 'derm_bake_report', 'derm_character_glb',
  'derm_liquid_open', 'derm_liquid_step',
];
/** Where else it begins: functions that are called by their address alone, each time behind
 *  needDeferred() of derm/base/deferred.h. */
const kDeferredNames = [
  /\bderm::detail::cast::/,
  /^derm::\(anonymous namespace\)::addRetargeted\(/,
  /^derm::\(anonymous namespace\)::playRetargeted\(/,
];

const bin = path.resolve(process.argv[2]);
const [first, second, whole] = ['derm.wasm', 'derm.rest.wasm', 'derm.whole.wasm']
  .map((name) => path.join(bin, name));
renameSync(first, whole);
const module = readModule(readFileSync(whole));

const hasDeferredName = (index) => kDeferredNames.some((name) => name.test(module.names.get(index)));

/** Functions that are reached from the exports that stay. */
function kept() {
  const reached = new Set();
  const waiting = [];
  const reach = (index) => {
    if (index < module.importCount || reached.has(index)) return;
    reached.add(index);
    waiting.push(index);
  };
  const reachByAddress = (index) => { if (!hasDeferredName(index)) reach(index); };
  // By the functions' names: em++ gives exports shorter ones.
  for (const [, index] of module.exports)
    if (!kDeferred.includes(module.names.get(index))) reach(index);
  module.inPlainData.forEach(reachByAddress);
  while (waiting.length > 0) {
    const { calls, addresses } = module.functions.get(waiting.pop());
    calls.forEach(reach);
    addresses.forEach(reachByAddress);
  }
  return reached;
}

for (const name of [...kDeferred.map((text) => new RegExp(`^${text}$`)), ...kDeferredNames])
  if (![...module.names.values()].some((each) => name.test(each)))
    throw new Error(`no function is called ${name}: what is not named stays in derm.wasm`);
const stays = kept();
const goes = [...module.functions.keys()].filter((index) => !stays.has(index));
const work = mkdtempSync(path.join(os.tmpdir(), 'derm-split-'));
try {
  // Without its names, binaryen calls a function by its number among those that are not imported.
  const [bare, list] = [path.join(work, 'bare.wasm'), path.join(work, 'list')];
  writeFileSync(bare, module.withoutNames());
  writeFileSync(list, goes.map((index) => index - module.importCount).join('\n'));
  const features = ['mutable-globals', 'simd', 'bulk-memory', 'sign-ext', 'nontrapping-float-to-int']
    .map((feature) => `--enable-${feature}`);
  execFileSync('wasm-split', [bare, ...features, `--split-funcs=@${list}`, '-o1', first, '-o2', second,
    '--import-namespace=first', '--placeholder-namespace=rest', '--export-prefix=%'], { stdio: 'inherit' });
  for (const file of [first, second])
    execFileSync('wasm-opt', [file, ...features, '--optimize-level=2', '--shrink-level=1',
      '--generate-stack-ir', '--optimize-stack-ir', '-o', file], { stdio: 'inherit' });
} finally {
  rmSync(work, { recursive: true, force: true });
}
const size = (file) => `${path.basename(file)} ${(statSync(file).size / 1e6).toFixed(2)} MB`;
console.log(`${size(first)}, ${size(second)} with ${goes.length} of ${module.functions.size} functions`);
