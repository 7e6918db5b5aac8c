import assert from "node:assert/strict";
import { openLedger, orderSnapshot } from "../ledger/mod.ts";
import { cli, temporaryLedger } from "./_cli.ts";

/** Makes a ledger without events. */
async function emptyLedger(
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<void> {
  const file = `${folder}/none.ndjson`;
  await Deno.writeTextFile(file, "");
  const made = await cli(["webhook", "replay", file, "--database-url", url]);
  assert.equal(made.code, 0, made.err);
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

Deno.test("every reading command works on an empty ledger", async () => {
  await using ledger = await temporaryLedger();
  await emptyLedger(ledger);
  for (const args of READERS) {
    const { code, err } = await cli([...args, "--database-url", ledger.url]);
    assert.equal(code, 0, `${args.join(" ")}: ${err}`);
    assert.equal(err, "", args.join(" "));
  }
});

Deno.test("a reading command makes no ledger where there is none, and says so", async () => {
  await using ledger = await temporaryLedger();
  const evidence = ["ledger verify", "ledger export"];
  for (const args of [...READERS, ["doctor"]]) {
    const name = args.join(" ");
    const ran = await cli([...args, "--database-url", ledger.url]);
    if (name === "doctor") assert.match(ran.out, /There is none yet: file:/);
    else {
      assert.equal(ran.code, evidence.includes(name) ? 1 : 0, name);
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
    ["sim"],
    ["bench"],
    ["ledger", "backup", "x.db"],
    ["ledger", "import", "x.ndjson"],
    ["orders", "show", "id"],
    ["orders", "explain", "id"],
    ["users", "show", "id"],
    ["webhook", "replay", "x.ndjson"],
    ["webhook", "parse", "x.ndjson"],
    ["webhook", "send", "{}"],
    ["subscriptions", "retry", "name", "key"],
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
      ["ledger", "import"],
      ["webhook", "replay"],
      ["webhook", "parse"],
      ["recover"],
      ["subscriptions", "retry"],
      ["subscriptions", "drop", "name"],
    ]
  ) {
    const { code, err } = await cli(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(err, /missing required argument|required option/);
  }
});

Deno.test("a file that is not there is one line and exit code 1", async () => {
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

Deno.test("a path that is wrong is named, whichever side of it is wrong", async () => {
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

Deno.test("orders list says so when a status is none of the documented ones", async () => {
  await using ledger = await temporaryLedger();
  await emptyLedger(ledger);
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const wrong = await cli(["orders", "list", "--status", "done"], env);
  assert.deepEqual([wrong.code, wrong.out], [0, "No orders match\n"]);
  assert.match(wrong.err, /^"done" is none of created, .*success/);
  assert.equal(
    (await cli(["orders", "list", "--status", "failed"], env)).err,
    "",
  );
});

Deno.test("orders export takes in the first moment of --from and all of the day of --to", async () => {
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
    });
    await stored.append(times.map((created_at, index) =>
      orderSnapshot({
        source: JSON.stringify({
          order_id: `order-${index}`,
          status: "success",
          created_at,
        }),
        readAt: "2026-12-02T00:00:00.000Z",
        recordedAt: "2026-12-02T00:00:00.000Z",
        salt: new Uint8Array(16),
      })
    ));
  }
  const { out } = await cli([
    ...["orders", "export", "--from", "2026-11-01", "--to", "2026-11-30"],
    ...["--database-url", ledger.url],
  ]);
  assert.deepEqual(out.match(/order-\d/g)?.sort(), ["order-0", "order-1"]);
});

Deno.test("an export comes back through import as the same ledger", async () => {
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

Deno.test("ledger backup makes a copy that verifies, and never overwrites", async () => {
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
