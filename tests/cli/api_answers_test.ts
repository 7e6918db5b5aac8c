import assert from "node:assert/strict";
import { addNote } from "../../ledger/for_resources.ts";
import { main } from "../../cli/mod.ts";
import { OnrampClient, resolveEnvironment } from "../../client/mod.ts";
import { createSandbox, realClock, virtualClock } from "../../sandbox/mod.ts";
import { type Ledger, openLedger } from "../../ledger/mod.ts";
import { API_ROUTES } from "../../server/api/api_app.ts";
import { READ, testApi } from "../../server/api/testing/test_api.ts";
import { type Ran, temporaryLedger } from "../kit/cli.ts";
import {
  ODD_NOW_MS,
  ODD_ORDERS,
  ODD_USERS,
  oddLedger,
  oddReading,
} from "../kit/odd_ledger.ts";

const { buyer } = ODD_USERS;
const { success, pending } = ODD_ORDERS;

/** A minute before the time of the test. */
const AT = "2026-11-20T11:59:00Z";

/** An order that an import brought. */
const IMPORTED = "01KQIMPORTED00000000000001";

/** A dead letter of the subscription. */
const DEAD = `order:${success}:confirmed.success`;

/**
 * What is asked by a command and by the API alike: the operation, the command
 * without --json, the path, and the list in the answer that the command prints
 * a line each.
 */
const ALIKE: readonly (readonly [string, readonly string[], string])[] = [
  ["listOrders", ["orders", "list"], "/v1/orders?limit=1000"],
  [
    "listOrders",
    ["orders", "list", "--status", "pending"],
    "/v1/orders?limit=1000&status=pending",
  ],
  [
    "listOrders",
    ["orders", "list", "--sort", "oldest"],
    "/v1/orders?limit=1000&sort=oldest",
  ],
  [
    "sumOrders",
    ["orders", "totals", "--trust", "confirmed"],
    "/v1/orders/totals?trust=confirmed",
  ],
  ["getOrder", ["orders", "show", success], `/v1/orders/${success}`],
  [
    "explainOrder",
    ["orders", "explain", pending],
    `/v1/orders/${pending}/explanation`,
  ],
  [
    "getOrderAsOf",
    ["orders", "explain", success, "--as-of", AT],
    `/v1/orders/${success}/as-of?time=${AT}`,
  ],
  ["listUsers", ["users", "list"], "/v1/users?limit=1000"],
  ["getUser", ["users", "show", buyer], `/v1/users/${buyer}`],
  ["listDeliveries", ["deliveries", "list"], "/v1/deliveries?limit=1000"],
  [
    "listDeliveries",
    ["deliveries", "list", "--quarantined"],
    "/v1/deliveries?limit=1000&quarantined=true",
  ],
  [
    "listDeliveries",
    ["deliveries", "list", "--type", "order_complete", "--day", "2026-11-20"],
    "/v1/deliveries?limit=1000&type=order_complete&day=2026-11-20",
  ],
  ["getDelivery", ["deliveries", "show", "ID"], "/v1/deliveries/ID"],
  ["listAttention", ["attention"], "/v1/attention?limit=1000"],
  ["find", ["find", success], `/v1/find?q=${success}`],
  ["getStats", ["ledger", "stats"], "/v1/stats"],
  ["listMonths", ["month", "list"], "/v1/months"],
  ["getMonth", ["month", "show", "2026-11"], "/v1/months/2026-11"],
  ["listSubscriptions", ["subscriptions", "list"], "/v1/subscriptions"],
  [
    "listNotes",
    ["note", "order", success],
    `/v1/notes?entity=order&id=${success}`,
  ],
  [
    "listUnfired",
    ["subscriptions", "fire", "--imported"],
    "/v1/transitions/unfired?imported=true",
  ],
];

/** What changes a ledger: each face does it to a ledger of its own. */
const DONE_ALIKE: readonly (readonly [
  string,
  readonly string[],
  string,
  Readonly<Record<string, unknown>>?,
])[] = [
  [
    "retryDeadLetters",
    ["subscriptions", "retry", "goods"],
    "/v1/subscriptions/goods/retry",
  ],
  [
    "dropDeadLetter",
    ["subscriptions", "drop", "goods", DEAD],
    `/v1/subscriptions/goods/drop?key=${DEAD}`,
  ],
  [
    "stopTarget",
    ["subscriptions", "stop", "goods"],
    "/v1/subscriptions/goods/stop",
  ],
  [
    "resumeTarget",
    ["subscriptions", "resume", "goods"],
    "/v1/subscriptions/goods/resume",
  ],
  [
    "fireTransition",
    ["subscriptions", "fire", `order:${IMPORTED}:confirmed.success`],
    `/v1/transitions/fire?key=order:${IMPORTED}:confirmed.success`,
  ],
  [
    "fireHistory",
    ["subscriptions", "fire", "goods", "--historic", "--yes"],
    "/v1/subscriptions/goods/fire-historic",
  ],
  [
    "closeMonth",
    ["month", "close", "2026-10", "--tz", "UTC", "--book-by", "created"],
    "/v1/months/2026-10/close?timeZone=UTC&bookBy=created",
  ],
  [
    "releaseOrder",
    [
      ...["release", success, "--delivered", "--for", "basket-1"],
      "--new-reference",
      ...["--by", "Ada", "--why", "Paid at the counter"],
    ],
    `/v1/orders/${success}/released`,
    {
      outcome: "delivered",
      for: "basket-1",
      newReference: true,
      by: "Ada",
      why: "Paid at the counter",
    },
  ],
  [
    "expectOrder",
    [
      ...["expect", "--click", "c-9", "--reference", "basket-9"],
      ...["--currency", "USD", "--currency-amount", "25.00"],
      ...["--wallet", "0x1", "--user", buyer],
    ],
    "/v1/expectations",
    {
      clickId: "c-9",
      reference: "basket-9",
      currency: "USD",
      currencyAmount: "25.00",
      walletAddress: "0x1",
      userId: buyer,
    },
  ],
];

/** What neither does, and both say why in the same words. */
const REFUSED_ALIKE: readonly (readonly [
  readonly string[],
  string,
  Readonly<Record<string, unknown>>?,
])[] = [
  [["orders", "show", "NONE"], "/v1/orders/NONE"],
  [["orders", "explain", "NONE"], "/v1/orders/NONE/explanation"],
  [
    ["orders", "explain", success, "--as-of", "2020-01-01"],
    `/v1/orders/${success}/as-of?time=2020-01-01`,
  ],
  [["orders", "list", "--status", "sucess"], "/v1/orders?status=sucess"],
  [["orders", "list", "--attention", "x"], "/v1/orders?attention=x"],
  [["orders", "totals", "--status", "x"], "/v1/orders/totals?status=x"],
  [["orders", "list", "--from", "x"], "/v1/orders?from=x"],
  [
    ["orders", "list", "--from", "2026-11-02", "--to", "2026-11-01"],
    "/v1/orders?from=2026-11-02&to=2026-11-01",
  ],
  [["users", "show", "NONE"], "/v1/users/NONE"],
  [["deliveries", "show", "NONE"], "/v1/deliveries/NONE"],
  [["month", "show", "x"], "/v1/months/x"],
  [
    ["month", "show", "2026-09", "--recompute"],
    "/v1/months/2026-09/recomputation",
  ],
  [["subscriptions", "retry", "none"], "/v1/subscriptions/none/retry", {}],
  [
    ["subscriptions", "fire", "none", "--historic"],
    "/v1/subscriptions/none/fire-historic",
    {},
  ],
  [["month", "close", "2026-09"], "/v1/months/2026-09/close", {}],
  [
    ["note", "order", success, "--acknowledge", "--by", " "],
    "/v1/notes",
    { entity: "order", id: success, action: "acknowledge", by: " " },
  ],
  [
    ["release", "NONE", "--refunded", "--by", " ", "--why", "x"],
    "/v1/orders/NONE/released",
    { outcome: "refunded", by: " ", why: "x" },
  ],
  [
    ["note", "user", "NONE", "--text", "x", "--by", "Ada"],
    "/v1/notes",
    { entity: "user", id: "NONE", text: "x", by: "Ada" },
  ],
];

/** Texts: the operation, the command that prints it, and the path. */
const WRITTEN_ALIKE: readonly (readonly [
  string,
  readonly string[],
  string,
])[] = [
  ["exportOrders", ["orders", "export"], "/v1/orders/export"],
  [
    "exportOrders",
    [
      ...["orders", "export", "--trust", "all", "--format", "ndjson"],
      ...["--status", "success"],
    ],
    "/v1/orders/export?trust=all&format=ndjson&status=success",
  ],
  [
    "exportOrders",
    ["orders", "export", "--totals", "--trust", "all"],
    "/v1/orders/export?totals=true&trust=all",
  ],
  ...["orders.csv", "booked.csv", "totals.csv", "summary.json", "items.csv"]
    .map((file) =>
      [
        "getMonthFile",
        [
          ...["month", "show", "2026-11", "--file", file],
          ...["--console-url", "https://console.example"],
        ],
        `/v1/months/2026-11/files/${file}?consoleUrl=https://console.example`,
      ] as const
    ),
];

/** Where what was done is seen. */
const SEEN_AFTER: readonly (readonly string[])[] = [
  ["subscriptions", "list"],
  ["orders", "show", success],
  ["ledger", "stats"],
];

/** Operations that ask the service: they are compared apart. */
const ASKING = ["createSession"];

/** What needs a closed month: it is compared apart. */
const OF_CLOSED = ["recomputeMonth"];

/** Operations that no command has, or that are compared elsewhere. */
const OTHERS = [
  ...["getHealth", "getStatus", "getEvidence"],
  ...["readTransitions", "pollNow", "readOrder", "takeNote", "lookAtChain"],
];

/** Runs a command at the time of the ledger. */
async function ran(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  let out = "";
  let err = "";
  const code = await main(args, {
    out: (text) => out += text,
    err: (text) => err += text,
    env: (name) => env[name],
    columns: null,
    colour: false,
    worker: false,
    now: () => ODD_NOW_MS,
    signal: new AbortController().signal,
  });
  return { code, out, err };
}

async function printed(
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<unknown[]> {
  const all = [...args, "--json", "--database-url", url];
  const { code, out, err } = await ran(all, env);
  // A comparison that differs has its own.
  assert.ok(code === 0 || code === 3, err + out);
  return out.trim().split("\n").filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** A ledger with everything odd in it, and a subscription that takes nothing. */
async function filled(url: string): Promise<Ledger> {
  const ledger = await oddLedger(undefined, url);
  const goods = await ledger.subscribe(
    "goods",
    { on: "order.*.*", from: "start", start: false, maxAttempts: 1 },
    () => {
      throw new Error("HTTP 500");
    },
  );
  await goods.dispatch();
  await goods.stop();
  // Nobody is told of what an import brings until somebody fires it.
  await using other = await oddLedger([oddReading(IMPORTED, "success", 30)]);
  await ledger.import(other.export());
  await ledger.project();
  await addNote(ledger.driver, {
    ...{ entity: "order", entityId: success, action: "note", reasons: [] },
    ...{ text: "told the customer", author: "Ada" },
  }, ODD_NOW_MS);
  return ledger;
}

function open(url: string) {
  return openLedger({
    url,
    environment: "sandbox",
    worker: false,
    now: () => ODD_NOW_MS,
  });
}

Deno.test("every operation of the API is compared with its command, or has none", () => {
  const compared = [...ALIKE, ...DONE_ALIKE, ...WRITTEN_ALIKE]
    .map(([name]) => name);
  assert.deepEqual(
    API_ROUTES.map(({ operationId }) => operationId).toSorted(),
    [...new Set([...compared, ...OF_CLOSED, ...ASKING, ...OTHERS])].toSorted(),
  );
});

Deno.test("command line and API answer alike what is asked of a ledger", async () => {
  await using file = await temporaryLedger();
  await using _ = await filled(file.url);
  await using api = await testApi({
    ledger: await open(file.url),
    now: () => ODD_NOW_MS,
  });
  const [first] = await printed(file.url, ["deliveries", "list"]);
  const { id } = first as { id: string };
  for (const [name, args, path] of ALIKE) {
    const answer = await api.get(path.replace("ID", id));
    assert.equal(answer.status, 200, path);
    const body = await answer.json();
    const shown = await printed(
      file.url,
      args.map((arg) => arg === "ID" ? id : arg),
    );
    assert.deepEqual(shown, body.items ?? [body], name);
    assert.ok(shown.length > 0 || name === "listMonths", name);
  }
});

Deno.test("command line and API write the same texts", async () => {
  await using file = await temporaryLedger();
  await using _ = await filled(file.url);
  await using api = await testApi({
    ledger: await open(file.url),
    now: () => ODD_NOW_MS,
  });
  for (const [name, args, path] of WRITTEN_ALIKE) {
    const answer = await api.get(path);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    const { code, out, err } = await ran([...args, "--database-url", file.url]);
    assert.equal(code, 0, err);
    assert.equal(out, text, name);
    assert.ok(text.trim().split("\n").length > 1, `${name}: ${text}`);
    const type = /\.json|ndjson/.test(path) ? /json/ : /^text\/csv/;
    assert.match(answer.headers.get("content-type") ?? "", type, path);
    const { body } = await api.fetch(
      new Request(`http://127.0.0.1:8789${path}`, {
        method: "HEAD",
        headers: { authorization: `Bearer ${READ}` },
      }),
    );
    assert.equal(body, null, path);
  }
});

Deno.test("command line and API say the same of a closed month that is worked out again", async () => {
  await using file = await temporaryLedger();
  await using ledger = await filled(file.url);
  const terms = {
    timeZone: "UTC",
    bookBy: "created",
    beforeEnd: true,
  } as const;
  await ledger.months.close("2026-11", terms);
  await ledger.project();
  await using api = await testApi({
    ledger: await open(file.url),
    now: () => ODD_NOW_MS,
  });
  const answer = await api.get("/v1/months/2026-11/recomputation");
  assert.equal(answer.status, 200);
  const recompute = ["month", "show", "2026-11", "--recompute"];
  assert.deepEqual(await printed(file.url, recompute), [await answer.json()]);
});

Deno.test("command line and API do alike what is done to a ledger", async () => {
  for (const [name, args, path, body] of DONE_ALIKE) {
    await using one = await temporaryLedger();
    await using other = await temporaryLedger();
    for (const { url } of [one, other]) {
      await using _ = await filled(url);
    }
    const [shown] = await printed(one.url, args);
    await using api = await testApi({
      ledger: await open(other.url),
      now: () => ODD_NOW_MS,
    });
    const answer = await api.post(path, body);
    const told = await answer.json();
    assert.equal(answer.status, 200, `${name}: ${JSON.stringify(told)}`);
    assert.deepEqual(without(shown), without(told), name);
    for (const asked of SEEN_AFTER) {
      assert.deepEqual(
        (await printed(one.url, asked)).map(without),
        (await printed(other.url, asked)).map(without),
        `${asked.join(" ")} after ${name}`,
      );
    }
  }
});

Deno.test("command line and API ask the service alike, and record the same", async () => {
  // Its clock stands still, so that both are told the same times.
  const clock = virtualClock(ODD_NOW_MS - 60_000, { wire: realClock() });
  await using sandbox = createSandbox({ clock });
  for (let order = 0; order < 3; order++) sandbox.createOrder();
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    sandbox.fetch,
  );
  const baseUrl = `http://127.0.0.1:${server.addr.port}`;
  const env = {
    RAMPKIT_API_KEY: sandbox.apiKey,
    RAMPKIT_BASE_URL: baseUrl,
  };
  const lists = () =>
    new OnrampClient({
      environment: { ...resolveEnvironment("sandbox"), baseUrl },
      apiKey: sandbox.apiKey,
      requestsPerSecond: 1000,
    });
  const asked: readonly (readonly [
    readonly string[],
    string,
    Readonly<Record<string, unknown>>?,
  ])[] = [
    [
      [
        ...["session", "create", "--commodity", "TT", "--network", "amoy"],
        ...["--click", "c-7", "--reference", "basket-7"],
        ...["--expect-currency", "USD", "--expect-currency-amount", "25.00"],
        ...["--valid-for", "12h"],
      ],
      "/v1/sessions",
      {
        ...{ commodity: "TT", network: "amoy", clickId: "c-7" },
        reference: "basket-7",
        expected: { currency: "USD", currencyAmount: "25.00" },
        validForMs: 43_200_000,
      },
    ],
  ];
  for (const [args, path, body] of asked) {
    await using one = await temporaryLedger();
    await using other = await temporaryLedger();
    await using api = await testApi({
      ledger: await open(other.url),
      now: () => ODD_NOW_MS,
      sessions: lists().sessions,
    });
    const [shown] = await printed(one.url, args, env);
    const answer = await api.post(path, body);
    assert.deepEqual(without(shown), without(await answer.json()), path);
    for (const look of [["ledger", "stats"], ["orders", "list"]]) {
      assert.deepEqual(
        (await printed(one.url, look)).map(without),
        (await printed(other.url, look)).map(without),
        `${look.join(" ")} after ${path}`,
      );
    }
  }
});

Deno.test("command line and API refuse in the same words", async () => {
  await using file = await temporaryLedger();
  await using _ = await filled(file.url);
  await using api = await testApi({
    ledger: await open(file.url),
    now: () => ODD_NOW_MS,
  });
  for (const [args, path, body] of REFUSED_ALIKE) {
    const answer = body === undefined
      ? await api.get(path)
      : await api.post(path, Object.keys(body).length === 0 ? undefined : body);
    const { detail } = await answer.json();
    assert.ok(answer.status >= 400, path);
    const all = [...args, "--json", "--database-url", file.url];
    const { code, err: said } = await ran(all);
    assert.equal(code, answer.status === 400 ? 2 : 1, path);
    const { error } = JSON.parse(said);
    // Flags and operands are named as what they are.
    assert.equal(
      error.message.replaceAll(/--|[<>]/g, ""),
      detail.replaceAll("--", ""),
    );
  }
});

/** Without what each ledger mints anew. */
function without(value: unknown): unknown {
  const text = JSON.stringify(
    value,
    (key, one) => /^(id|.*[iI]ds?|hash)$/.test(key) ? undefined : one,
  );
  return JSON.parse(text ?? "null");
}
