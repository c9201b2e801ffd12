// Grab a joint and shake: the clip rests, the pose follows the mouse, flesh follows the pose.
import * as THREE from 'three';
import type { App } from '../app';
import type { LivePose } from '../player';
import type { Pointer, Tool } from './tool';

export class ShakeTool implements Tool {
  readonly id = 'shake';
  readonly title = 'Shake';
  readonly icon = 'shake';
  readonly key = 's';
  readonly hint = 'Grab a joint and shake it. The clip waits; Play goes on with it.';
  #joint = -1;
  #grab = new THREE.Vector3();
  #local = new THREE.Matrix3();
  #rest: [number, number, number] = [0, 0, 0];
  #holding: Promise<LivePose | null> = Promise.resolve(null);
  #skeletonWasOn = false;
  /** [m] how far the joint is from where the clip has it. */
  #pull = new THREE.Vector3();
  #back = 0;

  constructor(private readonly app: App) {}

  enter(): void {
    this.#skeletonWasOn = this.app.viewport.settings.skeleton;
    this.app.setView({ skeleton: true });
  }

  leave(): void {
    this.#letGo(true);
    this.app.player.release();
    this.app.setView({ skeleton: this.#skeletonWasOn });
  }

  cancel(): void { this.#letGo(true); }

  down(at: Pointer): boolean {
    const { viewport, player } = this.app;
    const joint = viewport.skeleton.nearest(at.x, at.y, (point) => viewport.project(point));
    if (joint < 0) return false;
    this.#letGo(true);
    this.#joint = joint;
    viewport.skeleton.choose(new Set([joint]));
    this.#grab.fromArray(viewport.skeleton.positions, 3 * joint);
    const matrices = player.last?.joints;
    const parent = this.app.document?.character.joints[joint]?.parent ?? -1;
    this.#local.identity();
    if (matrices && parent >= 0)
      this.#local.setFromMatrix4(new THREE.Matrix4().fromArray(matrices, 16 * parent)).invert();
    this.#holding = player.hold().then((live) => {
      if (live && this.#joint === joint)
        this.#rest = [...live.pose.subarray(10 * joint, 10 * joint + 3)] as [number, number, number];
      return live;
    });
    return true;
  }

  move(at: Pointer): void {
    const joint = this.#joint;
    if (joint < 0) return;
    const { camera } = this.app.viewport;
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(
      camera.getWorldDirection(new THREE.Vector3()), this.#grab);
    const to = this.app.viewport.ray(at.x, at.y).intersectPlane(plane, new THREE.Vector3());
    if (!to) return;
    this.#pull.copy(to.sub(this.#grab));
    void this.#holding.then(() => { if (this.#joint === joint) this.#write(joint); });
  }

  up(): void { this.#letGo(false); }

  #write(joint: number): void {
    const live = this.app.player.live;
    if (!live) return;
    const local = this.#pull.clone().applyMatrix3(this.#local);
    local.toArray(live.pose, 10 * joint);
    for (let k = 0; k < 3; ++k) live.pose[10 * joint + k]! += this.#rest[k]!;
  }

  /** The joint goes back quickly, so that the flesh is left swinging. */
  #letGo(now: boolean): void {
    const joint = this.#joint;
    if (joint < 0) return;
    cancelAnimationFrame(this.#back);
    const ease = () => {
      this.#pull.multiplyScalar(now ? 0 : 0.6);
      if (this.#pull.length() < 1e-5) this.#pull.set(0, 0, 0);
      this.#write(joint);
      if (this.#pull.lengthSq() > 0) this.#back = requestAnimationFrame(ease);
    };
    void this.#holding.then(ease);
    if (now) this.#joint = -1;
    this.app.viewport.skeleton.choose(new Set());
    this.app.viewport.draw();
  }
}
