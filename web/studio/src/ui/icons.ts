// Icons: strokes on a grid of 24.

const kPaths: Record<string, string> = {
  look: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  fold: 'M2 16c3 0 3-8 6-8s3 8 6 8 3-8 6-8M4 20h16',
  flesh: 'M12 3v4M12 21a6 6 0 0 0 6-6c0-4-3-6-6-8-3 2-6 4-6 8a6 6 0 0 0 6 6zM9 15a3 3 0 0 0 3 3',
  shake: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 8c-1 3-1 5 0 8M20 8c1 3 1 5 0 8',
  bend: 'M4 20V9a5 5 0 0 1 5-5h2M11 4l7 7M18 11v3h-3M4 20h4',
  brush: 'M20 4c-5 2-9 6-11 9l3 3c3-2 7-6 8-12zM8 14c-3 0-3 4-5 5 3 2 8 1 8-2z',
  point: 'M12 21s6-6 6-11a6 6 0 0 0-12 0c0 5 6 11 6 11zM12 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  play: 'M7 4l13 8-13 8z',
  pause: 'M7 4v16M17 4v16',
  back: 'M18 5l-9 7 9 7zM6 5v14',
  forth: 'M6 5l9 7-9 7zM18 5v14',
  loop: 'M4 11a7 7 0 0 1 12-4l3 3M19 4v6h-6M20 13a7 7 0 0 1-12 4l-3-3M5 20v-6h6',
  undo: 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6',
  redo: 'M15 7l5 5-5 5M20 12H10a6 6 0 0 0-6 6',
  auto: 'M12 3l2 6 6 2-6 2-2 6-2-6-6-2 6-2zM19 16l1 3 3 1-3 1-1 3',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  remove: 'M6 6l12 12M18 6L6 18',
  plot: 'M3 20h18M4 16l5-6 4 4 7-9',
};

export function icon(name: string): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', kPaths[name] ?? '');
  svg.append(path);
  return svg;
}
