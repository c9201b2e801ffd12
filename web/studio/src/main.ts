import 'uplot/dist/uPlot.min.css';
import './style.css';
import { App } from './app';
import { listenToKeys, makeCommands, type Commands } from './commands';
import { embeddedScene } from './embedded';
import { Library } from './library';
import { SecondHead } from './second_head';
import { makeScript, type Action } from './script';
import { BendTool } from './tools/bend_tool';
import { BrushTool } from './tools/brush_tool';
import { FleshTool } from './tools/flesh_tool';
import { FoldTool } from './tools/fold_tool';
import { LookTool } from './tools/look_tool';
import { PointTool } from './tools/point_tool';
import { ShakeTool } from './tools/shake_tool';
import { Tools } from './tools/tool';
import { makeAbout } from './ui/about';
import { CharacterPanel } from './ui/character_panel';
import { byId, h } from './ui/dom';
import { makeDrop } from './ui/drop';
import { FacePanel } from './ui/face_panel';
import { Plots } from './ui/plots';
import { RecipePanel } from './ui/recipe_panel';
import { makeTabs, makeToolRail, makeTopBar, makeWorking } from './ui/shell';
import { StackPanel } from './ui/stack_panel';
import { StartPage } from './ui/start_page';
import { Timeline } from './ui/timeline';
import { ViewBar } from './ui/view_bar';
import { PointsView } from './view/points_view';

/** In place of the studio: what is missing, in words. */
function refuse(title: string, text: string): void {
  byId('studio').hidden = true;
  byId('start').hidden = false;
  byId('start').replaceChildren(h('div', { class: 'refused', role: 'alert' },
    h('h1', {}, title), h('p', {}, text)));
}

function hasWebGl2(): boolean {
  try {
    return document.createElement('canvas').getContext('webgl2') !== null;
  } catch {
    return false;
  }
}

async function start(): Promise<void> {
  if (!hasWebGl2())
    return refuse('This browser draws no WebGL 2', 'The studio needs it for its pictures. Switch on '
      + 'hardware acceleration in the settings of the browser, or use a newer one.');
  let library: Library;
  try {
    library = await Library.load();
  } catch (error) {
    return refuse('derm does not start in this browser',
      `${error instanceof Error ? error.message : String(error)} It needs WebAssembly with SIMD: `
      + 'Chrome 91, Firefox 113, Safari 16.4 or newer.');
  }
  const app = new App(library, byId<HTMLCanvasElement>('canvas'), byId('messages'));
  window.addEventListener('error', (event) => {
    // Browsers say so when a size changes twice between two pictures: nothing is wrong.
    if (event.message.startsWith('ResizeObserver loop')) return;
    app.messages.error(event.error ?? event.message, 'Something went wrong; the page lives on');
  });
  window.addEventListener('unhandledrejection', (event) => app.messages.error(event.reason,
    'Something went wrong; the page lives on'));
  const stage = byId('stage');
  const points = new PointsView(app, stage);
  const second = new SecondHead(app);
  const pointTool = new PointTool(app, points, second);
  const tools = new Tools(app, [new LookTool(), new FoldTool(app), new FleshTool(app),
    new ShakeTool(app), new BendTool(app), new BrushTool(app), pointTool]);
  const chooseFiles = makeDrop(app);
  const startPage = new StartPage(app, byId('start'), chooseFiles);
  let commands: Commands;
  const about = makeAbout(library, () => commands);
  commands = makeCommands(app, tools, chooseFiles, () => {
    app.closeDocument();
    void startPage.show();
  }, about);
  app.run = (id, argument) => void commands.get(id)?.run(argument);
  makeTopBar(app, commands, byId('top'));
  makeToolRail(tools, byId('rail'), byId('tool-bar'));
  makeTabs(byId('side'));
  makeWorking(app, byId('working'));
  new ViewBar(app, commands, byId('view-bar'), stage);
  new StackPanel(app, byId('panel-stack'));
  new CharacterPanel(app, byId('panel-character'));
  new FacePanel(app, tools, pointTool, second, byId('panel-face'));
  new RecipePanel(app, byId('panel-recipe'));
  new Timeline(app, commands, byId('timeline'));
  const plots = new Plots(app, byId('plots'));
  listenToKeys(commands, () => app.document !== null);
  app.opened.add((document) => {
    // Another character's points are not asked for.
    if (app.viewport.settings.points) app.setView({ points: false });
    byId('start').hidden = document !== null;
    byId('studio').classList.toggle('empty', document === null);
  });
  // Who comes to the tools or panels is about to edit.
  for (const place of ['side', 'rail'])
    byId(place).addEventListener('pointerenter', () => void app.document?.scene.prepare());
  const run = makeScript(app, tools, commands);
  Object.assign(window, { studio: { app, run, tools, commands, plots, second } });

  try {
    const scene = embeddedScene();
    if (scene) await app.openText(scene.recipe, scene.name, scene.files);
  } catch (error) {
    app.messages.error(error, 'The scene in this page cannot be read');
  }
  if (!app.document) await startPage.show();
  document.body.dataset.ready = 'yes';
  const script = new URLSearchParams(location.search).get('script');
  if (script) await run(JSON.parse(script) as Action[]);
}

start().catch((error: unknown) => refuse('The studio did not start',
  error instanceof Error ? error.message : String(error)));
