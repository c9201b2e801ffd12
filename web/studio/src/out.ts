// What leaves the studio: recipes, baked files, pictures, films, a line for the shell.
import type { App } from './app';
import { save, stemOf } from './files';

export function saveRecipe(app: App): void {
  const document = app.document;
  if (!document) return;
  save(`${stemOf(document.name)}.toml`, document.text, 'application/toml');
  const { groups, points } = document.snapshot();
  if (groups.size + points.size > 0)
    app.messages.say('info', 'The recipe is saved; the character changed, too',
      'Painted groups and placed points belong to the character: save it as well.');
}

export async function saveCharacter(app: App): Promise<void> {
  const document = app.document;
  if (!document) return;
  const bytes = await app.long('Writing the character …', () =>
    document.apart((scene) => scene.ask('characterGlb') as Promise<Uint8Array>));
  if (bytes) save(`${stemOf(document.name)}_character.glb`, bytes as BlobPart, 'model/gltf-binary');
}

export async function bake(app: App): Promise<void> {
  const document = app.document;
  if (!document) return;
  const baked = await app.long('Baking …', () => document.apart((scene) =>
    scene.ask('bake', { format: 'glb', as: 'correctives' }) as Promise<{ bytes: Uint8Array }>));
  if (!baked) return;
  save(`${stemOf(document.name)}_alive.glb`, baked.bytes as BlobPart, 'model/gltf-binary');
  app.messages.say('done', 'Baked',
    `${(baked.bytes.length / 1e6).toFixed(1)} MB, as a skinned character with corrective shapes.`);
}

export async function savePicture(app: App): Promise<void> {
  app.viewport.drawNow();
  const blob = await new Promise<Blob | null>((done) => app.viewport.canvas.toBlob(done, 'image/png'));
  if (blob) save(`${stemOf(app.document?.name ?? 'derm')}.png`, blob, 'image/png');
}

/** Plays the range once, from its start, and records the picture. */
export async function film(app: App): Promise<void> {
  const document = app.document;
  if (!document) return;
  const { player, viewport } = app;
  const type = ['video/mp4;codecs=avc1', 'video/webm;codecs=vp9', 'video/webm;codecs=vp8']
    .find((each) => typeof MediaRecorder !== 'undefined' && MediaRecorder.isTypeSupported(each));
  if (!type) {
    app.messages.say('error', 'This browser records no films', 'derm render --film makes them.');
    return;
  }
  const stream = viewport.canvas.captureStream(60);
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 12_000_000 });
  const pieces: Blob[] = [];
  recorder.ondataavailable = (event) => pieces.push(event.data);
  const stopped = new Promise<void>((done) => { recorder.onstop = () => done(); });
  const loop = player.loop;
  const recorded = await app.long('Recording the clip once …', async () => {
    player.play(false);
    player.loop = false;
    player.seek(player.start_s);
    recorder.start(250);
    player.play(true);
    await new Promise<void>((done) => {
      const stop = player.changed.add(() => {
        if (player.playing && app.document === document) return;
        stop();
        done();
      });
      if (!player.playing) {  // a clip without length
        stop();
        setTimeout(done, 1000);
      }
    });
    recorder.stop();
    await stopped;
    return true;
  });
  for (const track of stream.getTracks()) track.stop();  // else every picture is copied from here on
  player.loop = loop;
  player.changed.emit();
  if (!recorded) return;
  const ending = type.startsWith('video/mp4') ? 'mp4' : 'webm';
  save(`${stemOf(document.name)}.${ending}`, new Blob(pieces, { type }), type);
}

/** What shows the same in a terminal. */
export function commandLine(app: App): string {
  const stem = stemOf(app.document?.name ?? 'scene');
  const quoted = /^[\w.-]+$/.test(stem) ? stem : `'${stem.replaceAll("'", "'\\''")}'`;
  return `derm render ${quoted}.toml --time ${app.player.time_s.toFixed(3)} -o ${quoted}.png`;
}

export async function copyCommand(app: App): Promise<void> {
  const line = commandLine(app);
  try {
    await navigator.clipboard.writeText(line);
    app.messages.say('done', 'Copied', line);
  } catch {
    app.messages.say('info', 'The command line', line);  // the browser gives no clipboard
  }
}
