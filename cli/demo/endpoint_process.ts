import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { CommandError } from "../../core/settings/errors.ts";
import { LEDGER_PERMISSIONS } from "../program/source_program.ts";

/** The permissions of the endpoint, as in the `serve` task. */
const PERMISSIONS = [...LEDGER_PERMISSIONS, "--allow-net=127.0.0.1"];

/** A `serve` of its own process, started again on the same port at will. */
export class EndpointProcess implements AsyncDisposable {
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #reading: Promise<void> = Promise.resolve();
  #port = 0;

  /** @param env Settings of the endpoint. */
  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** Where it listens. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts the process and waits until it listens. */
  async start(): Promise<void> {
    const main = new URL("../main.ts", import.meta.url);
    const [program, args] = "Deno" in globalThis
      ? ["deno", ["run", ...PERMISSIONS, main.href]]
      : [process.execPath, [fileURLToPath(main)]];
    const child = spawn(
      program,
      [...args, "serve", "--no-poll", "--port", String(this.#port)],
      {
        env: { ...process.env, ...this.#env },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    this.#child = child;
    const listening = Promise.withResolvers<number>();
    child.once("error", listening.reject);
    this.#reading = readLog(child.stderr, listening);
    this.#port = await listening.promise;
  }

  /** Ends the process with SIGKILL: no chance to save anything. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Lets requests finish, folds the rest, and ends. */
  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  /** Leaves no process behind. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const ended = once(child, "exit");
    if (child.exitCode === null && child.kill(signal)) await ended;
    await this.#reading;
  }
}

/** Reads the log until its end, and the port from its first entry. */
async function readLog(
  stream: Readable,
  listening: PromiseWithResolvers<number>,
): Promise<void> {
  listening.promise.catch(() => {});
  let text = "";
  for await (const part of stream.setEncoding("utf8")) {
    // The log of a whole run would be kept for its first line alone.
    if (text.length < 65_536) text += part;
    const port = /"event":"listening","url":"http:\/\/[^"]*:(\d+)"/.exec(text);
    if (port?.[1] !== undefined) listening.resolve(Number(port[1]));
  }
  listening.reject(
    new CommandError(`The endpoint ended before it listened: ${text.trim()}`),
  );
}
