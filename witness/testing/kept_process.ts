/** A server program of a test, on loopback. */
export interface KeptProcess extends AsyncDisposable {
  /** Port that it listens on. */
  readonly port: number;
  /** Its address. */
  readonly url: string;
}

/** How a server program is started. */
export interface KeptProcessOptions {
  /** The program. */
  readonly program: string;
  /** Its arguments, for a port that is free. */
  readonly args: (port: number) => readonly string[];
  /** Whether it answers. */
  readonly answers: (url: string) => Promise<boolean>;
}

/** Longest wait for it to answer, on a machine that is busy. */
const START_MS = 60_000;

/**
 * Starts a server program and waits until it answers. A small process between
 * ends it when the test's process ends.
 */
export async function keepProcess(
  options: KeptProcessOptions,
): Promise<KeptProcess> {
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    const process = await start(options, until);
    if (process !== null) return process;
  }
  throw new Error(`It does not answer: ${options.program}`);
}

async function start(
  { program, args, answers }: KeptProcessOptions,
  until: number,
): Promise<KeptProcess | null> {
  const port = freePort();
  const keeper = new Deno.Command("deno", {
    args: [
      ...["run", "--no-prompt", "--no-config", "--no-lock"],
      "--allow-run",
      import.meta.resolve("./process_keeper.ts"),
      program,
      ...args(port),
    ],
    // Otherwise it would be killed with the test, and the server live on.
    detached: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let ended = false;
  const ending = keeper.status.then(() => ended = true);
  const input = keeper.stdin.getWriter();
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    // It may have ended by itself.
    await input.write(new TextEncoder().encode("KILL")).catch(() => {});
    await input.close().catch(() => {});
    await ending;
  };
  while (!ended && !await answers(url).catch(() => false)) {
    if (performance.now() > until) {
      await stop();
      return null;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (!ended) return { port, url, [Symbol.asyncDispose]: stop };
  // Another program may have taken the port.
  await stop();
  return null;
}

/** A port below those that the system hands out by itself. */
function freePort(): number {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
