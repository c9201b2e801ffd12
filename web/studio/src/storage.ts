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
        const transaction = database.transaction(kStore, mode);
        const request = work(transaction.objectStore(kStore));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = transaction.onerror = () =>
          reject(transaction.error ?? new Error('the database failed'));
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

/** Files never change, so their bytes are written once: other tabs may have put others in place. */
const kAutosave = 'autosave', kFiles = 'autosave files', kFilesId = 'autosave files id';
const filesIds = new WeakMap<StoredScene['files'], string>();

export function keepAutosave(scene: StoredScene) {
  const id = filesIds.get(scene.files) ?? `${Date.now()} ${Math.random()}`;
  filesIds.set(scene.files, id);
  return inStore('readwrite', (store) => {
    const there = store.get(kFilesId) as IDBRequest<string | undefined>;
    there.onsuccess = () => {
      if (there.result === id) return;
      store.put(scene.files, kFiles);
      store.put(id, kFilesId);
    };
    return store.put({ ...scene, files: {} }, kAutosave);
  });
}

export async function autosave(): Promise<StoredScene | null> {
  const scene = await inStore<StoredScene | undefined>('readonly', (store) => store.get(kAutosave));
  const files = await inStore<StoredScene['files'] | undefined>('readonly', (store) => store.get(kFiles));
  return scene ? { ...scene, files: files ?? scene.files } : null;
}

export const dropAutosave = () => inStore('readwrite', (store) => {
  store.delete(kFiles);
  store.delete(kFilesId);
  return store.delete(kAutosave);
});

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
