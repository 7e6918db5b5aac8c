import cliProgress from "cli-progress";
import process from "node:process";
import type { Io } from "./io.ts";

/** Shows that long work moves. */
export interface Progress {
  /** How far the work is. */
  at(done: number): void;
  /** Ends what is shown. */
  end(): void;
}

/** How often a line is written where there is no terminal, ms. */
const LINE_EVERY_MS = 1000;

/**
 * A bar on a terminal, a line a second elsewhere, both on standard error so
 * that standard output stays clean.
 *
 * @param total How much there is to do; null where nobody knows.
 */
export function progress(
  io: Io,
  label: string,
  shown: boolean,
  total: number | null = null,
): Progress {
  if (!shown) return { at: () => {}, end: () => {} };
  return io.columns === null || total === null
    ? lines(io, label, total)
    : bar(label, total);
}

/** The part of the library's bar that is used; it comes without types, and
 * those others wrote for it bring all of Node's along. */
interface Bar {
  start(total: number, value: number): void;
  update(value: number): void;
  stop(): void;
}

function bar(label: string, total: number): Progress {
  const single: Bar = new cliProgress.SingleBar({
    format: `${label} {bar} {value}/{total} {duration_formatted}`,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    barsize: 28,
    hideCursor: true,
    stream: process.stderr,
    clearOnComplete: true,
    stopOnComplete: false,
  });
  single.start(total, 0);
  return { at: (done) => single.update(done), end: () => single.stop() };
}

function lines(io: Io, label: string, total: number | null): Progress {
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
