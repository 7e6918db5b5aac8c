import { SAME_PRESS_MS } from "../../cli/program/process_io.ts";
import type { Ran } from "./cli.ts";
import { PERMISSIONS } from "./program.ts";
import { TextLineStream } from "./text_line_stream.ts";

const root = new URL("../..", import.meta.url).pathname;

/** A command that is to be stopped. */
export interface StopOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What standard input holds; it stays open. */
  readonly input?: string;
  /** Whether Ctrl-C is pressed again, each second. */
  readonly again?: boolean;
  /** Waits for the moment to stop, or until the command has ended. */
  readonly until: (running: Running) => Promise<unknown>;
}

/** A command that goes on. Whatever is waited for here may never come when it
 * ends before; then nobody waits any more. */
export interface Running {
  /** A line of standard error, as soon as it is written. */
  readonly line: (pattern: RegExp) => Promise<string>;
  /** The first part of standard output, which is not read before. */
  readonly out: () => Promise<void>;
  /** Until a file is there and has this many bytes. */
  readonly file: (path: string, bytes: number) => Promise<void>;
  /** Whether it has ended by itself. */
  readonly ended: () => boolean;
}

/** A process that does not end by then is killed, and the test fails. */
const PATIENCE_MS = 240_000;

/** The same for one that never comes to the moment to stop. */
const START_PATIENCE_MS = 240_000;

/** Runs a command in a process of its own and sends it a real SIGINT. */
export async function stopped(
  args: readonly string[],
  { env = {}, input, again = false, until }: StopOptions,
): Promise<Ran> {
  const child = new Deno.Command("deno", {
    args: [
      ...["run", ...PERMISSIONS, "--allow-run=deno"],
      ...[`${root}cli/main.ts`, ...args],
    ],
    cwd: root,
    env: { ...env, NO_COLOR: "1" },
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let over = false;
  const ending = child.status.then(() => {
    over = true;
  });
  const send = (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch (error) {
      // It may have ended a moment ago.
      if (!(error instanceof TypeError)) throw error;
    }
  };
  const writer = input === undefined ? null : child.stdin.getWriter();
  await writer?.write(new TextEncoder().encode(input));

  const errors: string[] = [];
  const watched: { pattern: RegExp; found: (line: string) => void }[] = [];
  const reading = (async () => {
    const lines = child.stderr.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of lines) {
      errors.push(line);
      for (const { pattern, found } of watched) {
        if (pattern.test(line)) found(line);
      }
    }
  })();
  const output = child.stdout.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const read = async () => {
    const { value, done } = await output.read();
    if (value !== undefined) chunks.push(value);
    return !done;
  };
  const line = (pattern: RegExp) => {
    const said = errors.find((text) => pattern.test(text));
    if (said !== undefined) return Promise.resolve(said);
    return new Promise<string>((found) => watched.push({ pattern, found }));
  };
  const file = async (path: string, bytes: number) => {
    while (!over) {
      const found = await Deno.stat(path).catch(() => null);
      if (found !== null && found.size >= bytes) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  const running: Running = {
    line,
    out: async () => void await read(),
    file,
    ended: () => over,
  };
  const starting = setTimeout(() => send("SIGKILL"), START_PATIENCE_MS);
  try {
    await Promise.race([until(running), ending]);
  } catch (error) {
    send("SIGKILL");
    await Promise.all([child.status, reading, output.cancel()]);
    throw error;
  } finally {
    clearTimeout(starting);
  }

  send("SIGINT");
  // A process that is kept waiting may take two signals as one.
  const pressing = again
    ? setInterval(() => send("SIGINT"), 2 * SAME_PRESS_MS)
    : undefined;
  const patience = setTimeout(() => send("SIGKILL"), PATIENCE_MS);
  while (await read());
  const { code } = await child.status;
  clearTimeout(patience);
  clearInterval(pressing);
  await reading;
  await writer?.close().catch(() => {});
  return {
    code,
    out: await new Blob(chunks).text(),
    err: errors.join("\n"),
  };
}
