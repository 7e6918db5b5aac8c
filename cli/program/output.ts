import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { errorCode, messageOf } from "../../core/guards.ts";
import { CommandError } from "../../core/settings/errors.ts";
import type { Io } from "./io.ts";

/** Where a command writes its result. */
export interface Output extends Disposable {
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
