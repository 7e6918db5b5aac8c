import type { Comparison, Row } from "./comparison.ts";
import { boundRow, ratioRow } from "./comparison.ts";
import type { Load } from "./load.ts";
import {
  LEDGER_PERMISSIONS,
  runJson,
  startServer,
  withFolder,
} from "./process.ts";
import { interleave, median } from "./rounds.ts";

const secret = "a-secret-of-the-benchmark-alone";
const rounds = 3;
const seconds = 3;

/** Durable ingest over HTTP against a server that stores nothing. */
export const ingest: Comparison = {
  name: "ingest",
  note:
    "Server, load and nothing else, in processes of their own on the same " +
    "cores; each connection waits for its answer before it sends the next " +
    "webhook of 650 bytes. Ours checks the secret, reads the body, digests " +
    "and indexes it, and answers 204 after the commit that holds it is " +
    "synced to the disk (synchronous=FULL, one commit for all that wait). " +
    "`serve` also folds and chains what it stores, but lets appends go first: " +
    "most of that comes when the load is over. The other side " +
    "is a bare Deno.serve that reads the body, parses it, stores nothing and " +
    "answers 204. The floor is a Deno.serve that writes the bodies that wait " +
    "together to one file, syncs it and answers 204: no secret, no checks, no " +
    "index, nothing that could be read again.",
  run: (say) =>
    withFolder(async (folder) => {
      const rows: Row[] = [];
      let ledgers = 0;
      for (const [connections, bound] of [[64, 0.4], [256, 0.5]] as const) {
        const results = await interleave(rounds, {
          bare: () => measure(bareServer(), connections, say),
          ingest: () =>
            measure(
              ingestServer(`${folder}/${ledgers++}.db`),
              connections,
              say,
            ),
          floor: () =>
            measure(
              floorServer(`${folder}/${ledgers++}.bodies`),
              connections,
              say,
            ),
          serve: () =>
            measure(wholeServer(`${folder}/${ledgers++}.db`), connections, say),
        });
        rows.push(...rowsOf(results, connections, bound));
      }
      return rows;
    }),
};

type Side = "bare" | "floor" | "ingest" | "serve";

function rowsOf(
  results: Record<Side, Load[]>,
  connections: number,
  bound: number,
): Row[] {
  const middle = (side: Side, field: keyof Load): number =>
    median(results[side].map((load) => load[field]));
  const details = (side: Side) => ({
    p50Ms: middle(side, "p50Ms"),
    p99Ms: middle(side, "p99Ms"),
    refused: Math.max(...results[side].map(({ refused }) => refused)),
  });
  const theirs = middle("bare", "perSecond");
  return [
    ratioRow(`ingest, ${connections} connections`, {
      ours: middle("ingest", "perSecond"),
      theirs,
      unit: "requests/s",
      at: "least",
      bound,
      details: details("ingest"),
    }),
    boundRow(`ingest, ${connections} connections, p99`, {
      ours: middle("ingest", "p99Ms"),
      most: 50,
      unit: "ms",
      details: { barePeerP99Ms: middle("bare", "p99Ms") },
    }),
    ratioRow(`ingest, ${connections} connections, against the floor`, {
      ours: middle("ingest", "perSecond"),
      theirs: middle("floor", "perSecond"),
      unit: "requests/s",
      at: "least",
      bound: null,
      details: details("floor"),
    }),
    ratioRow(`serve, ${connections} connections`, {
      ours: middle("serve", "perSecond"),
      theirs,
      unit: "requests/s",
      at: "least",
      bound: null,
      details: details("serve"),
    }),
  ];
}

async function measure(
  starting: ReturnType<typeof startServer>,
  connections: number,
  say: (text: string) => void,
): Promise<Load> {
  await using server = await starting;
  const load = await runJson<Load>({
    args: [
      "run",
      "--allow-net=127.0.0.1",
      "bench/load.ts",
      `${server.url}/webhooks/${secret}`,
      String(connections),
      String(seconds),
    ],
  });
  say(`${connections} connections: ${Math.round(load.perSecond)}/s`);
  return load;
}

function bareServer(): ReturnType<typeof startServer> {
  return startServer({
    args: ["run", "--allow-net=127.0.0.1", "bench/bare_server.ts"],
  });
}

function ingestServer(file: string): ReturnType<typeof startServer> {
  return startServer({
    args: [
      "run",
      ...LEDGER_PERMISSIONS,
      "bench/ingest_server.ts",
      file,
    ],
  });
}

function floorServer(file: string): ReturnType<typeof startServer> {
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

/** The program as people run it, but that it asks no service. */
function wholeServer(file: string): ReturnType<typeof startServer> {
  return startServer({
    args: [
      "run",
      ...LEDGER_PERMISSIONS,
      "cli/main.ts",
      "serve",
      "--port",
      "0",
      "--no-poll",
    ],
    env: {
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_DATABASE_URL: `file:${file}`,
      RAMPKIT_WEBHOOK_SECRET: secret,
    },
  });
}
