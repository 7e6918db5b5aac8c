/**
 * The benchmark; `rampkit bench` passes its flags on as JSON.
 *
 * @module
 */
import { openLedger } from "../../ledger/mod.ts";
import { drawTable, markdownTable } from "../../resources/views/text.ts";
import { serveSandbox } from "../../sandbox/mod.ts";
import { PERMISSIONS, startServe } from "../../tests/kit/program.ts";
import { installEmmett } from "./emmett.ts";

/** What was measured; its shape follows that, and is not promised. */
export interface BenchmarkJson {
  /** Each figure, and that of the other side where there is one. */
  readonly rows: readonly object[];
}

/** A figure, and beside it that of the other side in the same run, if any. */
type Figure = readonly [ours: number, theirs?: number];

/** What is measured together; the page says how. */
interface Measurement {
  /** What each figure is, its unit, and what it, or else the ratio, is to be, if anything. */
  readonly rows: readonly (readonly [
    name: string,
    unit: string,
    aim?: ">=" | "<=",
    bound?: number,
  ])[];
  /** Measures in a folder of its own: the figures of the rows. */
  readonly run: (folder: string, size: number) => Promise<readonly Figure[]>;
}

/** Every measurement, by its name for `--only`. */
const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  receive: {
    rows: [
      ["received, folded, sealed, lives of seven", "a second", ">=", 10_000],
      ["answer meanwhile, lives of seven, p99", "ms", "<=", 100],
      ["the load's own processor, lives of seven", "us a delivery"],
      ["received, folded, sealed, new orders", "a second", ">=", 5_000],
      ["answer meanwhile, new orders, p99", "ms", "<=", 100],
      ["the load's own processor, new orders", "us a delivery"],
    ],
    run: async (folder, size) => [
      ...await receive(folder, "lives", size),
      ...await receive(folder, "new", size),
    ],
  },
  confirm: {
    rows: [["webhook to confirmed at a receiver, median", "ms", "<=", 50]],
    run: async (folder, size) => [
      [median(await confirm(folder, Math.ceil(40 * size)))],
    ],
  },
  new_order: {
    rows: [
      ["a new order, processor of all threads", "us", "<=", 130],
      ["verify, new orders", "a second", ">=", 33_333],
      ["a new order, on the disk", "bytes", "<=", 2_500],
    ],
    run: async (folder, size) => {
      const count = Math.ceil(40_000 * size);
      const figures = await work("new_order", `${folder}/ledger.db`, count);
      let bytes = 0;
      for (const { name } of Deno.readDirSync(folder)) {
        bytes += (await Deno.stat(`${folder}/${name}`)).size;
      }
      return [...figures, bytes / count].map((one) => [one]);
    },
  },
  refold: {
    rows: [
      ["refold, events", "a second", ">=", 33_333],
      ["verify, events", "a second", ">=", 33_333],
    ],
    run: async (folder, size) => {
      const count = Math.ceil(70_000 * size);
      const figures = await work("refold", `${folder}/ledger.db`, count);
      return figures.map((one) => [one]);
    },
  },
  append: {
    rows: [["append, beside emmett-sqlite", "a second", ">=", 10]],
    run: async (folder, size) => {
      const packages = await installEmmett(folder);
      const [ours, theirs]: [number[], number[]] = [[], []];
      for (let round = 0; round < 3; round++) {
        const count = Math.ceil(40_000 * size);
        ours.push(...await work("append", `${folder}/our_${round}.db`, count));
        theirs.push(
          ...await child([
            ...["--node-modules-dir=manual", "--no-lock", ...PERMISSIONS],
            ...[here("emmett.ts"), packages, `${folder}/their_${round}.db`],
            String(Math.ceil(6_000 * size)),
          ], folder),
        );
      }
      return [[median(ours), median(theirs)]];
    },
  },
};

const SECRET = "a-secret-of-the-benchmark-alone";

async function receive(
  folder: string,
  shape: "lives" | "new",
  size: number,
): Promise<Figure[]> {
  const url = `file:${folder}/${shape}.db`;
  await using served = await startServe({
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_DATABASE_URL: url,
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  }, ["--no-poll"]);
  const start = performance.now();
  const [answered = 0, refused = 0, p99Ms = 0, ownUs = 0] = await child([
    ...["--allow-net=127.0.0.1", here("load.ts")],
    ...[`${served.url}/webhooks/${SECRET}`, "64"],
    ...[String(Math.max(3, 20 * size)), shape],
  ]);
  if (refused > 0) throw new Error(`${refused} deliveries were refused`);
  await using ledger = await openLedger({ url, environment: "sandbox" });
  for (;;) {
    const { events, lag, position, chain } = await ledger.stats();
    const isSealed = chain.position === position;
    if (events.webhook >= answered && lag === 0 && isSealed) break;
    await pause(100);
  }
  const rate = answered / (performance.now() - start) * 1000;
  return [[rate], [p99Ms], [ownUs]];
}

/** How long each order took, in ms. */
async function confirm(folder: string, orders: number): Promise<number[]> {
  const confirmed = new Map<string, () => void>();
  await using receiver = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { type, data } = await request.json();
      if (type === "order.confirmed.success") confirmed.get(data.id)?.();
      return new Response(null, { status: 204 });
    },
  );
  await using service = await serveSandbox({ port: 0 });
  const { sandbox } = service;
  await using served = await startServe({
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_DATABASE_URL: `file:${folder}/ledger.db`,
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    RAMPKIT_API_KEY: sandbox.apiKey,
    RAMPKIT_BASE_URL: service.url,
    RAMPKIT_FORWARD_TO: `http://127.0.0.1:${receiver.addr.port}/`,
    RAMPKIT_FORWARD_SECRET: `whsec_${btoa("a secret of the benchmark alone")}`,
  });
  sandbox.setWebhookUrl(`${served.url}/webhooks/${SECRET}`);
  await pause(2_500);
  const tookMs: number[] = [];
  for (let order = 0; order < orders; order++) {
    const { orderId } = sandbox.createOrder({ currencyAmount: "49.90" });
    sandbox.advance(orderId, "pay");
    sandbox.advance(orderId, "authorise");
    await pause(500);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    confirmed.set(orderId, resolve);
    AbortSignal.timeout(60_000).onabort = () =>
      reject(new Error(`${orderId} was not confirmed in a minute`));
    const start = performance.now();
    sandbox.advance(orderId, "complete");
    await promise;
    tookMs.push(performance.now() - start);
    // So that it does not follow the step of our own pauses.
    await pause(400 + order * 137 % 500);
  }
  return tookMs;
}

function work(what: string, file: string, count: number): Promise<number[]> {
  return child([...PERMISSIONS, here("work.ts"), what, file, String(count)]);
}

/** Runs a program to its end, and reads its last line. */
async function child(
  args: readonly string[],
  cwd: string = here("../.."),
): Promise<number[]> {
  const { code, stdout } = await new Deno.Command("deno", {
    args: ["run", ...args],
    cwd,
    stdin: "null",
    stderr: "inherit",
  }).output();
  const last = new TextDecoder().decode(stdout).trim().split("\n").at(-1);
  if (code !== 0 || last === undefined) {
    throw new Error(`A program ended with code ${code}: ${args.join(" ")}`);
  }
  return JSON.parse(last);
}

function here(path: string): string {
  return new URL(path, import.meta.url).pathname;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The middle value; of an even number of values the lower middle. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ??
    Number.NaN;
}

/** Three significant digits, thousands in groups. */
function shown(value: number | null): string {
  if (value === null) return "";
  return value >= 1000
    ? Math.round(value).toLocaleString("en")
    : value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

async function main(): Promise<void> {
  const { only, quick, json, keep } = JSON.parse(Deno.args[0] ?? "{}");
  const [load = 0] = Deno.loadavg();
  const rows = [];
  for (const [comparison, measurement] of Object.entries(MEASUREMENTS)) {
    if (only?.includes(comparison) === false) continue;
    console.error(`Measuring ${comparison} ...`);
    const folder = await Deno.makeTempDir({ prefix: "rampkit-bench-" });
    try {
      // `--quick` does a tenth of the work.
      const figures = await measurement.run(folder, quick ? 0.1 : 1);
      for (const [at, row] of measurement.rows.entries()) {
        const [name, unit, aim, bound = Number.NaN] = row;
        const [ours = Number.NaN, theirs = null] = figures[at] ?? [];
        const ratio = theirs && ours / theirs;
        const held = ratio ?? ours;
        const holds = aim === undefined
          ? null
          : aim === ">="
          ? held >= bound
          : held <= bound;
        rows.push({
          ...{ comparison, name, ours, theirs, ratio, unit, aim, bound, holds },
        });
      }
    } catch (error) {
      console.error(`Not measured: ${comparison}:`, error);
      Deno.exitCode = 1;
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
  const head = ["", "Ours", "The other side", "Ratio", "Aim", "Holds"];
  const cells = rows.map((row) => [
    row.name,
    `${shown(row.ours)} ${row.unit}`,
    shown(row.theirs),
    shown(row.ratio),
    row.aim === undefined ? "" : `${row.aim} ${shown(row.bound)}`,
    row.holds === null ? "" : row.holds ? "yes" : "no",
  ]);
  console.log(
    json
      ? JSON.stringify({ rows } satisfies BenchmarkJson)
      : drawTable(head.map((title) => ({ title })), cells, null),
  );
  if (!keep || Deno.exitCode !== 0) return;
  const path = here("../../docs/reference/benchmark.md");
  const page = await Deno.readTextFile(path);
  const day = new Date().toISOString().slice(0, 10);
  const text = [
    `Measured on ${day} on ${navigator.hardwareConcurrency} cores, where a load`,
    `average of ${load.toFixed(1)} was other work.`,
    "",
    ...markdownTable({ head, rows: cells }),
  ].join("\n");
  await Deno.writeTextFile(
    path,
    page.replace(
      /(?<=<!-- printed: figures -->\n)[^]*(?=<!-- end -->)/,
      () => `\n${text}\n\n`,
    ),
  );
}

if (import.meta.main) await main();
