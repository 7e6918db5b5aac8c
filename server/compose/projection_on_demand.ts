import type { Projection, ProjectionEvents } from "./projection.ts";

/**
 * Folds after appends and at no other time, for a runtime that may stop between
 * two requests. One fold runs at a time; what arrives meanwhile is folded by
 * one more. A fold that failed is tried again after the next append.
 */
export class ProjectionOnDemand implements Projection {
  readonly #catchUp: () => Promise<void>;
  readonly #events: ProjectionEvents;
  #running: Promise<void> | null = null;
  #again = false;

  /** Waits for the first append. */
  constructor(catchUp: () => Promise<void>, events: ProjectionEvents) {
    this.#catchUp = catchUp;
    this.#events = events;
  }

  /** Folds now, or once more after the fold that is under way. */
  wake(): void {
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** Resolves when no fold is under way. */
  async stop(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await this.#catchUp();
      }
      this.#events.onDone();
    } catch (error) {
      this.#events.onError(error);
    } finally {
      this.#running = null;
    }
  }
}
