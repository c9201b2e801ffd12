import type { Tool } from './tool';

/** The camera alone. */
export class LookTool implements Tool {
  readonly id = 'look';
  readonly title = 'Look';
  readonly icon = 'look';
  readonly key = 'v';
  readonly hint = 'Drag to orbit, right button to pan, wheel to zoom, F to frame.';
}
