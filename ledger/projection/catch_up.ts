/** Folds whatever waits, step by step; a ledger of an older fold is folded anew first. */
import type { ChainState } from "../evidence/evidence.ts";
import { read } from "../store/database.ts";
import { guardOf, selectGuard } from "./guard.ts";
import {
  FOLD,
  type FoldParts,
  inSteps,
  NEXT_EVENTS,
  type Projected,
} from "./project.ts";
import { refold } from "./refold.ts";
import { backoffMs, sleep } from "../../core/waiting/waiting.ts";

/** Result of {@linkcode Ledger.project}. */
export interface Projection {
  /** Position of the last event folded. */
  readonly position: number;
  /** Events folded by this call. */
  readonly events: number;
  /**
   * `newer_fold` when a newer version of this package has folded the ledger:
   * this one then stops folding, and goes on appending.
   */
  readonly stopped: null | "newer_fold";
  /** How far the evidence chain reaches, and whether it is broken. */
  readonly chain: ChainState;
}

/** How to project. */
export interface CatchUpOptions {
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
}

/** Folds until nothing waits, in steps that appends can wait for. */
export async function catchUp(
  parts: FoldParts,
  { signal }: CatchUpOptions,
  onStep: (step: Projected) => void,
): Promise<Omit<Projection, "chain">> {
  const { driver, assets, fold = FOLD } = parts;
  const step = inSteps(parts, NEXT_EVENTS, 2000);
  let events = 0;
  for (;;) {
    signal?.throwIfAborted();
    const done = await step({});
    if (done.events > 0) {
      onStep(done);
      events += done.events;
      continue;
    }
    const [guarding] = await read(driver, [selectGuard]);
    const { foldVersion, position } = guardOf(guarding);
    if (foldVersion === fold.version) {
      return { position, events, stopped: null };
    }
    if (foldVersion > fold.version) {
      return { position, events, stopped: "newer_fold" };
    }
    const options = signal === undefined ? {} : { signal };
    events += (await refold({ driver, assets, fold }, options)).events;
  }
}

interface ProjectionWorkerOptions {
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  readonly onError?: (error: unknown) => void;
  readonly onDone?: () => void;
  /** Shortest time between two runs, ms: what comes meanwhile is folded in one step. */
  readonly restMs?: number;
  /** Looks at the ledger even when nobody calls, ms: other processes append too. */
  readonly idleMs?: number;
  readonly maxBackoffMs?: number;
  /** Longest time for a last fold when stopped, ms: container runtimes kill after ten. */
  readonly lastMs?: number;
  readonly now?: () => number;
}

/**
 * Folds at all times, for a process that runs until it is stopped. A failed
 * fold is retried automatically.
 */
export class ProjectionWorker implements AsyncDisposable {
  readonly #options: Required<ProjectionWorkerOptions>;
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;
  #woken = new AbortController();

  constructor(options: ProjectionWorkerOptions) {
    this.#options = {
      restMs: 20,
      idleMs: 1000,
      maxBackoffMs: 30_000,
      lastMs: 5_000,
      onError: () => {},
      onDone: () => {},
      now: () => performance.now(),
      ...options,
    };
    this.#done = this.#run();
  }

  wake(): void {
    this.#woken.abort();
  }

  /** Does the work one last time, as far as `lastMs` allows, and resolves. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.wake();
    await this.#done;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { onDone, restMs, idleMs, maxBackoffMs, lastMs, now } = this.#options;
    const stopped = this.#stopped.signal;
    let failures = 0;
    while (!stopped.aborted) {
      this.#woken = new AbortController();
      if (await this.#catchUp(stopped)) {
        failures = 0;
        onDone();
      } else failures++;
      const endedMs = now();
      // A failed fold is not tried sooner because more comes.
      await (failures === 0 ? pause(idleMs, this.#woken.signal) : pause(
        backoffMs(failures + 1, { firstMs: idleMs, longestMs: maxBackoffMs }),
        stopped,
      ));
      await pause(Math.min(restMs, endedMs + restMs - now()), stopped);
    }
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), lastMs);
    await this.#catchUp(late.signal);
    clearTimeout(timer);
  }

  /** Whether it went well. */
  async #catchUp(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.catchUp(signal);
      return true;
    } catch (error) {
      if (!signal.aborted) this.#options.onError(error);
      return false;
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return ms > 0 ? sleep(ms, signal).catch(() => {}) : Promise.resolve();
}
