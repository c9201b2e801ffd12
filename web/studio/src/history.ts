/** What was, and what was undone: whole states, since a recipe's text is small. */
export class History<State> {
  #states: { state: State; label: string }[];
  #at = 0;

  constructor(first: State, private readonly same: (a: State, b: State) => boolean,
    private readonly limit = 200) {
    this.#states = [{ state: first, label: '' }];
  }

  get current(): State { return this.#states[this.#at]!.state; }
  get undoLabel(): string | null { return this.#at > 0 ? this.#states[this.#at]!.label : null; }
  get redoLabel(): string | null { return this.#states[this.#at + 1]?.label ?? null; }

  /** One step of undo. Nothing where the state is as before. */
  commit(state: State, label: string): boolean {
    if (this.same(state, this.current)) return false;
    this.#states.length = this.#at + 1;
    this.#states.push({ state, label });
    if (this.#states.length > this.limit) this.#states.shift();
    this.#at = this.#states.length - 1;
    return true;
  }

  back(): State | null {
    if (this.#at === 0) return null;
    this.#at -= 1;
    return this.current;
  }

  forth(): State | null {
    if (this.#at + 1 >= this.#states.length) return null;
    this.#at += 1;
    return this.current;
  }
}
