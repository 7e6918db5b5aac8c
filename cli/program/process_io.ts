import { write, writeSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { isatty } from "node:tty";
import { errorCode } from "../../core/guards.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import type { Io } from "./io.ts";

/** How long is waited for a full pipe that does not block, ms. */
const PIPE_WAIT_MS = 5;

/**
 * The real terminal. SIGINT and SIGTERM abort `signal`; a second one ends the
 * process, for the person who will not wait.
 */
export function processIo(): Io {
  const controller = new AbortController();
  const heard = stopSignals({
    stop: () => controller.abort(new DOMException("Interrupted", "AbortError")),
    end: () => process.exit(130),
    now: () => performance.now(),
  });
  process.on("SIGINT", heard);
  process.on("SIGTERM", heard);
  // Node ends a process of which a warning meets a pipe that nobody reads.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: Error) => {
      if (errorCode(error) !== "EPIPE") throw error;
    });
  }
  const terminal = isatty(1);
  return {
    out: writer(1),
    err: writer(2),
    outLater: laterWriter(),
    ...(isatty(0) && terminal
      ? { ask: (question) => askPerson(question, controller.signal) }
      : {}),
    env: (name) => process.env[name],
    // A terminal that does not know its width says 0.
    columns: terminal ? process.stdout.columns || 80 : null,
    colour: terminal && !process.env.NO_COLOR,
    now: () => Date.now(),
    signal: controller.signal,
  };
}

async function askPerson(
  question: string,
  signal: AbortSignal,
): Promise<string | null> {
  const reader = createInterface({
    input: process.stdin,
    output: process.stdout,
  });
  try {
    return await reader.question(question, { signal });
  } catch {
    return null; // Ctrl-C, or the end of the input.
  } finally {
    reader.close();
  }
}

/**
 * Writes all of a text. The reader of a pipe may leave early (`… | head`): then
 * the rest is dropped and the work goes on, for its exit code is not known yet.
 */
function writer(descriptor: number): (text: string) => void {
  const encoder = new TextEncoder();
  let open = true;
  return (text) => {
    const bytes = encoder.encode(text);
    for (let at = 0; open && at < bytes.length;) {
      try {
        at += writeSync(descriptor, bytes.subarray(at));
      } catch (error) {
        const code = errorCode(error);
        if (code === "EPIPE") open = false;
        else if (code !== "EAGAIN") throw error;
        else {Atomics.wait(
            new Int32Array(new SharedArrayBuffer(4)),
            0,
            0,
            PIPE_WAIT_MS,
          );}
      }
    }
  };
}

/**
 * Writes all of a text on another thread: this one goes on, however long the
 * reader of a pipe takes, or a person who stopped the terminal.
 */
function laterWriter(): (text: string) => Promise<void> {
  const encoder = new TextEncoder();
  let open = true;
  return async (text) => {
    const bytes = encoder.encode(text);
    for (let at = 0; open && at < bytes.length;) {
      try {
        at += await writeOut(bytes.subarray(at));
      } catch (error) {
        const code = errorCode(error);
        if (code === "EPIPE") open = false;
        else if (code !== "EAGAIN") throw error;
        else await sleep(PIPE_WAIT_MS);
      }
    }
  };
}

/** Deno's `write` of `node:fs` would make this thread wait. */
function writeOut(bytes: Uint8Array): Promise<number> {
  if ("Deno" in globalThis) return Deno.stdout.write(bytes);
  return new Promise((resolve, reject) =>
    write(
      1,
      bytes,
      (error, written) => error === null ? resolve(written) : reject(error),
    )
  );
}

/**
 * How long a second signal still belongs to the first, ms. One Ctrl-C comes
 * twice where a program was started by another that passes signals on, as a
 * task runner does: once from the terminal and once from there.
 */
export const SAME_PRESS_MS = 500;

/** What signals lead to. */
export interface StopSignals {
  /** Asks the work to end. */
  readonly stop: () => void;
  /** Ends the process. */
  readonly end: () => void;
  /** A clock that only goes forward, ms. */
  readonly now: () => number;
}

/**
 * Takes the signals that ask a process to end: the first asks the work to end,
 * a later one ends the process, for the person who will not wait.
 */
export function stopSignals({ stop, end, now }: StopSignals): () => void {
  let firstAt: number | null = null;
  return () => {
    if (firstAt === null) {
      firstAt = now();
      stop();
    } else if (now() - firstAt >= SAME_PRESS_MS) {
      end();
    }
  };
}
