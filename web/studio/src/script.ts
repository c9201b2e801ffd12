// The test hook: actions as data, played through the same ways as mouse and keys.
//
//   await studio.run([{ command: 'openCast', argument: 'cat' }, { idle: true },
//                     { tool: 'fold' }, { drag: [[0.5, 0.5], [0.55, 0.6]] }])
//
// Places are shares of the picture's width and height. A page opened with ?script=JSON plays that.
import type { App } from './app';
import type { Commands } from './commands';
import type { Tools } from './tools/tool';

type Place = [number, number];
export type Action =
  | { command: string; argument?: unknown }
  | { tool: string }
  | { drag: Place[]; steps?: number }
  | { click: Place }
  | { key: string }
  | { wait_ms: number }
  | { idle: true };

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

export function makeScript(app: App, tools: Tools, commands: Commands) {
  const { canvas } = app.viewport;
  const event = (type: string, [x, y]: Place, buttons: number) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(type, {
      pointerId: 1, pointerType: 'mouse', isPrimary: true, bubbles: true, cancelable: true,
      button: type === 'pointermove' ? -1 : 0, buttons,
      clientX: box.left + x * box.width, clientY: box.top + y * box.height }));
  };
  const drag = async (places: Place[], steps: number) => {
    const first = places[0]!, last = places[places.length - 1]!;
    event('pointermove', first, 0);
    event('pointerdown', first, 1);
    for (let i = 1; i < places.length; ++i)
      for (let k = 1; k <= steps; ++k) {
        const [a, b] = [places[i - 1]!, places[i]!];
        event('pointermove', [a[0] + (b[0] - a[0]) * k / steps, a[1] + (b[1] - a[1]) * k / steps], 1);
        await pause(16);
      }
    event('pointerup', last, 0);
  };
  /** Until no edit is under way and what was asked for is shown. */
  const idle = async () => {
    await pause(50);
    while ((app.document?.busy ?? 0) > 0) await pause(20);
    await pause(50);
  };
  return async (actions: readonly Action[]): Promise<void> => {
    for (const action of actions) {
      if ('command' in action) {
        const command = commands.get(action.command);
        if (!command) throw new Error(`no command "${action.command}"`);
        await command.run(action.argument);
      } else if ('tool' in action) {
        if (!tools.use(action.tool)) throw new Error(`no tool "${action.tool}"`);
      } else if ('drag' in action) {
        await drag(action.drag, action.steps ?? 8);
      } else if ('click' in action) {
        await drag([action.click, action.click], 1);
      } else if ('key' in action) {
        (document.activeElement ?? document.body).dispatchEvent(
          new KeyboardEvent('keydown', { key: action.key, bubbles: true, cancelable: true }));
      } else if ('wait_ms' in action) {
        await pause(action.wait_ms);
      } else {
        await idle();
      }
    }
    await idle();
  };
}
