import { orderSnapshot } from "../../ledger/testing/mod.ts";
import assert from "node:assert/strict";
import { main } from "../../cli/mod.ts";
import { openLedger } from "../../ledger/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

/** Makes a ledger without events. */
async function emptyLedger(
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<void> {
  const file = `${folder}/none.ndjson`;
  await Deno.writeTextFile(file, "");
  const made = await cli(["webhook", "replay", file, "--database-url", url]);
  assert.equal(made.code, 0, made.err);
}

/** A reading of the service. */
function snapshot(
  order: Record<string, string>,
): ReturnType<typeof orderSnapshot> {
  return orderSnapshot({
    source: JSON.stringify(order),
    readAt: "2026-12-02T00:00:00.000Z",
    recordedAt: "2026-12-02T00:00:00.000Z",
    salt: new Uint8Array(16),
  });
}

/** Commands that need nothing but a ledger, and one good way to call each. */
const READERS = [
  ["orders", "list"],
  ["orders", "export"],
  ["users", "list"],
  ["ledger", "verify"],
  ["ledger", "stats"],
  ["ledger", "refold", "--dry-run"],
  ["ledger", "export"],
  ["subscriptions", "list"],
  ["subscriptions", "fire"],
];

Deno.test("rampkit reads an empty ledger with every reading command", async () => {
  await using ledger = await temporaryLedger();
  await emptyLedger(ledger);
  for (const args of READERS) {
    const { code, err } = await cli([...args, "--database-url", ledger.url]);
    assert.equal(code, 0, `${args.join(" ")}: ${err}`);
    assert.equal(err, "", args.join(" "));
  }
});

Deno.test("rampkit creates no ledger when a reading command finds none, and says so", async () => {
  await using ledger = await temporaryLedger();
  const more = [["find", "x"], ["attention"], ["month", "list"], ["doctor"]];
  for (const args of [...READERS, ...more]) {
    const name = args.join(" ");
    const ran = await cli([...args, "--database-url", ledger.url]);
    if (name === "doctor") assert.match(ran.out, /There is none yet: file:/);
    else {
      assert.deepEqual([ran.code, ran.out], [2, ""], name);
      assert.match(ran.err, /^No ledger at file:.*--database-url.*\n$/, name);
    }
    assert.deepEqual([...Deno.readDirSync(ledger.folder)], [], name);
  }
});

Deno.test("every command refuses an argument or a flag too many with exit code 2", async () => {
  const commands = [
    ...READERS,
    ["serve"],
    ["poll"],
    ["reconcile"],
    ["recover", "--from", "2026-11-20"],
    ["session", "create"],
    ["sandbox"],
    ["demo"],
    ["doctor"],
    ["machine", "order"],
    ["sim"],
    ["bench"],
    ["ledger", "backup", "x.db"],
    ["ledger", "restore", "x.db"],
    ["ledger", "import", "x.ndjson"],
    ["orders", "show", "id"],
    ["orders", "explain", "id"],
    ["users", "show", "id"],
    ["webhook", "replay", "x.ndjson"],
    ["webhook", "parse", "x.ndjson"],
    ["webhook", "send", "{}"],
    ["subscriptions", "retry", "name", "key"],
    ["subscriptions", "resume", "name"],
  ];
  for (const args of commands) {
    const flag = await cli([...args, "--no-such-flag"]);
    assert.equal(flag.code, 2, `${args.join(" ")} --no-such-flag`);
    assert.match(flag.err, /no-such-flag/);
    if (args.join(" ") === "subscriptions fire") continue; // takes any number
    const more = await cli([...args, "one-too-many"]);
    assert.equal(more.code, 2, `${args.join(" ")} one-too-many: ${more.err}`);
  }
});

Deno.test("every command with a needed argument says which one is missing", async () => {
  for (
    const args of [
      ["orders", "show"],
      ["orders", "explain"],
      ["users", "show"],
      ["ledger", "backup"],
      ["ledger", "restore"],
      ["ledger", "import"],
      ["webhook", "replay"],
      ["webhook", "parse"],
      ["recover"],
      ["subscriptions", "retry"],
      ["subscriptions", "drop", "name"],
      ["subscriptions", "resume"],
    ]
  ) {
    const { code, err } = await cli(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(err, /missing required argument|required option|^Missing --/);
  }
});

Deno.test("rampkit prints one line and exits with code 1 when a file is missing", async () => {
  await using ledger = await temporaryLedger();
  for (
    const args of [
      ["webhook", "parse", "/nonexistent.ndjson"],
      [
        "webhook",
        "replay",
        "/nonexistent.ndjson",
        "--database-url",
        ledger.url,
      ],
      ["ledger", "import", "/nonexistent.ndjson", "--database-url", ledger.url],
    ]
  ) {
    const { code, err } = await cli(args);
    assert.equal(code, 1, args.join(" "));
    assert.match(err, /^Cannot read \/nonexistent\.ndjson: .*no such file\n$/);
  }
});

Deno.test("rampkit names a wrong path, whichever part of it is wrong", async () => {
  await using ledger = await temporaryLedger();
  await emptyLedger(ledger);
  for (
    const [args, message] of [
      [["webhook", "parse", "/tmp"], /^Cannot read \/tmp: it is a folder\n$/],
      [
        ["ledger", "backup", "/none/x.db"],
        /^Cannot write \/none\/x\.db: there/,
      ],
      [
        ["ledger", "export", "--output", "/none/x"],
        /^Cannot write \/none\/x: th/,
      ],
      [["ledger", "backup", "/tmp"], /^Cannot write \/tmp: it exists already/],
    ] as const
  ) {
    const { code, err } = await cli(args, { RAMPKIT_DATABASE_URL: ledger.url });
    assert.equal(code, 1, args.join(" "));
    assert.match(err, message);
  }
});

Deno.test("rampkit names the possible values when a filter is mistyped", async () => {
  await using ledger = await temporaryLedger();
  await emptyLedger(ledger);
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  for (
    const [flags, message] of [
      [
        ["--status", "done"],
        /^Wrong --status: "done" is not one of created, .*s/,
      ],
      [["--anomaly", "nonsense"], /^Wrong --anomaly: "nonsense" .*contested/],
      [["--trust", "sure"], /--trust.*sure.*confirmed/],
      [["--release", "maybe"], /^Wrong --release: "maybe" .*unchecked/],
      [["--reason", "maybe"], /^Wrong --reason: "maybe" .*several_match/],
    ] as const
  ) {
    for (const command of ["list", "export"]) {
      const ran = await cli(["orders", command, ...flags], env);
      assert.deepEqual([ran.code, ran.out], [2, ""], flags.join(" "));
      assert.match(ran.err, message);
    }
  }
  for (
    const command of [["attention", "nonsense"], [
      "orders",
      "list",
      "--attention",
      "nonsense",
    ]]
  ) {
    const ran = await cli(command, env);
    assert.deepEqual([ran.code, ran.out], [2, ""], command.join(" "));
    assert.match(ran.err, /nonsense.*refund_due/s);
  }
  for (const flags of [["--status", "failed"], ["--anomaly"]]) {
    const ran = await cli(["orders", "list", ...flags], env);
    assert.deepEqual(ran, { code: 0, out: "No orders match\n", err: "" });
  }
});

Deno.test("rampkit orders list takes a status that is not documented once an order has it", async () => {
  await using ledger = await temporaryLedger();
  {
    await using stored = await openLedger({
      url: ledger.url,
      environment: "sandbox",
      worker: false,
    });
    await stored.append([snapshot({ order_id: "order-1", status: "paused" })]);
  }
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const { code, out } = await cli(
    ["orders", "list", "--status", "paused"],
    env,
  );
  assert.equal(code, 0);
  assert.match(out, /order-1/);
});

Deno.test("rampkit orders export leaves out what is only claimed, and says how much", async () => {
  await using ledger = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const bodies = `${ledger.folder}/bodies.ndjson`;
  const forged = (id: string) =>
    `{"type":"order_complete","order":{"id":"${id}","quote":"USD","quote_amount":"9000"}}\n`;
  await Deno.writeTextFile(bodies, forged("forged-1") + forged("forged-2"));
  await cli(["webhook", "replay", bodies], env);
  {
    await using stored = await openLedger({ url: ledger.url, worker: false });
    await stored.append([snapshot({ order_id: "order-1", status: "success" })]);
  }
  const ids = (text: string) => text.match(/(order|forged)-\d/g)?.sort();
  const plain = await cli(
    ["orders", "export", "--status", "success"],
    env,
  );
  assert.deepEqual(ids(plain.out), ["order-1"]);
  assert.match(plain.err, /^Left out: 2 orders that only webhooks claim.*all/);
  const totals = await cli(["orders", "export", "--totals"], env);
  assert.doesNotMatch(totals.out, /9000|claimed/);
  const all = await cli(["orders", "export", "--trust", "all"], env);
  assert.deepEqual(ids(all.out), ["forged-1", "forged-2", "order-1"]);
  assert.equal(all.err, "");
  const claimed = await cli(["orders", "export", "--trust", "claimed"], env);
  assert.deepEqual(ids(claimed.out), ["forged-1", "forged-2"]);
  assert.match(claimed.err, /^Left out: 1 order that the service/);
});

Deno.test("rampkit orders export takes in the first moment of --from and all of the day of --to", async () => {
  await using ledger = await temporaryLedger();
  const times = [
    "2026-11-01 00:00:00",
    "2026-11-30 23:59:59",
    "2026-10-31 23:59:59",
    "2026-12-01 00:00:00",
  ];
  {
    await using stored = await openLedger({
      url: ledger.url,
      environment: "sandbox",
      worker: false,
    });
    await stored.append(
      times.map((created_at, index) =>
        snapshot({ order_id: `order-${index}`, status: "success", created_at })
      ),
    );
  }
  const { out } = await cli([
    ...["orders", "export", "--from", "2026-11-01", "--to", "2026-11-30"],
    ...["--database-url", ledger.url],
  ]);
  assert.deepEqual(out.match(/order-\d/g)?.sort(), ["order-0", "order-1"]);
});

Deno.test("rampkit ledger import makes the same ledger from an export", async () => {
  await using one = await temporaryLedger();
  await using two = await temporaryLedger();
  const bodies = `${one.folder}/bodies.ndjson`;
  await Deno.writeTextFile(
    bodies,
    `{"type":"order_complete","order":{"id":"o-1"}}\nno JSON\n{"type":"login"}\n`,
  );
  const replayed = await cli([
    "webhook",
    "replay",
    bodies,
    "--json",
    "--database-url",
    one.url,
  ]);
  assert.deepEqual(JSON.parse(replayed.out), {
    replayed: 3,
    unrecognised: 1,
    refusedLines: [],
    position: 3,
  });
  const exported = await cli(["ledger", "export", "--database-url", one.url]);
  const file = `${two.folder}/events.ndjson`;
  await Deno.writeTextFile(file, exported.out);
  const imported = await cli([
    "ledger",
    "import",
    file,
    "--json",
    "--database-url",
    two.url,
  ]);
  assert.equal(JSON.parse(imported.out).imported, 3, imported.err);
  const again = await cli(["ledger", "export", "--database-url", two.url]);
  assert.equal(again.out, exported.out);
  const shown = await cli([
    "orders",
    "show",
    "o-1",
    "--json",
    "--database-url",
    two.url,
  ]);
  assert.equal(JSON.parse(shown.out).status, "success");
});

Deno.test("rampkit ledger backup makes a copy that verifies, and never overwrites", async () => {
  await using ledger = await temporaryLedger();
  await emptyLedger(ledger);
  const copy = `${ledger.folder}/copy.db`;
  const first = await cli([
    "ledger",
    "backup",
    copy,
    "--database-url",
    ledger.url,
  ]);
  assert.equal(first.code, 0, first.err);
  const verified = await cli([
    "ledger",
    "verify",
    "--database-url",
    `file:${copy}`,
  ]);
  assert.equal(verified.code, 0, verified.err);
  assert.deepEqual(
    [...Deno.readDirSync(ledger.folder)].filter(({ name }) =>
      name.endsWith(".partial")
    ),
    [],
  );
  const second = await cli([
    "ledger",
    "backup",
    copy,
    "--database-url",
    ledger.url,
  ]);
  assert.equal(second.code, 1);
  assert.match(second.err, /copy\.db/);
});

Deno.test("main() reads the settings once a command", async () => {
  await using ledger = await temporaryLedger();
  await emptyLedger(ledger);
  const commands = [
    ...READERS,
    ["expect", "--click", "c", "--currency", "USD"],
    ["ledger", "import", `${ledger.folder}/none.ndjson`],
    ["ledger", "backup", `${ledger.folder}/copy.db`],
    ["ledger", "restore", `${ledger.folder}/copy.db`],
    ["doctor"],
    ["poll", "--once"],
  ];
  const reads: Record<string, number> = {};
  for (const args of commands) {
    const variables: Record<string, string> = {
      RAMPKIT_DATABASE_URL: ledger.url,
      // Nothing answers there: what matters is how often settings are read.
      RAMPKIT_BASE_URL: "http://127.0.0.1:9",
    };
    let count = 0;
    await main(args, {
      out: () => {},
      err: () => {},
      env: (name) => {
        if (name === "RAMPKIT_DATABASE_URL") count++;
        return variables[name];
      },
      columns: null,
      colour: false,
      worker: false,
      now: () => Date.now(),
      signal: new AbortController().signal,
    });
    reads[args.join(" ")] = count;
  }
  assert.deepEqual(
    Object.entries(reads).filter(([, count]) => count !== 1),
    [],
  );
});
