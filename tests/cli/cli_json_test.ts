import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import {
  documentedShapes,
  hasDocumentedShape,
  hasShape,
} from "../kit/documented_shape.ts";

const API_KEY = "key-of-the-tests";
const root = new URL("../..", import.meta.url).pathname;

/** Shapes that other tests hold: they need processes of their own. */
const ELSEWHERE = [
  "demo",
  "listen",
  "listen: its first line",
  "GET /readyz of serve",
  "errors under --json",
];

/** What single orders and users have beside what lists have. */
const FOUND_BY = "foundBy of orders show";
/** Fields of one order or user that lists leave out. */
const DETAILS = new Set([
  ...["freshness", "foundBy", "releasedByHand", "heldBy", "paidTwice"],
]);
const FRESHNESS = "freshness of orders show and users show";

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

Deno.test("every command prints the JSON that COMMANDS.md documents", async () => {
  await using world = await everything();
  const { env, folder, orderId } = world;
  const checked = new Set(ELSEWHERE);
  const holds = async (heading: string, args: readonly string[]) => {
    const ran = await cli([...args], env);
    const [line = ""] = ran.out.split("\n");
    assert.notEqual(line, "", `${args.join(" ")}: ${ran.err}`);
    const answers = ran.out.trim().split("\n").map((one) => JSON.parse(one));
    for (const one of answers) {
      await hasDocumentedShape(
        heading,
        Object.fromEntries(
          Object.entries(one).filter(([field]) =>
            heading === "orders explain" || !DETAILS.has(field)
          ),
        ),
      );
    }
    const { orderId, freshness, foundBy, releasedByHand } = JSON.parse(line);
    if (releasedByHand) {
      await hasDocumentedShape("release", { orderId, ...releasedByHand });
    }
    checked.add(heading);
    if (!freshness) return;
    await hasDocumentedShape(FRESHNESS, freshness);
    checked.add(FRESHNESS);
    if (foundBy !== undefined) {
      await hasDocumentedShape(FOUND_BY, foundBy);
      checked.add(FOUND_BY);
    }
    if (heading === "orders explain") return;
    hasShape(
      args[0] === "users" ? "user-detail" : "order-detail",
      JSON.parse(line),
    );
  };
  const printsShape = async (name: string, args: readonly string[]) => {
    const { out, err } = await cli([...args], env);
    assert.ok(out !== "", `${name}: ${err}`);
    for (const line of out.trim().split("\n")) {
      hasShape(name, JSON.parse(line));
    }
  };
  const bodies = `${folder}/bodies.ndjson`;
  await Deno.writeTextFile(
    bodies,
    `{"type":"order_complete","click_id":"c","order":{"id":"${orderId}",` +
      `"base":"TT","base_amount":"9","quote":"USD","quote_amount":"10"}}\n` +
      `{"type":"order_complete","order":{"id":"forged"}}\nno JSON\n`,
  );
  await holds("webhook replay", ["webhook", "replay", bodies, "--json"]);
  await holds("session create", [
    ...["session", "create", "--commodity", "TT", "--network", "amoy"],
    ...["--currency-amount", "10", "--currency", "USD", "--json"],
  ]);
  await holds("expect", [
    ...["expect", "--click", "c-17", "--reference", "basket-17", "--json"],
  ]);
  await holds("release", [
    ...["release", orderId, "--refunded", "--by", "Ada", "--why", "paid twice"],
    "--json",
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
  await holds("reconcile", ["reconcile", "--all", ...rate]);
  await holds("conform", ["conform", ...rate]);
  await holds("poll --once", ["poll", "--once", ...rate]);
  await holds("recover", ["recover", "--from", "2026-01-01", ...rate]);
  const order =
    "orders list, orders show, orders export --format ndjson, orders explain --as-of";
  for (
    const args of [
      ["orders", "list", "--json"],
      ["orders", "list", "--trust", "confirmed", "--json"],
      ["orders", "show", orderId, "--json"],
      ["orders", "export", "--format", "ndjson"],
      ["orders", "explain", orderId, "--as-of", "2100-01-01", "--json"],
    ]
  ) await holds(order, args);
  await holds("orders totals", ["orders", "totals", "--json"]);
  await holds("orders export --totals --format ndjson", [
    ...["orders", "export", "--totals", "--format", "ndjson"],
  ]);
  await holds("orders explain", ["orders", "explain", orderId, "--json"]);
  // Nobody listens there: the look is undecided, and has the same shape.
  const chains = `${folder}/chains.json`;
  await Deno.writeTextFile(
    chains,
    '{"amoy":{"nodes":{"node":"http://127.0.0.1:1"},"confirmations":9}}',
  );
  env.RAMPKIT_CHAINS = chains;
  await holds("witness", ["witness", orderId, "--json"]);
  await holds("assets", ["assets", "--json"]);
  await holds("machine", ["machine", "--json"]);
  await holds("schema", ["schema", "--json"]);
  await holds("attention", ["attention", "--json"]);
  await holds("find", ["find", orderId.toLowerCase(), "--json"]);
  const month = new Date().toISOString().slice(0, 7);
  await holds("month show, month close", [
    ...["month", "close", month, "--tz", "UTC", "--book-by", "created"],
    ...["--before-end", "--yes", "--json"],
  ]);
  await holds("month show, month close", ["month", "show", month, "--json"]);
  await holds("month list", ["month", "list", "--json"]);
  await holds("month show --recompute", [
    ...["month", "show", month, "--recompute", "--json"],
  ]);
  const summary = await cli(
    ["month", "show", month, "--file", "summary.json"],
    env,
  );
  hasShape("month-summary", JSON.parse(summary.out));
  for (const trust of ["claimed", "confirmed"]) {
    const listed = await cli(["users", "list", "--json"], env);
    const lines = listed.out.trim().split("\n");
    const id = lines.map((line) => JSON.parse(line)).find((user) =>
      user.trust === trust
    )?.userId;
    if (id === undefined) continue;
    await holds("users list, users show", ["users", "show", id, "--json"]);
  }
  for (const command of ["verify", "stats"]) {
    await holds(`ledger ${command}`, ["ledger", command, "--json"]);
  }
  await holds("ledger verify --states", [
    ...["ledger", "verify", "--states", "--json"],
  ]);
  await holds("ledger refold", ["ledger", "refold", "--dry-run", "--json"]);
  const copy = `${folder}/copy.db`;
  await holds("ledger backup", ["ledger", "backup", copy, "--json"]);
  await holds("ledger restore", [
    "ledger",
    "restore",
    copy,
    "--database-url",
    `file:${folder}/restored.db`,
    "--json",
  ]);
  await holds("ledger copy", [
    ...["ledger", "copy", "--to", `file:${folder}/copied.db`, "--json"],
  ]);
  const events = `${folder}/events.ndjson`;
  await cli(["ledger", "export", "--output", events], env);
  await holds("ledger import", ["ledger", "import", events, "--json"]);
  await printsShape("exported-line", ["ledger", "export"]);
  await printsShape("webhook", ["webhook", "parse", bodies]);
  await holds("subscriptions list", ["subscriptions", "list", "--json"]);
  const { deadLetters } = JSON.parse(
    (await cli(["subscriptions", "list", "--json"], env)).out,
  );
  assert.equal(
    deadLetters.length > 0,
    true,
    "there is no dead letter to check",
  );
  const { key } = deadLetters[0].transition;
  for (const command of ["retry", "drop"]) {
    await holds(`subscriptions ${command}`, [
      ...["subscriptions", command, "goods", key, "--json"],
    ]);
  }
  await holds("subscriptions stop", [
    ...["subscriptions", "stop", "goods", "--json"],
  ]);
  await holds("subscriptions resume", [
    ...["subscriptions", "resume", "goods", "--json"],
  ]);
  await holds("subscriptions fire KEY", [
    ...["subscriptions", "fire", "order:x:claimed.success", "--json"],
  ]);
  await holds("deliveries list", ["deliveries", "list", "--json"]);
  const { id } = JSON.parse(
    (await cli(["deliveries", "list", "--quarantined", "--json"], env)).out,
  );
  await holds("deliveries show", ["deliveries", "show", id, "--json"]);
  await holds("doctor", ["doctor", "--json"]);
  const prune = ["ledger", "prune", "--bodies-older-than", "1d", "--json"];
  await holds("ledger prune", prune);
  const known = await cli(["users", "list", "--json"], env);
  const { userId } = JSON.parse(known.out.split("\n")[0] ?? "");
  const erase = ["users", "erase", userId, "--force", "--yes", "--json"];
  await holds("users erase", erase);
  await holds("users erased", ["users", "erased", userId, "--json"]);
  await using endpoint = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response(null, { status: 204 }),
  );
  const to = `http://127.0.0.1:${endpoint.addr.port}`;
  await holds("webhook send", ["webhook", "send", "--to", to, "--json"]);

  await using other = await temporaryLedger();
  const imported = { RAMPKIT_DATABASE_URL: other.url };
  await cli(["ledger", "import", events], imported);
  const unfired = await cli(
    ["subscriptions", "fire", "--imported", "--json"],
    imported,
  );
  const [line = ""] = unfired.out.split("\n");
  await hasDocumentedShape("subscriptions fire", JSON.parse(line));
  {
    await using ledger = await openLedger({ url: other.url, worker: false });
    await ledger.subscribe("goods", { on: "*", start: false }, () => {});
  }
  const past = await cli(
    ["subscriptions", "fire", "goods", "--historic", "--json"],
    imported,
  );
  const history = "subscriptions fire NAME --historic";
  await hasDocumentedShape(history, JSON.parse(past.out));
  checked.add(history);
  const stopped = new AbortController();
  const ran = await cli(
    ["sandbox", "--port", "0", "--json"],
    {},
    stopped.signal,
    () => stopped.abort(),
  );
  await hasDocumentedShape("sandbox", JSON.parse(ran.out));
  await hasDocumentedShape("sim", await simulated());
  for (const heading of ["subscriptions fire", "sandbox", "sim"]) {
    checked.add(heading);
  }
  assert.deepEqual(
    [...(await documentedShapes()).keys()].sort(),
    [
      ...checked,
    ].sort(),
  );
});

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
