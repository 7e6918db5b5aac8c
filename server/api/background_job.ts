import { messageOf } from "../../core/guards.ts";
import { ApiProblem } from "./problem.ts";

/** The longest window that a job works through, ms. */
const LONGEST_WINDOW_MS = 31 * 24 * 3_600_000;

/** The window that a job works through, in ms since the epoch. */
export interface JobWindow {
  /** Its start. */
  readonly fromMs: number;
  /** Its end. */
  readonly toMs: number;
}

/** A job, under way or ended. */
export interface JobJson<Report> {
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
  /** Orders and users read so far. */
  readonly read: number;
  /** What it found; null until it has ended well. */
  readonly report: Report | null;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
}

/** What the work of a job gets. */
export interface JobWork extends JobWindow {
  /** Ends the work. */
  readonly signal: AbortSignal;
  /** To be told how much was read since the last call. */
  readonly onRead: (more: number) => void;
}

/** Work that takes longer than an answer: one at a time, and the last is kept. */
export class BackgroundJob<Report> {
  readonly #now: () => number;
  readonly #signal: AbortSignal;
  #latest: JobJson<Report> | null = null;
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
  get latest(): JobJson<Report> | null {
    return this.#latest;
  }

  /**
   * Begins one.
   *
   * @param by Name of the token that asked for it.
   * @throws {ApiProblem} When the window is wrong, or one is under way.
   */
  start(
    by: string,
    { fromMs, toMs }: JobWindow,
    work: (job: JobWork) => Promise<Report>,
  ): JobJson<Report> {
    if (toMs <= fromMs || toMs - fromMs > LONGEST_WINDOW_MS) {
      throw new ApiProblem(
        "bad_request",
        "Wrong window: it has to end after it starts, and to be at most 31 " +
          "days long; for a longer one use the command line",
      );
    }
    if (this.#latest?.state === "running") {
      throw new ApiProblem(
        "conflict",
        `Number ${this.#latest.id} is running; GET says how far it is`,
      );
    }
    const job: JobJson<Report> = {
      id: (this.#latest?.id ?? 0) + 1,
      state: "running",
      by,
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      startedAt: this.#isoNow(),
      endedAt: null,
      read: 0,
      report: null,
      error: null,
    };
    this.#latest = job;
    this.#working = this.#run(job, () =>
      work({
        fromMs,
        toMs,
        signal: this.#signal,
        onRead: (more) => {
          const { read } = this.#latest ?? job;
          this.#latest = { ...job, read: read + more };
        },
      }));
    return job;
  }

  /** Resolves when none is under way. */
  async stop(): Promise<void> {
    await this.#working;
  }

  async #run(job: JobJson<Report>, work: () => Promise<Report>): Promise<void> {
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
