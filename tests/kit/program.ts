import { LEDGER_PERMISSIONS } from "../../cli/program/source_program.ts";
import { TextLineStream } from "./text_line_stream.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Permissions of the program, as in the tasks. */
export const PERMISSIONS: readonly string[] = [
  ...LEDGER_PERMISSIONS,
  "--allow-net=127.0.0.1,localhost",
];

/** What `deno task serve` tells V8, which bounds the memory it takes. */
export const V8_FLAGS: string = /--v8-flags=\S+/.exec(
  (await import("../../deno.json", { with: { type: "json" } })).default
    .tasks.serve.command,
)?.[0] ?? "";

/** A program that takes longer to stop never will. */
const LONGEST_STOP_MS = 60_000;

/** A running `serve`. */
export interface Served extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string;
  /** Number of the process. */
  readonly pid: number;
  /** What it has logged so far, line by line. */
  readonly log: readonly string[];
  /** Waits until the ledger has whatever was answered. */
  settled(): Promise<void>;
  /** Ends it without a chance to clean up, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks it to stop, and waits until it has; a minute later it is killed. */
  stop(): Promise<number>;
  /** Waits until it ends by itself; gives its exit code. */
  ended(): Promise<number>;
}

/**
 * Starts `serve` in a process of its own and waits until it listens.
 *
 * @param inside Makes the command line one that runs under some restriction;
 * it has to end in the program itself, not in a parent of it.
 */
export async function startServe(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  inside: (program: readonly string[]) => readonly string[] = (same) => same,
): Promise<Served> {
  const [command = "", ...rest] = inside([
    "deno",
    "run",
    V8_FLAGS,
    ...PERMISSIONS,
    `${root}cli/main.ts`,
    "serve",
    "--port",
    "0",
    ...args,
  ]);
  const child = new Deno.Command(command, {
    args: rest,
    cwd: root,
    env: { ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log: string[] = [];
  const listening = Promise.withResolvers<string>();
  const reading = (async () => {
    const lines = child.stderr.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of lines) {
      log.push(line);
      if (!line.startsWith("{")) continue;
      const entry = JSON.parse(line);
      if (entry.event === "listening") listening.resolve(entry.url);
    }
    listening.reject(new Error(`serve ended early:\n${log.join("\n")}`));
  })();
  let ended = false;
  const end = async (signal: Deno.Signal) => {
    if (!ended) child.kill(signal);
    ended = true;
    const kill = setTimeout(() => child.kill("SIGKILL"), LONGEST_STOP_MS);
    const { code } = await child.status;
    clearTimeout(kill);
    await reading;
    return code;
  };
  listening.promise.catch(() => {});
  const url = await listening.promise;
  return {
    url,
    pid: child.pid,
    log,
    settled: async () => {
      const giveUpAt = performance.now() + 60_000;
      for (;;) {
        const ready = await fetch(`${url}/readyz`);
        const { spooled } = await ready.json();
        if (spooled === 0) return;
        if (performance.now() > giveUpAt) {
          throw new Error(`${spooled} deliveries wait:\n${log.join("\n")}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    kill: async () => {
      await end("SIGKILL");
    },
    stop: () => end("SIGTERM"),
    ended: async () => {
      const { code } = await child.status;
      ended = true;
      await reading;
      return code;
    },
    [Symbol.asyncDispose]: async () => {
      await end("SIGKILL");
    },
  };
}
