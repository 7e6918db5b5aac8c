import { PERMISSIONS } from "../tests/kit/program.ts";
import { TextLineStream } from "../tests/kit/text_line_stream.ts";

const root = new URL("..", import.meta.url).pathname;

/** Permissions of whatever uses a ledger in a file. */
export const LEDGER_PERMISSIONS: readonly string[] = PERMISSIONS;

/** What would outlive a benchmark that is cut short. */
const processes = new Set<Deno.ChildProcess>();
const folders = new Set<string>();

/** Ends every process and removes every folder of a benchmark cut short. */
export function tidyUp(): void {
  for (const child of processes) {
    try {
      child.kill("SIGKILL");
    } catch { /* It ended a moment ago. */ }
  }
  for (const folder of folders) Deno.removeSync(folder, { recursive: true });
}

/** A process that serves until it is stopped. */
export interface Server extends AsyncDisposable {
  /** Address, without a path. */
  readonly url: string;
  /** Number of the process. */
  readonly pid: number;
}

/** How a process is started. */
export interface StartOptions {
  /** Arguments of `deno`. */
  readonly args: readonly string[];
  /** Environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory; the project's root unless it says otherwise. */
  readonly cwd?: string;
}

/**
 * Starts a server in a process of its own, and waits for the line that says
 * where it listens: JSON with a `url`, or text with an address in it.
 */
export async function startServer(options: StartOptions): Promise<Server> {
  const child = spawn(options, "piped");
  const said: string[] = [];
  const listening = Promise.withResolvers<string>();
  const listen = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const lines = stream.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of lines) {
      said.push(line);
      const url = /http:\/\/[\w.]+:\d+/.exec(line)?.[0];
      if (url !== undefined) listening.resolve(url);
    }
  };
  const done = Promise.all([listen(child.stdout), listen(child.stderr)])
    .then(() => {
      listening.reject(new Error(`Server ended early:\n${said.join("\n")}`));
    });
  const url = await listening.promise;
  return {
    url,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await done;
    },
  };
}

/**
 * Runs a process to its end.
 *
 * @returns What its last line says, as JSON.
 * @throws {Error} When it fails.
 */
export async function runJson<Result>(options: StartOptions): Promise<Result> {
  const { code, stdout } = await spawn(options, "inherit").output();
  const last = new TextDecoder().decode(stdout).trim().split("\n").at(-1);
  if (code !== 0 || last === undefined) {
    throw new Error(`Process ended with code ${code}: ${options.args.at(-1)}`);
  }
  return JSON.parse(last);
}

function spawn(
  { args, env = {}, cwd = root }: StartOptions,
  stderr: "piped" | "inherit",
): Deno.ChildProcess {
  const child = new Deno.Command("deno", {
    args: [...args],
    env: { ...env, NO_COLOR: "1" },
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr,
  }).spawn();
  processes.add(child);
  void child.status.then(() => processes.delete(child));
  return child;
}

/** Does something with a new folder, and removes it afterwards. */
export async function withFolder<Result>(
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-bench-" });
  folders.add(folder);
  try {
    return await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
    folders.delete(folder);
  }
}
