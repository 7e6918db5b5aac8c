import { setImmediate } from "node:timers";

/** A timer in the queue. */
export interface Timer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly run: () => void;
  /** Whether it has run or was cancelled. */
  over: boolean;
}

/** Timers by when they are due, then by when they were set. */
export class TimerQueue {
  readonly #heap: Timer[] = [];
  #sequence = 0;

  /** Adds a timer. */
  add(dueMs: number, run: () => void): Timer {
    const timer = { dueMs, sequence: this.#sequence++, run, over: false };
    push(this.#heap, timer);
    return timer;
  }

  /** The first timer that is not over; null when there is none. */
  first(): Timer | null {
    while (this.#heap[0]?.over) pop(this.#heap);
    return this.#heap[0] ?? null;
  }

  /** The timers that are not over, in no order. */
  all(): Timer[] {
    return this.#heap.filter(({ over }) => !over);
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.dueMs < b.dueMs ||
    (a.dueMs === b.dueMs && a.sequence < b.sequence);
}

function push(heap: Timer[], timer: Timer): void {
  let at = heap.length;
  heap.push(timer);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || before(above, timer)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = timer;
}

function pop(heap: Timer[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    const left = heap[child];
    if (left === undefined) break;
    const right = heap[child + 1];
    let smaller = left;
    if (right !== undefined && before(right, left)) {
      smaller = right;
      child++;
    }
    if (before(last, smaller)) break;
    heap[at] = smaller;
    at = child;
  }
  heap[at] = last;
}

/** Work that takes real time while a clock stands still. */
export class PendingWork {
  readonly #pending = new Set<Promise<unknown>>();

  /** Whether some work is not done. */
  get isRunning(): boolean {
    return this.#pending.size > 0;
  }

  /** Adds a promise until it settles, and returns it. */
  add<T>(promise: Promise<T>): Promise<T> {
    const done: Promise<unknown> = promise.then(() => {}, () => {}).finally(
      () => this.#pending.delete(done),
    );
    this.#pending.add(done);
    return promise;
  }

  /** Resolves when the work added so far is done. */
  done(): Promise<unknown> {
    return Promise.all(this.#pending);
  }
}

/** One turn of the event loop: every promise that needs no timer settles. */
export function loopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => resolve()));
}

/** Throws if a clock would be moved back. */
export function refuseBackwards(ms: number): void {
  if (ms >= 0) return;
  throw new RangeError(
    `Cannot advance the clock: ms must be zero or more, got ${ms}`,
  );
}
