import { LEDGER_PERMISSIONS, type Server, startServer } from "./process.ts";

/** The secret in the path of every server here. */
export const SECRET = "a-secret-of-the-benchmark-alone";

/** Reads and parses each body, and stores nothing. */
export function bareServer(): Promise<Server> {
  return startServer({
    args: ["run", "--allow-net=127.0.0.1", "bench/bare_server.ts"],
  });
}

/** Writes the bodies to a file, syncs it, and does no more. */
export function floorServer(file: string): Promise<Server> {
  return startServer({
    args: [
      "run",
      "--allow-net=127.0.0.1",
      `--allow-write=${file}`,
      `--allow-read=${file}`,
      "bench/floor_server.ts",
      file,
    ],
  });
}

/** The endpoint on a ledger and nothing else. */
export function ingestServer(file: string): Promise<Server> {
  return startServer({
    args: ["run", ...LEDGER_PERMISSIONS, "bench/ingest_server.ts", file],
  });
}

/** The program as people run it; it asks no service unless it is told to. */
export function wholeServer(
  file: string,
  env: Readonly<Record<string, string>> = {},
  { poll = false }: { readonly poll?: boolean } = {},
): Promise<Server> {
  return startServer({
    args: [
      "run",
      ...LEDGER_PERMISSIONS,
      "cli/main.ts",
      "serve",
      "--port",
      "0",
      ...(poll ? [] : ["--no-poll"]),
    ],
    env: {
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_DATABASE_URL: `file:${file}`,
      RAMPKIT_WEBHOOK_SECRET: SECRET,
      ...env,
    },
  });
}
