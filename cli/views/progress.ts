import cliProgress from "cli-progress";
import process from "node:process";
import type { Io } from "../program/io.ts";

/** Shows that long work moves. */
export interface Progress extends Disposable {
  /** Shows how far the work is. */
  at(done: number): void;
  /** Clears the progress line; the next `at()` shows it again. */
  end(): void;
}

/** How often a line is written where there is no terminal, ms. */
const LINE_EVERY_MS = 1000;

/**
 * A bar on a terminal, a line a second elsewhere, both on standard error so
 * that standard output stays clean.
 *
 * @param total How much there is to do; null when unknown.
 */
export function progress(
  io: Io,
  label: string,
  shown: boolean,
  total: number | null = null,
): Progress {
  const { at, end } = !shown
    ? { at: () => {}, end: () => {} }
    : io.columns === null || total === null
    ? lines(io, label, total)
    : bar(label, total, io.columns);
  // Work that fails must not leave a bar, and a terminal without its cursor.
  return { at, end, [Symbol.dispose]: end };
}

type Shown = Pick<Progress, "at" | "end">;

/** The part of the library's bar that is used; it comes without types, and
 * those others wrote for it bring all of Node's along. */
interface Bar {
  start(total: number, value: number): void;
  update(value: number): void;
  stop(): void;
}

/** Room that the figures beside a bar take, in characters. */
const FIGURES_WIDTH = 24;

/** Appears when there is something to show, and again after it was ended. */
function bar(label: string, total: number, columns: number): Shown {
  const room = columns - label.length - FIGURES_WIDTH;
  const single: Bar = new cliProgress.SingleBar({
    format: `${label} {bar} {value}/{total} {duration_formatted}`,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    barsize: Math.min(Math.max(room, 4), 28),
    hideCursor: true,
    stream: process.stderr,
    clearOnComplete: true,
    stopOnComplete: false,
  });
  let shown = false;
  return {
    at: (done) => {
      if (shown) return single.update(done);
      single.start(total, done);
      shown = true;
    },
    end: () => {
      if (shown) single.stop();
      shown = false;
    },
  };
}

function lines(io: Io, label: string, total: number | null): Shown {
  let last = io.now();
  const of = total === null ? "" : ` of ${total}`;
  return {
    at: (done) => {
      if (io.now() - last < LINE_EVERY_MS) return;
      last = io.now();
      io.err(`${label}: ${done}${of}\n`);
    },
    end: () => {},
  };
}
