// What the browser keeps: the scene as it stands (for a tab that was killed), files that were open
// lately, presets. All of it is a convenience: where the browser keeps nothing, the studio works on.

import type { Snapshot } from './studio_document';

export interface StoredScene {
  name: string;
  /** Bytes that the recipe refers to. */
  files: Record<string, Uint8Array>;
  snapshot: Snapshot;
  savedAt: number;
  picture: string;
}

const kDatabase = 'derm-studio';
const kStore = 'kept';
const kRecentCount = 6;
const kLargestRecentBytes = 64 * 1024 * 1024;

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(kDatabase, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(kStore);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('no database'));
  });
}

async function inStore<T>(mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | null> {
  try {
    const database = await openDatabase();
    try {
      return await new Promise<T>((resolve, reject) => {
        const request = work(database.transaction(kStore, mode).objectStore(kStore));
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error('the database failed'));
      });
    } finally {
      database.close();
    }
  } catch {
    return null;  // private windows keep nothing
  }
}

const bytesOf = (scene: StoredScene): number =>
  Object.values(scene.files).reduce((sum, file) => sum + file.byteLength, 0);

export const keepAutosave = (scene: StoredScene) =>
  inStore('readwrite', (store) => store.put(scene, 'autosave'));
export const autosave = () =>
  inStore<StoredScene | undefined>('readonly', (store) => store.get('autosave'));
export const dropAutosave = () => inStore('readwrite', (store) => store.delete('autosave'));

export async function recentScenes(): Promise<StoredScene[]> {
  const kept = await inStore<StoredScene[] | undefined>('readonly', (store) => store.get('recent'));
  return kept ?? [];
}

export async function keepRecent(scene: StoredScene): Promise<void> {
  if (bytesOf(scene) > kLargestRecentBytes) return;
  const others = (await recentScenes()).filter((each) => each.name !== scene.name);
  await inStore('readwrite', (store) =>
    store.put([scene, ...others].slice(0, kRecentCount), 'recent'));
}

export interface Preset {
  name: string;
  type: string;
  keys: Record<string, unknown>;
}

export function ownPresets(): Preset[] {
  try {
    return JSON.parse(localStorage.getItem('derm-presets') ?? '[]') as Preset[];
  } catch {
    return [];
  }
}

export function keepPreset(preset: Preset): void {
  const others = ownPresets().filter((p) => p.name !== preset.name || p.type !== preset.type);
  try {
    localStorage.setItem('derm-presets', JSON.stringify([...others, preset]));
  } catch { /* as above */ }
}
