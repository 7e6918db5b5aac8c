/** What lines are written with. */
export interface LineQueueOptions {
  /** Writes a text; resolves once it is written. */
  readonly write: (text: string) => Promise<void>;
  /** Makes the line that says how many were left out. */
  readonly skipped: (lines: number) => string;
  /** Lines that may wait. @default 2000 */
  readonly most?: number;
}

/**
 * Writes lines later, so that adding one never waits. A terminal that was
 * stopped, or a pipe whose reader pauses, must not make a delivery wait: lines
 * beyond a limit are left out and counted.
 */
export class LineQueue {
  readonly #options: LineQueueOptions;
  readonly #most: number;
  #added: (() => string)[] = [];
  #lines: string[] = [];
  #skipped = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #writing: Promise<void> | null = null;

  /** Nothing is written yet. */
  constructor(options: LineQueueOptions) {
    this.#options = options;
    this.#most = options.most ?? 2000;
  }

  /** Adds a line; it is made soon, after the work under way. */
  add(line: () => string): void {
    if (this.#added.length + this.#lines.length >= this.#most) {
      this.#skipped++;
      return;
    }
    this.#added.push(line);
    // A body of which a line tells must not be held while a reader pauses.
    this.#timer ??= setTimeout(() => this.#make(), 0);
  }

  /** Resolves when nothing waits, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    this.#make();
    if (this.#writing === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#writing, late]);
    clearTimeout(timer);
  }

  #make(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const line of this.#added.splice(0)) this.#lines.push(line());
    if (this.#lines.length > 0) this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    while (this.#lines.length > 0) {
      const lines = this.#lines.splice(0);
      if (this.#skipped > 0) {
        lines.push(this.#options.skipped(this.#skipped));
        this.#skipped = 0;
      }
      // Who reads may be gone; what is told of goes on.
      await this.#options.write(`${lines.join("\n")}\n`).catch(() => {});
    }
    this.#writing = null;
  }
}
