import { TextLineStream } from "./text_line_stream.ts";

const root = new URL("..", import.meta.url).pathname;

/** Permissions of the program, as in the tasks. */
const PERMISSIONS = [
  "--allow-env",
  "--allow-sys",
  "--allow-ffi",
  "--allow-read",
  "--allow-write",
  "--allow-net=127.0.0.1,localhost",
  "--allow-run=deno",
];

/** What a command did that was stopped by Ctrl-C. */
export interface Stopped {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** From the signal to the end of the process, ms. */
  readonly tookMs: number;
}

/** A command that is to be stopped. */
export interface StopOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What standard input holds; it stays open. */
  readonly input?: string;
  /** Whether Ctrl-C is pressed once more, a moment later. */
  readonly again?: boolean;
  /** Waits for the moment to stop. Lines of standard error come as they are
   * written; so does standard output, which is not read before. */
  readonly until: (running: {
    readonly line: (pattern: RegExp) => Promise<string>;
    readonly out: () => Promise<void>;
  }) => Promise<unknown>;
}

/** A process that does not end by then is killed, and the test fails. */
const PATIENCE_MS = 10_000;

/** Runs a command in a process of its own and sends it a real SIGINT. */
export async function stopped(
  args: readonly string[],
  { env = {}, input, again = false, until }: StopOptions,
): Promise<Stopped> {
  const child = new Deno.Command("deno", {
    args: ["run", ...PERMISSIONS, `${root}cli/main.ts`, ...args],
    cwd: root,
    env: { ...env, NO_COLOR: "1" },
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
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
  await until({ line, out: async () => void await read() });

  const sentAt = performance.now();
  child.kill("SIGINT");
  if (again) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.kill("SIGINT");
  }
  const patience = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  while (await read());
  const { code } = await child.status;
  clearTimeout(patience);
  const tookMs = performance.now() - sentAt;
  await reading;
  await writer?.close().catch(() => {});
  return {
    code,
    out: await new Blob(chunks).text(),
    err: errors.join("\n"),
    tookMs,
  };
}

/** Waits until a file is there and has this many bytes. */
export async function fileOf(path: string, bytes: number): Promise<void> {
  for (;;) {
    const found = await Deno.stat(path).catch(() => null);
    if (found !== null && found.size >= bytes) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
