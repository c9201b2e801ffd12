// Bend joints with a gizmo: the pose stays as it was bent until the clip plays on.
import * as THREE from 'three';
import { TransformControls } from 'three/examples/jsm/controls/TransformControls.js';
import type { App } from '../app';
import { h } from '../ui/dom';
import type { Pointer, Tool } from './tool';

export class BendTool implements Tool {
  readonly id = 'bend';
  readonly title = 'Bend';
  readonly icon = 'bend';
  readonly key = 'b';
  readonly hint = 'Click a joint, then turn it by the rings. Play goes back to the clip.';
  #joint = -1;
  #skeletonWasOn = false;
  readonly #handle = new THREE.Object3D();
  readonly #parentTurn = new THREE.Quaternion();
  readonly #gizmo: TransformControls;

  constructor(private readonly app: App) {
    const { viewport } = app;
    this.#gizmo = new TransformControls(viewport.camera, viewport.canvas);
    this.#gizmo.setMode('rotate');
    this.#gizmo.setSpace('local');
    this.#gizmo.setSize(0.7);
    this.#gizmo.addEventListener('change', () => viewport.draw());
    this.#gizmo.addEventListener('dragging-changed', (event) => {
      viewport.controls.enabled = !(event as unknown as { value: boolean }).value;
    });
    this.#gizmo.addEventListener('objectChange', () => this.#turned());
    viewport.overlay.add(this.#handle, this.#gizmo.getHelper());
    this.#gizmo.enabled = false;
    // Once the clip plays, the gizmo has nothing to hold.
    app.player.changed.add(() => { if (this.#joint >= 0 && !app.player.live) this.#drop(); });
  }

  enter(): void {
    this.#skeletonWasOn = this.app.viewport.settings.skeleton;
    this.app.setView({ skeleton: true });
  }

  leave(): void {
    this.#drop();
    this.app.player.release();
    this.app.setView({ skeleton: this.#skeletonWasOn });
  }

  cancel(): void { this.#drop(); }

  options(): HTMLElement {
    return h('button', { onclick: () => { this.#drop(); this.app.player.release(); } },
      'Back to the clip');
  }

  down(at: Pointer): boolean {
    // Rings are drawn over joints: where the gizmo is under the mouse, it is meant.
    if (this.#joint >= 0 && this.#gizmo.axis !== null) return false;
    return this.#jointAt(at) >= 0;
  }

  up(at: Pointer): void {
    const joint = this.#jointAt(at);
    if (joint >= 0) void this.choose(joint);
  }

  async choose(joint: number): Promise<void> {
    const { player, viewport } = this.app;
    if (!await player.hold()) return;
    const matrices = player.last?.joints;
    if (!matrices) return;
    this.#joint = joint;
    viewport.skeleton.choose(new Set([joint]));
    const scale = new THREE.Vector3();
    new THREE.Matrix4().fromArray(matrices, 16 * joint).decompose(
      this.#handle.position, this.#handle.quaternion, scale);
    const parent = this.app.document?.character.joints[joint]?.parent ?? -1;
    this.#parentTurn.identity();
    if (parent >= 0)
      new THREE.Matrix4().fromArray(matrices, 16 * parent).decompose(
        new THREE.Vector3(), this.#parentTurn, scale);
    this.#gizmo.attach(this.#handle);
    this.#gizmo.enabled = true;
    viewport.draw();
  }

  #turned(): void {
    const live = this.app.player.live;
    if (!live || this.#joint < 0) return;
    const local = this.#parentTurn.clone().invert().multiply(this.#handle.quaternion);
    local.toArray(live.pose, 10 * this.#joint + 3);
  }

  #jointAt(at: Pointer): number {
    const { viewport } = this.app;
    return viewport.skeleton.nearest(at.x, at.y, (point) => viewport.project(point));
  }

  #drop(): void {
    this.#joint = -1;
    this.#gizmo.detach();
    this.#gizmo.enabled = false;
    this.app.viewport.skeleton.choose(new Set());
    this.app.viewport.controls.enabled = true;
    this.app.viewport.draw();
  }
}
