import { catchUp } from "./catch_up.ts";
import type { Bench, Comparison, Row } from "./measuring/comparison.ts";
import { boundRow, ratioRow } from "./measuring/comparison.ts";
import {
  bareServer,
  floorServer,
  ingestServer,
  SECRET,
  wholeServer,
} from "./ingest_servers.ts";
import type { Load } from "./load.ts";
import { load } from "./load_generator.ts";
import { watched } from "./measuring/machine.ts";
import { limitOf, type Usage } from "./measuring/machine_usage.ts";
import { type Server, withFolder } from "./process.ts";
import { interleave, median } from "./measuring/rounds.ts";

/** Durable ingest over HTTP against a server that stores nothing. */
export const ingest: Comparison = {
  name: "ingest",
  note:
    "Server, load and nothing else, in processes of their own on the same " +
    "cores; each connection waits for its answer before it sends the next " +
    "webhook of 650 bytes, of an order of its own. `load` names the generator: " +
    "wrk where it is installed, else our own, which takes more of the machine. " +
    "Ours checks the secret, reads the body, and answers 204 after the " +
    "delivery is synced to the disk; it digests and indexes it too. The other " +
    "side is a bare Deno.serve that reads the body, parses it, stores nothing " +
    "and answers 204. The floor is a Deno.serve that writes the bodies that " +
    "wait together to one file, syncs it and answers 204: no secret, no " +
    "checks, no index, nothing that could be read again. A sustained load is " +
    "one long round, compared with the bare server's bursts; the ledger has " +
    "caught up when it holds every delivery that was answered, and for " +
    "`serve`, which is the whole program without its poller, when they are " +
    "folded and chained as well, or 30 seconds have passed.",
  run: (bench) =>
    withFolder(async (folder) => {
      let files = 0;
      const newFile = (): string => `${folder}/${files++}.db`;
      const rows: Row[] = [];
      const bare = new Map<number, readonly Measured[]>();
      for (
        const [connections, mostMs, rounds] of [[64, 10, 3], [
          256,
          25,
          2,
        ]] as const
      ) {
        const burst = (server: Promise<Server>, seconds = bench.burstSeconds) =>
          measure(server, { connections, seconds, say: bench.say });
        const sides = await interleave(rounds, {
          // It stores nothing, so half the time says as much.
          bare: () => burst(bareServer(), Math.ceil(bench.burstSeconds / 2)),
          ingest: () => burst(ingestServer(newFile())),
          floor: () => burst(floorServer(newFile())),
        }, bench);
        rows.push(...burstRows(
          {
            bare: sides.bare.results,
            ingest: sides.ingest.results,
            floor: sides.floor.results,
          },
          connections,
          mostMs,
        ));
        bare.set(connections, sides.bare.results);
      }
      for (const [name, connections, part, bound] of SUSTAINED) {
        const options = {
          name,
          connections,
          seconds: Math.ceil(bench.sustainedSeconds * part),
          bound,
          bare: bare.get(connections),
        };
        rows.push(...await sustainedRows(bench, newFile(), options));
      }
      return rows;
    }),
};

/**
 * What is loaded for long, over how many connections, for which part of the
 * time, and what is aimed at. Without a fold beside it nothing changes after
 * the first seconds.
 */
const SUSTAINED = [
  ["ingest", 64, 1 / 3, 0.45],
  ["serve", 64, 1, 0.35],
  ["serve", 256, 1, 0.4],
] as const;

/** A load, and how its server used the processors. */
interface Measured extends Load {
  readonly usage: Usage | null;
}

type Side = "bare" | "floor" | "ingest";

function burstRows(
  sides: Readonly<Record<Side, readonly Measured[]>>,
  connections: number,
  mostMs: number,
): Row[] {
  const of = (side: Side, field: "perSecond" | "p99Ms"): number[] =>
    sides[side].map((load) => load[field]);
  const limit = limitOfAll(sides.ingest);
  const floorP99Ms = median(of("floor", "p99Ms"));
  return [
    ratioRow(`ingest, ${connections} connections`, {
      ours: of("ingest", "perSecond"),
      theirs: of("bare", "perSecond"),
      unit: "requests/s",
      at: "least",
      bound: 0.65,
      limit,
      details: detailsOf(sides.ingest),
    }),
    boundRow(`ingest, ${connections} connections, p99`, {
      ours: of("ingest", "p99Ms"),
      most: Math.max(mostMs, 2 * floorP99Ms),
      unit: "ms",
      limit,
      details: { floorP99Ms, bareP99Ms: median(of("bare", "p99Ms")) },
    }),
    ratioRow(`ingest, ${connections} connections, against the floor`, {
      ours: of("ingest", "perSecond"),
      theirs: of("floor", "perSecond"),
      unit: "requests/s",
      at: "least",
      bound: null,
      limit: `of the floor: ${limitOfAll(sides.floor)}`,
      details: detailsOf(sides.floor),
    }),
  ];
}

interface SustainedOptions {
  readonly name: "ingest" | "serve";
  readonly connections: number;
  readonly seconds: number;
  /** The least part of what the bare server answers. */
  readonly bound: number;
  /** Bursts of the bare server over as many connections. */
  readonly bare: readonly Measured[] | undefined;
}

async function sustainedRows(
  { say }: Bench,
  file: string,
  { name, connections, seconds, bound, bare = [] }: SustainedOptions,
): Promise<Row[]> {
  say(`${name} for ${seconds} s, and until the ledger has caught up`);
  const folding = name === "serve";
  await using server = await (folding ? wholeServer(file) : ingestServer(file));
  const load = await measureServer(server, { connections, seconds, say });
  const { result: caughtUp, usage } = await watched(
    () => catchUp(file, { answered: load.answered, folding }),
    server.pid,
  );
  const limit = limitOf(
    usage === null ? [] : [usage],
    "the database's thread and the disk",
  );
  const until = folding
    ? `serve, ${connections} connections, until all is folded and chained`
    : "ingest, until the ledger holds what was answered";
  return [
    ratioRow(`${name}, ${seconds} s, ${connections} connections`, {
      ours: [load.perSecond],
      theirs: bare.map(({ perSecond }) => perSecond),
      unit: "requests/s",
      at: "least",
      bound,
      limit: limitOfAll([load]),
      details: { ...detailsOf([load]), stored: caughtUp.stored },
    }),
    boundRow(until, {
      ours: [caughtUp.foldedSeconds ?? caughtUp.storedSeconds],
      most: folding ? 30 : 5,
      unit: "s",
      limit,
      details: folding ? { notFolded: caughtUp.behind } : {},
    }),
  ];
}

function limitOfAll(loads: readonly Measured[]): string {
  const usages = loads.map(({ usage }) => usage);
  return limitOf(usages.filter((usage) => usage !== null), "the disk");
}

function detailsOf(loads: readonly Measured[]): Row["details"] {
  return {
    load: loads[0]?.by ?? "none",
    p50Ms: median(loads.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(loads.map(({ p99Ms }) => p99Ms)),
    refused: Math.max(...loads.map(({ refused }) => refused)),
  };
}

interface MeasureOptions {
  readonly connections: number;
  readonly seconds: number;
  readonly say: (text: string) => void;
}

async function measure(
  starting: Promise<Server>,
  options: MeasureOptions,
): Promise<Measured> {
  await using server = await starting;
  return await measureServer(server, options);
}

async function measureServer(
  { url, pid }: Server,
  { connections, seconds, say }: MeasureOptions,
): Promise<Measured> {
  const { result, usage } = await watched(
    () => load({ url: `${url}/webhooks/${SECRET}`, connections, seconds }),
    pid,
  );
  say(`${connections} connections: ${Math.round(result.perSecond)}/s`);
  return { ...result, usage };
}
