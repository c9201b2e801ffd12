// Labelled points of a character, as dots over the skin, with the chosen one's name beside it.
import * as THREE from 'three';
import type { App } from '../app';
import { h } from '../ui/dom';
import { dot } from './dot';
import { setPositions } from './positions';

export class PointsView {
  readonly #points: THREE.Points;
  readonly #label: HTMLElement;
  #labels: string[] = [];
  #positions = new Float32Array();
  #chosen = '';

  constructor(private readonly app: App, overlay: HTMLElement) {
    this.#points = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({
      size: 9, sizeAttenuation: false, color: 0x70e0a0, map: dot(), alphaTest: 0.3, depthTest: false, transparent: true }));
    this.#points.frustumCulled = false;
    this.#points.renderOrder = 12;
    this.#points.visible = false;
    app.viewport.overlay.add(this.#points);
    this.#label = h('div', { class: 'point-label', hidden: true });
    overlay.append(this.#label);
    app.player.shown.add((shown) => {
      const on = app.viewport.settings.points && shown.points !== null;
      this.#points.visible = on;
      if (on) this.#set(shown.document.character.points.map((p) => p.label), shown.points!);
    });
    app.viewport.drawn.add(() => this.#placeLabel());
  }

  choose(label: string): void {
    this.#chosen = label;
    this.app.viewport.draw();
  }

  /** The label of the point near a place of the picture, or ''. */
  nearest(x: number, y: number, reach_px = 12): string {
    let best = '', least = reach_px;
    this.#labels.forEach((label, i) => {
      const at = this.app.viewport.project(new THREE.Vector3().fromArray(this.#positions, 3 * i));
      if (!at) return;
      const distance = Math.hypot(at[0] - x, at[1] - y);
      if (distance < least) [best, least] = [label, distance];
    });
    return best;
  }

  #set(labels: string[], positions: Float32Array): void {
    this.#labels = labels;
    this.#positions = positions;
    setPositions(this.#points.geometry, positions);
  }

  #placeLabel(): void {
    const i = this.#points.visible ? this.#labels.indexOf(this.#chosen) : -1;
    const at = i < 0 ? null
      : this.app.viewport.project(new THREE.Vector3().fromArray(this.#positions, 3 * i));
    this.#label.hidden = at === null;
    if (!at) return;
    this.#label.textContent = this.#chosen;
    this.#label.style.transform = `translate(${Math.round(at[0] + 10)}px, ${Math.round(at[1] - 10)}px)`;
  }
}
