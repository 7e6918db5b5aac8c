import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import process from "node:process";
import { errorCode, messageOf } from "../../core/guards.ts";
import { CommandError } from "../../core/settings/errors.ts";
import { type Io, note } from "./io.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { readWaiting } from "../../ledger/for_resources.ts";
import { waitingText } from "../../resources/wording/state.ts";

/** Where a command writes its result. */
interface Output extends Disposable {
  /** Writes text as is. */
  write(text: string): void;
  /** Marks the output as complete; call it after the last write. */
  finish(): void;
}

/** How much text is gathered before it is written, in characters. */
const BUFFER_LENGTH = 65_536;

/**
 * Opens a file to write, or standard output where none is named. A file gets
 * its name only when it is whole: until then it is `FILE.partial`, which is
 * removed unless the process is killed. Standard output that is cut ends in
 * `cut`, so that a file it was sent to does not look whole.
 *
 * @throws {CommandError} When the file cannot be written.
 */
export function openOutput(
  io: Io,
  file: string | undefined,
  cut?: () => string,
): Output {
  return file === undefined ? standardOutput(io, cut) : fileOutput(file);
}

function standardOutput(io: Io, cut?: () => string): Output {
  let begun = false;
  let whole = false;
  return {
    write: (text) => {
      begun = true;
      io.out(text);
    },
    finish: () => {
      whole = true;
    },
    [Symbol.dispose]: () => {
      if (begun && !whole && cut !== undefined) io.out(`${cut()}\n`);
    },
  };
}

function fileOutput(file: string): Output {
  const partial = `${file}.partial`;
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const why = errorCode(error) === "ENOENT"
        ? "there is no such folder"
        : messageOf(error);
      throw new CommandError(`Cannot write ${file}: ${why}`);
    }
  };
  const target = attempt(() => openPrivate(partial));
  const encoder = new TextEncoder();
  let pending: string[] = [];
  let length = 0;
  let state: "open" | "closed" | "whole" = "open";
  const flush = () =>
    attempt(() => {
      const bytes = encoder.encode(pending.join(""));
      pending = [];
      length = 0;
      for (let at = 0; at < bytes.length;) {
        at += writeSync(target, bytes.subarray(at));
      }
    });
  return {
    write: (text) => {
      pending.push(text);
      length += text.length;
      if (length >= BUFFER_LENGTH) flush();
    },
    finish: () => {
      flush();
      attempt(() => fsyncSync(target));
      closeSync(target);
      state = "closed";
      attempt(() => renameSync(partial, file));
      state = "whole";
    },
    [Symbol.dispose]: () => {
      if (state === "whole") return;
      if (state === "open") closeSync(target);
      unlinkSync(partial);
    },
  };
}

/** Exports hold personal data: only the file's owner may read them. */
function openPrivate(path: string): number {
  const file = openSync(path, "w", 0o600);
  // A file that was left there, or the umask, may say otherwise.
  fchmodSync(file, 0o600);
  return file;
}

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
    : bar(io, label, total, io.columns);
  // Work that fails must not leave a bar.
  return { at, end, [Symbol.dispose]: end };
}

type Shown = Pick<Progress, "at" | "end">;

/** How often a bar is drawn anew, ms. */
const DRAWN_EVERY_MS = 100;

/** Most characters of the bar itself. */
const LONGEST_BAR = 28;

/** Appears when there is something to show, and again after it was ended. */
function bar(io: Io, label: string, total: number, columns: number): Shown {
  const { stderr } = process;
  if (!stderr.isTTY) return { at: () => {}, end: () => {} };
  const write = (text: string) => stderr.write(`\r${CLEAR_LINE}${text}`);
  const start = io.now();
  let drawnAt: number | null = null;
  return {
    at: (done) => {
      const now = io.now();
      if (drawnAt !== null && now - drawnAt < DRAWN_EVERY_MS) return;
      drawnAt = now;
      const elapsedMs = now - start;
      write(barText({ label, done, total, elapsedMs, columns }));
    },
    end: () => {
      if (drawnAt !== null) write("");
      drawnAt = null;
    },
  };
}

/** Clears the text to the right of the cursor. */
const CLEAR_LINE = "\x1b[K";

/** One line that shows how far work is; shorter than the terminal is wide. */
export function barText(
  { label, done, total, elapsedMs, columns }: {
    readonly label: string;
    readonly done: number;
    readonly total: number;
    readonly elapsedMs: number;
    readonly columns: number;
  },
): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const took = seconds < 60
    ? `${seconds}s`
    : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  const figures = `${done}/${total} ${took}`;
  const room = columns - label.length - figures.length - 3;
  const length = Math.min(Math.max(room, 4), LONGEST_BAR);
  const share = total > 0 ? Math.min(Math.max(done / total, 0), 1) : 1;
  const full = Math.round(share * length);
  return `${label} ${"█".repeat(full)}${"░".repeat(length - full)} ${figures}`
    .slice(0, Math.max(columns - 1, 0));
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

/** Says on standard error, to people, that deliveries wait, where they do. */
export async function noteWaiting(
  ledger: Ledger,
  io: Io,
  flags: { readonly json?: boolean },
): Promise<void> {
  if (flags.json) return;
  const waiting = await readWaiting(ledger.driver, io.now());
  if (waiting !== null) note(io, waitingText(waiting, io.now()));
}
