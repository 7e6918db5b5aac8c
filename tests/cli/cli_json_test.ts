import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { SHAPES } from "../../resources/schemas/shapes.ts";
import { hasShape, schemaReader } from "../kit/shape.ts";

const API_KEY = "key-of-the-tests";
const root = new URL("../..", import.meta.url).pathname;

/** Shapes that other tests hold: they need processes of their own. */
const ELSEWHERE = [
  "activity",
  "benchmark",
  "demo",
  "listening",
];

/** A ledger with something of everything, beside the service it is of. */
async function everything(): Promise<
  {
    readonly env: Record<string, string>;
    readonly folder: string;
    readonly orderId: string;
  } & AsyncDisposable
> {
  const resources = new AsyncDisposableStack();
  const ledger = resources.use(await temporaryLedger());
  const sandbox = resources.use(createSandbox({ apiKey: API_KEY }));
  const cancelled = sandbox.createOrder().orderId;
  for (const step of ["pay", "authorise", "cancel"] as const) {
    sandbox.advance(cancelled, step);
  }
  const { orderId } = sandbox.createOrder();
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(orderId, step);
  }
  const server = resources.use(Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    sandbox.fetch,
  ));
  return {
    env: {
      RAMPKIT_DATABASE_URL: ledger.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_API_KEY: API_KEY,
      RAMPKIT_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
      RAMPKIT_WEBHOOK_SECRET: "the-secret-in-the-webhook-address",
    },
    folder: ledger.folder,
    orderId,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** A dead letter: a handler that always fails. */
async function failingHandler(url: string): Promise<void> {
  await using ledger = await openLedger({
    url,
    environment: "sandbox",
    worker: false,
  });
  const goods = await ledger.subscribe(
    "goods",
    { on: "order.*.*", maxAttempts: 1, from: "start" },
    () => {
      throw new Error("Out of stock");
    },
  );
  await ledger.project();
  await goods.dispatch();
  await goods.stop();
}

Deno.test("every command prints JSON of its schema, which refuses another type in the place of each value, and a field that is missing", async () => {
  await using world = await everything();
  const { env, folder, orderId } = world;
  /** An answer of each shape. */
  const answered = new Map<string, unknown>();
  const isOf = (name: string, answer: unknown) => {
    hasShape(name, answer);
    answered.set(name, answer);
  };
  const holds = async (name: string, args: readonly string[]) => {
    const { out, err } = await cli([...args], env);
    assert.notEqual(out.trim(), "", `${args.join(" ")}: ${err}`);
    for (const line of out.trim().split("\n")) isOf(name, JSON.parse(line));
  };
  const bodies = `${folder}/bodies.ndjson`;
  await Deno.writeTextFile(
    bodies,
    `{"type":"order_complete","click_id":"c","order":{"id":"${orderId}",` +
      `"base":"TT","base_amount":"9","quote":"USD","quote_amount":"10"}}\n` +
      `{"type":"order_complete","order":{"id":"forged"}}\nno JSON\n`,
  );
  await holds("replayed", ["webhook", "replay", bodies, "--json"]);
  await holds("session", [
    ...["session", "create", "--commodity", "TT", "--network", "amoy"],
    ...["--currency-amount", "10", "--currency", "USD", "--json"],
  ]);
  await holds("expectation", [
    ...["expect", "--click", "c-17", "--reference", "basket-17", "--json"],
  ]);
  await holds("note", [
    ...["note", "order", orderId, "--by", "Ada", "--text", "ticket 4711"],
    "--json",
  ]);
  await holds("trigger", [
    ...["trigger", "success", "--pause", "0", "--json"],
    ...["--sandbox", env.RAMPKIT_BASE_URL ?? ""],
  ]);
  await failingHandler(env.RAMPKIT_DATABASE_URL ?? "");
  const rate = ["--rate", "1000", "--json"];
  await holds("reconcile-report", ["reconcile", "--all", ...rate]);
  await holds("conform-report", ["conform", ...rate]);
  await holds("poll-report", ["poll", "--once", ...rate]);
  await holds("recover-report", ["recover", "--from", "2026-01-01", ...rate]);
  await holds("recorded-release", [
    ...["release", orderId, "--refunded", "--by", "Ada", "--why", "paid twice"],
    ...["--confirmed", "--json"],
  ]);
  for (
    const args of [
      ["orders", "list", "--json"],
      ["orders", "list", "--trust", "confirmed", "--json"],
      ["orders", "export", "--format", "ndjson"],
      ["orders", "explain", orderId, "--as-of", "2100-01-01", "--json"],
    ]
  ) await holds("order", args);
  await holds("order-detail", ["orders", "show", orderId, "--json"]);
  await holds("order-totals", ["orders", "totals", "--json"]);
  await holds("daily-total", [
    ...["orders", "export", "--totals", "--format", "ndjson"],
  ]);
  await holds("explanation", ["orders", "explain", orderId, "--json"]);
  // Nobody listens there: the look is undecided, and has the same shape.
  const chains = `${folder}/chains.json`;
  await Deno.writeTextFile(
    chains,
    '{"amoy":{"nodes":{"node":"http://127.0.0.1:1"},"confirmations":9}}',
  );
  env.RAMPKIT_CHAINS = chains;
  await holds("order-look", ["witness", orderId, "--json"]);
  await holds("asset", ["assets", "--json"]);
  await holds("machines", ["machine", "--json"]);
  await holds("shape", ["schema", "--json"]);
  await holds("attention-item", ["attention", "--json"]);
  await holds("found", ["find", orderId.toLowerCase(), "--json"]);
  const month = new Date().toISOString().slice(0, 7);
  await holds("month-detail", [
    ...["month", "close", month, "--tz", "UTC", "--book-by", "created"],
    ...["--before-end", "--yes", "--json"],
  ]);
  await holds("month-detail", ["month", "show", month, "--json"]);
  await holds("month", ["month", "list", "--json"]);
  await holds("month-recomputation", [
    ...["month", "show", month, "--recompute", "--json"],
  ]);
  const summary = await cli(
    ["month", "show", month, "--file", "summary.json"],
    env,
  );
  isOf("month-summary", JSON.parse(summary.out));
  for (const trust of ["claimed", "confirmed"]) {
    const listed = await cli(["users", "list", "--json"], env);
    const lines = listed.out.trim().split("\n");
    for (const line of lines) isOf("user", JSON.parse(line));
    const id = lines.map((line) => JSON.parse(line)).find((user) =>
      user.trust === trust
    )?.userId;
    if (id === undefined) continue;
    await holds("user-detail", ["users", "show", id, "--json"]);
  }
  await holds("verification", ["ledger", "verify", "--json"]);
  await holds("ledger-stats", ["ledger", "stats", "--json"]);
  await holds("states-verification", [
    ...["ledger", "verify", "--states", "--json"],
  ]);
  await holds("refold", ["ledger", "refold", "--dry-run", "--json"]);
  const copy = `${folder}/copy.db`;
  await holds("backup", ["ledger", "backup", copy, "--json"]);
  await holds("restored", [
    "ledger",
    "restore",
    copy,
    "--database-url",
    `file:${folder}/restored.db`,
    "--json",
  ]);
  const events = `${folder}/events.ndjson`;
  await cli(["ledger", "export", "--output", events], env);
  await holds("imported", ["ledger", "import", events, "--json"]);
  await holds("exported-line", ["ledger", "export"]);
  await holds("webhook", ["webhook", "parse", bodies]);
  await holds("subscription", ["subscriptions", "list", "--json"]);
  const { deadLetters } = JSON.parse(
    (await cli(["subscriptions", "list", "--json"], env)).out,
  );
  assert.equal(
    deadLetters.length > 0,
    true,
    "there is no dead letter to check",
  );
  const { key } = deadLetters[0].transition;
  await holds("retried", ["subscriptions", "retry", "goods", key, "--json"]);
  await holds("dropped", ["subscriptions", "drop", "goods", key, "--json"]);
  await holds("stopped", [
    ...["subscriptions", "stop", "goods", "--json"],
  ]);
  await holds("resumed", [
    ...["subscriptions", "resume", "goods", "--json"],
  ]);
  await holds("fired", [
    ...["subscriptions", "fire", "order:x:claimed.success", "--json"],
  ]);
  await holds("delivery", ["deliveries", "list", "--json"]);
  const { id } = JSON.parse(
    (await cli(["deliveries", "list", "--quarantined", "--json"], env)).out,
  );
  await holds("delivery-detail", ["deliveries", "show", id, "--json"]);
  await holds("checks", ["doctor", "--json"]);
  const prune = ["ledger", "prune", "--bodies-older-than", "1d", "--json"];
  await holds("pruning", prune);
  const known = await cli(["users", "list", "--json"], env);
  const { userId } = JSON.parse(known.out.split("\n")[0] ?? "");
  const erase = ["users", "erase", userId, "--force", "--yes", "--json"];
  await holds("erasure", erase);
  await holds("erased-people", ["users", "erased", userId, "--json"]);
  await using endpoint = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response(null, { status: 204 }),
  );
  const to = `http://127.0.0.1:${endpoint.addr.port}`;
  await holds("sent", ["webhook", "send", "--to", to, "--json"]);

  await using other = await temporaryLedger();
  const imported = { RAMPKIT_DATABASE_URL: other.url };
  await cli(["ledger", "import", events], imported);
  const unfired = await cli(
    ["subscriptions", "fire", "--imported", "--json"],
    imported,
  );
  const [line = ""] = unfired.out.split("\n");
  isOf("unfired", JSON.parse(line));
  {
    await using ledger = await openLedger({ url: other.url, worker: false });
    await ledger.subscribe("goods", { on: "*", start: false }, () => {});
  }
  const past = await cli(
    ["subscriptions", "fire", "goods", "--historic", "--json"],
    imported,
  );
  isOf("fired-history", JSON.parse(past.out));
  const stopped = new AbortController();
  const ran = await cli(
    ["sandbox", "--port", "0", "--json"],
    {},
    stopped.signal,
    () => stopped.abort(),
  );
  isOf("sandbox", JSON.parse(ran.out));
  isOf("simulation", await simulated());
  const printed = Object.entries(SHAPES).flatMap(([name, { commands }]) =>
    commands.length === 0 || ELSEWHERE.includes(name) ? [] : [name]
  );
  assert.deepEqual(printed.filter((name) => !answered.has(name)), []);
  assert.ok(refusals(answered) > 500);
});

/**
 * Sees that the schemas refuse answers that differ from true ones: with an
 * object in the place of any value, and without any of the fields.
 *
 * @returns How many were refused.
 */
function refusals(answered: ReadonlyMap<string, unknown>): number {
  let refused = 0;
  for (const [name, answer] of answered) {
    const schema = schemaReader(name);
    const isRefused = (other: unknown, what: string) => {
      assert.equal(schema.safeParse(other).success, false, `${name} ${what}`);
      refused++;
    };
    for (const path of paths(answer)) {
      const wrong = structuredClone({ answer });
      put(wrong, ["answer", ...path], { wrong: [] });
      isRefused(wrong.answer, `with an object as ${path.join(".")}`);
    }
    for (const field of Object.keys(Object(answer))) {
      const { [field]: _, ...others } = Object(answer);
      isRefused(others, `without ${field}`);
    }
    const later = { ...Object(answer), addedLater: true };
    assert.ok(
      schema.safeParse(later).success,
      `${name} with a field added later`,
    );
  }
  return refused;
}

/** Paths to every value but the empty one. */
function paths(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [key],
    ...paths(inner).map((path) => [key, ...path]),
  ]);
}

function put(at: unknown, path: readonly string[], value: unknown): void {
  const [key = "", ...rest] = path;
  const holder: Record<string, unknown> = Object(at);
  if (rest.length === 0) holder[key] = value;
  else put(holder[key], rest, value);
}

/** What `sim` prints, which is a process of its own. */
async function simulated(): Promise<unknown> {
  const { stdout } = await new Deno.Command("deno", {
    args: [
      ...["run", "--allow-env", "--allow-sys", "--allow-read"],
      ...["--allow-run=deno", `${root}cli/main.ts`],
      ...["sim", "--seed", "9", "--json"],
    ],
    cwd: root,
    stderr: "inherit",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}
