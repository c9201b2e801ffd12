// A scene that was put into the page: <script type="application/json" id="scene">. It holds
// {"name": "cat.toml", "recipe": "character = …", "files": {"body.glb": "base64"}}; empty = none.
import type { FilesByName } from './studio_document';

export interface EmbeddedScene {
  name: string;
  recipe: string;
  files: FilesByName;
}

export function embeddedScene(): EmbeddedScene | null {
  const text = document.getElementById('scene')?.textContent?.trim() ?? '';
  if (text === '') return null;
  const scene = JSON.parse(text) as { name?: string; recipe?: string; files?: Record<string, string> };
  if (typeof scene.recipe !== 'string') throw new Error('the scene in the page has no recipe');
  const files: FilesByName = {};
  for (const [name, base64] of Object.entries(scene.files ?? {}))
    files[name] = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return { name: scene.name ?? 'scene.toml', recipe: scene.recipe, files };
}
