// The Khronos validator on the given files: any error fails. Missing pictures are not ours to judge.
// usage: validate_gltf.mjs FILE…
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const validator = createRequire(new URL('../../tools/node/package.json', import.meta.url))('gltf-validator');
let failed = 0;
for (const file of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), {
    uri: file,
    externalResourceFunction: async (uri) =>
      new Uint8Array(readFileSync(join(dirname(file), decodeURIComponent(uri)))),
  });
  const errors = report.issues.messages.filter((m) => m.severity === 0);
  if (errors.length > 0) failed += 1;
  console.log(`${errors.length ? 'FAIL' : 'ok  '} ${file}: ${errors.length} errors, ` +
              `${report.issues.numWarnings} warnings`);
  for (const e of errors.slice(0, 5)) console.log(`     ${e.code} ${e.pointer ?? ''}: ${e.message}`);
}
process.exit(failed ? 1 : 0);
