// Everything that can be done by a name: buttons, keys and scripts all come through here.
import type { App } from './app';
import { bake, copyCommand, film, saveCharacter, savePicture, saveRecipe } from './out';
import type { Tools } from './tools/tool';
import type { Side, ViewSettings } from './view/viewport';

export interface Command {
  id: string;
  title: string;
  /** 'ctrl+z', 'space', 'f'. */
  keys?: string[];
  run(argument?: unknown): unknown;
}

export type Commands = Map<string, Command>;

export function makeCommands(app: App, tools: Tools, chooseFiles: () => void,
  showStart: () => void, showAbout: () => void): Commands {
  const toggle = (key: keyof ViewSettings) => () =>
    app.setView({ [key]: !app.viewport.settings[key] });
  const look = (side: Side) => () => app.viewport.look(side);
  const list: Command[] = [
    { id: 'open', title: 'Open files', keys: ['ctrl+o'], run: chooseFiles },
    { id: 'openCast', title: 'Open a character of the cast', run: (name) => app.openCast(String(name)) },
    { id: 'start', title: 'Start page', run: showStart },
    { id: 'about', title: 'About', run: showAbout },
    { id: 'saveRecipe', title: 'Save the recipe', keys: ['ctrl+s'], run: () => saveRecipe(app) },
    { id: 'saveCharacter', title: 'Save the character', run: () => saveCharacter(app) },
    { id: 'bake', title: 'Bake into a glb', run: () => bake(app) },
    { id: 'picture', title: 'Save a picture', run: () => savePicture(app) },
    { id: 'film', title: 'Record a film of the clip', run: () => film(app) },
    { id: 'copyCommand', title: 'Copy the command line', run: () => copyCommand(app) },
    { id: 'undo', title: 'Undo', keys: ['ctrl+z'], run: () => app.document?.undo() },
    { id: 'redo', title: 'Redo', keys: ['ctrl+shift+z', 'ctrl+y'], run: () => app.document?.redo() },
    { id: 'auto', title: 'Bring to life: flesh, volume and folds by derm', keys: ['a'],
      run: (what) => app.propose((what as 'all' | undefined) ?? 'all') },
    { id: 'play', title: 'Play or pause', keys: ['space'], run: (on) =>
      app.player.play(typeof on === 'boolean' ? on : !app.player.playing) },
    { id: 'stepBack', title: 'One frame back', keys: ['arrowleft', ','], run: () => app.player.step(-1) },
    { id: 'stepForth', title: 'One frame on', keys: ['arrowright', '.'], run: () => app.player.step(1) },
    { id: 'toStart', title: 'To the start', keys: ['home'], run: () => app.player.seek(app.player.start_s) },
    { id: 'toEnd', title: 'To the end', keys: ['end'], run: () => app.player.seek(app.player.end_s) },
    { id: 'seek', title: 'Seek', run: (time_s) => app.player.seek(Number(time_s)) },
    { id: 'loop', title: 'Loop', keys: ['l'], run: () => {
      app.player.loop = !app.player.loop;
      app.player.changed.emit();
    } },
    { id: 'frame', title: 'Frame the character', keys: ['f'], run: () => app.viewport.frame() },
    { id: 'front', title: 'From the front', keys: ['1'], run: look('front') },
    { id: 'side', title: 'From the side', keys: ['3'], run: look('side') },
    { id: 'top', title: 'From above', keys: ['7'], run: look('top') },
    { id: 'split', title: 'Before and after, side by side', keys: ['d'], run: toggle('split') },
    { id: 'skeleton', title: 'Skeleton', keys: ['k'], run: toggle('skeleton') },
    { id: 'wire', title: 'Wireframe', keys: ['g'], run: toggle('wire') },
    { id: 'xray', title: 'X-ray', keys: ['x'], run: toggle('xray') },
    { id: 'strokes', title: 'Lines of displacement', keys: ['h'], run: toggle('strokes') },
    { id: 'ghosts', title: 'Ghosts of earlier instants', keys: ['j'], run: toggle('ghosts') },
    { id: 'follow', title: 'The camera follows the character', keys: ['c'], run: toggle('follow') },
    { id: 'points', title: 'Labelled points', keys: [], run: toggle('points') },
    { id: 'colour', title: 'Colour by a channel', run: (channel) =>
      app.setView({ channel: String(channel ?? '') }) },
    { id: 'smaller', title: 'Smaller brush, narrower fold', keys: ['['], run: () => tools.current.resize?.(-1) },
    { id: 'larger', title: 'Larger brush, wider fold', keys: [']'], run: () => tools.current.resize?.(1) },
    { id: 'cancel', title: 'Cancel', keys: ['escape'], run: () => tools.cancel() },
    ...tools.all.map((tool) => ({
      id: `tool:${tool.id}`, title: tool.title, keys: [tool.key], run: () => tools.use(tool.id) })),
  ];
  return new Map(list.map((command) => [command.id, command]));
}

/** What goes on while its key is held down; all else is done once. */
const kRepeats: ReadonlySet<string> =
  new Set(['stepBack', 'stepForth', 'smaller', 'larger', 'undo', 'redo']);

const nameOf = (event: KeyboardEvent): string => {
  const key = event.key === ' ' ? 'space' : event.key.toLowerCase();
  // AltGr writes [ and ] on many keyboards; Windows tells of it as Ctrl and Alt.
  const control = (event.ctrlKey || event.metaKey) && !event.getModifierState('AltGraph');
  const ctrl = control ? 'ctrl+' : '';
  const shift = event.shiftKey && key.length === 1 && ctrl ? 'shift+' : '';
  return ctrl + shift + key;
};

/** Keys work wherever nobody types. */
export function listenToKeys(commands: Commands, active: () => boolean): void {
  const byKey = new Map<string, Command>();
  for (const command of commands.values())
    for (const key of command.keys ?? []) byKey.set(key, command);
  window.addEventListener('keydown', (event) => {
    if (!event.key) return;  // a form that the browser fills in
    // Alt with a letter or an arrow is the browser's; with AltGr or a Mac's Alt, signs are written.
    if (event.altKey && !['[', ']', ',', '.'].includes(event.key)) return;
    const target = event.target as HTMLElement;
    const typing = target.matches?.('input:not([type=range]):not([type=checkbox]), textarea, select');
    const pressing = target.matches?.('button, input, select, summary, a, [role=slider]');
    const name = nameOf(event);
    const command = byKey.get(name);
    if (!command || document.querySelector('dialog[open]')) return;
    if (typing && !name.startsWith('ctrl+s') && !name.startsWith('ctrl+o')) return;
    // Space presses the button that has the focus; arrows move its slider.
    if (pressing && (name === 'space' || name.startsWith('arrow') || name === 'home' || name === 'end'))
      return;
    if (!active() && command.id !== 'open') return;
    event.preventDefault();
    if (!event.repeat || kRepeats.has(command.id)) command.run();
  });
}
