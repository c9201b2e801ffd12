// Files that are dropped anywhere on the page, or chosen.
import type { App } from '../app';
import { droppedFiles, readFiles } from '../files';
import { h } from './dom';

export function makeDrop(app: App): () => void {
  const veil = h('div', { class: 'veil', hidden: true },
    h('p', {}, 'Drop to open: .glb .gltf .obj .toml .bvh .csv'));
  document.body.append(veil);
  const take = async (list: Iterable<File> | Promise<Iterable<File>>) => {
    try {
      const files = await readFiles(await list);
      if (files.length > 0) await app.openFiles(files);
    } catch (error) {
      app.messages.error(error, 'The file cannot be opened');
    }
  };
  let depth = 0;
  const isFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  window.addEventListener('dragenter', (event) => {
    if (!isFile(event)) return;
    depth += 1;
    veil.hidden = false;
  });
  window.addEventListener('dragleave', (event) => {
    if (isFile(event) && --depth <= 0) veil.hidden = true;
  });
  window.addEventListener('dragover', (event) => { if (isFile(event)) event.preventDefault(); });
  window.addEventListener('drop', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    depth = 0;
    veil.hidden = true;
    void take(droppedFiles(event.dataTransfer!));
  });
  const chooser = h('input', { type: 'file', multiple: true, hidden: true, id: 'chooser',
    onchange: () => {
      const files = [...chooser.files ?? []];
      chooser.value = '';
      void take(files);
    } });
  document.body.append(chooser);
  return () => chooser.click();
}
