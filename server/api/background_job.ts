import { messageOf } from "../../core/guards.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";

/** The longest window that a job works through, ms. */
const LONGEST_WINDOW_MS = 31 * 24 * 3_600_000;

/** The window that a job works through, UTC ISO 8601. */
export interface JobWindow {
  /** Its start. */
  readonly from: string;
  /** Its end. @default {now} */
  readonly to?: string;
}

/** A job, under way or ended. */
export interface JobJson {
  /** Number of the job, from 1, in this process. */
  readonly id: number;
  /** Where it stands. */
  readonly state: "running" | "ended" | "failed";
  /** Name of the token that asked for it. */
  readonly by: string;
  /** Start of the window, UTC ISO 8601. */
  readonly from: string;
  /** End of the window, UTC ISO 8601. */
  readonly to: string;
  /** When it began, UTC ISO 8601. */
  readonly startedAt: string;
  /** When it ended, UTC ISO 8601; null while it runs. */
  readonly endedAt: string | null;
  /** How many orders and users were read so far. */
  readonly read: number;
  /** What it found; null until it has ended well. */
  readonly report: object | null;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
}

/**
 * Work that takes longer than a request: one job at a time; the last one is
 * remembered.
 */
export class BackgroundJob {
  readonly #now: () => number;
  readonly #signal: AbortSignal;
  #latest: JobJson | null = null;
  #working: Promise<void> = Promise.resolve();

  /** @param parts Clock in ms, and what ends the work. */
  constructor(
    { now, signal }: {
      readonly now: () => number;
      readonly signal: AbortSignal;
    },
  ) {
    this.#now = now;
    this.#signal = signal;
  }

  /** The last one of this process; null before the first. */
  get latest(): JobJson | null {
    return this.#latest;
  }

  /**
   * Begins one.
   *
   * @param by Name of the token that asked for it.
   * @param work Does it, and reports how much was read so far.
   * @throws {UsageError} When the window is too long.
   * @throws {CommandError} When one is under way.
   */
  start(
    by: string,
    { from, to = this.#isoNow() }: JobWindow,
    work: (
      window: Required<JobWindow>,
      onProgress: (read: number) => void,
    ) => Promise<object>,
  ): JobJson {
    if (Date.parse(to) - Date.parse(from) > LONGEST_WINDOW_MS) {
      throw new UsageError(
        "Wrong window: it may be at most 31 days long; for a longer one use " +
          "the command line",
      );
    }
    if (this.#latest?.state === "running") {
      throw new CommandError(
        `Number ${this.#latest.id} is running; GET says how far it is`,
      );
    }
    const job: JobJson = {
      id: (this.#latest?.id ?? 0) + 1,
      state: "running",
      by,
      from,
      to,
      startedAt: this.#isoNow(),
      endedAt: null,
      read: 0,
      report: null,
      error: null,
    };
    this.#latest = job;
    this.#working = this.#run(
      job,
      () => work({ from, to }, (read) => this.#latest = { ...job, read }),
    );
    return job;
  }

  /** Resolves when none is under way. */
  async stop(): Promise<void> {
    await this.#working;
  }

  async #run(job: JobJson, work: () => Promise<object>): Promise<void> {
    const ended = await work().then(
      (report) => ({ state: "ended" as const, report }),
      (error) => ({
        state: "failed" as const,
        error: this.#signal.aborted
          ? "The process was stopped"
          : messageOf(error),
      }),
    );
    const { read } = this.#latest ?? job;
    this.#latest = { ...job, read, ...ended, endedAt: this.#isoNow() };
  }

  #isoNow(): string {
    return new Date(this.#now()).toISOString();
  }
}
