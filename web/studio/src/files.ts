// Dropped files: what kind they are, and what is done with each kind.

export interface NamedBytes {
  name: string;
  bytes: Uint8Array;
}

export type FileKind = 'character' | 'recipe' | 'motion' | 'faceTable' | 'foreign' | 'companion';

/** A browser's tab has 4 GiB at most, and a file is there several times while it is read. */
export const kLargestFileBytes = 400 * 1024 * 1024;

const kKinds: Record<string, FileKind> = {
  glb: 'character', gltf: 'character', vrm: 'character', obj: 'character', ply: 'character',
  off: 'character', stl: 'character',
  fbx: 'foreign', dae: 'foreign', blend: 'foreign', usd: 'foreign', usdz: 'foreign',
  toml: 'recipe',
  bvh: 'motion',
  csv: 'faceTable', json: 'faceTable',
};

export function kindOf({ name, bytes }: NamedBytes): FileKind {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  // A glb is a glb whatever it is called, as it is to derm.
  const isGlb = String.fromCharCode(...bytes.subarray(0, 4)) === 'glTF';
  return kKinds[ending] ?? (isGlb ? 'character' : 'companion');
}

export async function readFiles(list: Iterable<File>): Promise<NamedBytes[]> {
  const out: NamedBytes[] = [];
  for (const file of list) {
    if (file.size > kLargestFileBytes) {
      const size = Math.round(file.size / 1e6);
      throw new Error(`${file.name} has ${size} MB, too much for a web page `
        + `(${Math.round(kLargestFileBytes / 1e6)} MB at most). The program derm reads it.`);
    }
    out.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
  }
  return out;
}

/** Files and folders that are dropped: all files, those of folders by their own names. To be called
 *  while the event is handled. */
export async function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  const loose = [...transfer.files];
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return loose;
  const out: File[] = [];
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    if (entry.isFile) {
      out.push(await new Promise<File>((done, failed) =>
        (entry as FileSystemFileEntry).file(done, failed)));
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {  // it gives them in parts
      const part = await new Promise<FileSystemEntry[]>((done, failed) =>
        reader.readEntries(done, failed));
      if (part.length === 0) return;
      for (const each of part) await walk(each);
    }
  };
  try {
    for (const entry of entries) if (entry) await walk(entry);
  } catch {
    // Chromium lets pages that are files look into no folder.
    throw new Error('This browser does not let the page look into folders: open the folder and drop '
      + 'the files in it.');
  }
  return out;
}

/** Paths that a .gltf names its buffers and pictures by: dropped files have no folders. */
export function pathsIn({ name, bytes }: NamedBytes): string[] {
  if (!name.toLowerCase().endsWith('.gltf')) return [];
  try {
    const { buffers = [], images = [] } = JSON.parse(new TextDecoder().decode(bytes)) as
      { buffers?: { uri?: unknown }[]; images?: { uri?: unknown }[] };
    return [...buffers, ...images].map(({ uri }) => uri).filter((uri): uri is string =>
      typeof uri === 'string' && !uri.startsWith('data:')).map(decodedPath);
  } catch {
    return [];  // derm says what is wrong with it
  }
}

/** Some programs write names as they are: "100%.png". */
function decodedPath(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

/** Offers bytes as a download. */
export function save(name: string, data: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([data], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the address after this task.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const stemOf = (name: string): string => {
  const base = name.slice(name.lastIndexOf('/') + 1).replace(/^cast:/, '');
  const dot = base.lastIndexOf('.');
  return dot > 0 ? base.slice(0, dot) : base;
};
