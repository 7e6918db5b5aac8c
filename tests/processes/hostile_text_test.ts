import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { cli, type Ran, temporaryLedger } from "../kit/cli.ts";

/** What a forged webhook may name an order, a user or a click. */
const IDS = [
  "x;touch pwned",
  "$(touch pwned)",
  "`touch pwned`",
  "'; touch pwned; '",
  "\\'; touch pwned #",
  "line\nrampkit ledger erase; touch pwned",
  "\u001b[2J\u001b]0;title\u0007",
  "csi\u009b31m",
  "back\u202efdp.exe",
  "isolate\u2066\u2069\u200fmark",
  "--json",
  "=HYPERLINK(1)",
  "@SUM(A1)",
  "\t=cmd",
  "-1+1",
];

/** Everything but what prints as itself; line ends aside. */
const RAW =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

function printsNothingRaw(ran: Ran, what: string): void {
  for (const text of [ran.out, ran.err]) {
    const raw = RAW.exec(text.replaceAll("\r\n", "\n"));
    assert.equal(raw, null, `${what}: ${JSON.stringify(text.slice(0, 400))}`);
  }
}

async function hostileLedger(): Promise<
  & { url: string; env: Record<string, string>; folder: string; bodies: string }
  & AsyncDisposable
> {
  const ledger = await temporaryLedger();
  const bodies = `${ledger.folder}/bodies.ndjson`;
  await Deno.writeTextFile(
    bodies,
    IDS.flatMap((id) =>
      ["order_complete", "order_failed"].map((type) =>
        JSON.stringify({
          type,
          click_id: id,
          order: {
            id,
            base: id,
            base_amount: "1",
            quote: id,
            quote_amount: id,
            address: id,
            transaction_id: id,
            error_code: id,
          },
          user: { user_id: id, verification_status: id },
        })
      )
    ).concat(
      IDS.map((id) => JSON.stringify({ type: id, order: { id: "same" } })),
      ["one", "two"].map((id) =>
        JSON.stringify({
          type: "order_complete",
          click_id: "\u001bshared",
          order: { id: `${id}\u001b` },
        })
      ),
    ).join("\n"),
  );
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const ran = await cli(["webhook", "replay", bodies], env);
  assert.equal(ran.code, 0, ran.err);
  return { ...ledger, env, bodies };
}

Deno.test("rampkit prints no control sequences, whatever a webhook contains", async () => {
  await using ledger = await hostileLedger();
  {
    await using opened = await openLedger({
      url: ledger.url,
      worker: false,
    });
    const subscription = await opened.subscribe(
      "goods",
      { on: "order.*.*", maxAttempts: 1, from: "start" },
      ({ id }) => {
        throw new Error(`No such basket: ${id}`);
      },
    );
    await subscription.dispatch();
    await subscription.stop();
  }
  const commands = [
    ["orders", "list", "--limit", "0"],
    ["orders", "list", "--json"],
    ["orders", "export", "--trust", "all"],
    ["orders", "export", "--trust", "all", "--totals"],
    ["orders", "export", "--trust", "all", "--format", "ndjson"],
    ["users", "list"],
    ["users", "list", "--json"],
    ["subscriptions", "list"],
    ["subscriptions", "list", "--json"],
    ["subscriptions", "fire"],
    ["ledger", "refold", "--dry-run"],
    ["ledger", "verify"],
    ["deliveries", "list", "--limit", "0"],
    ["deliveries", "list", "--json"],
    ["doctor"],
    ["webhook", "parse", ledger.bodies],
    ["orders", "show", "\u001bshared"],
    ["orders", "show", "\u001b[31mnone\u202e"],
    ["orders", "list", "--from", "\u001b[31m"],
    ["orders", "list", "--no\u001b[31m"],
    // An id without such a character could not be printed with one.
    ...IDS.filter((id) => RAW.test(id) || id.includes("\n")).flatMap((id) => [
      ["orders", "show", "--", id],
      ["orders", "show", "--json", "--", id],
      ["orders", "explain", "--", id],
      ["users", "show", "--", id],
    ]),
  ];
  for (const args of commands) {
    printsNothingRaw(await cli(args, ledger.env), JSON.stringify(args));
  }
  const file = `${ledger.folder}/out.csv`;
  await cli(
    ["orders", "export", "--trust", "all", "--output", file],
    ledger.env,
  );
  const text = await Deno.readTextFile(file);
  printsNothingRaw({ code: 0, out: text, err: "" }, "CSV file");
  for (const cell of text.split(/[,\n]/)) assert.doesNotMatch(cell, /^"?[=+@]/);
});

/** Without SQLite's own, which go when a closed connection is collected. */
function filesOf(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => !/-(?:wal|shm)$/.test(name)).sort();
}

/** The arguments that bash gives the program when a line is pasted. */
async function pasted(line: string, folder: string): Promise<string[]> {
  const script = `rampkit() { printf '%s\\0' "$@"; }\n${line}`;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", 'exec bash -c "$1"', "sh", script],
    cwd: folder,
  }).output();
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

Deno.test("rampkit prints commands that are safe to paste and name the right order", async () => {
  await using ledger = await hostileLedger();
  const before = filesOf(ledger.folder);
  for (const id of IDS) {
    const shown = await cli(["orders", "show", "--", id], ledger.env);
    const line = shown.out.split("\n").findLast((text) =>
      text.startsWith("  rampkit ")
    );
    assert.ok(line !== undefined, `${id}: ${shown.out}${shown.err}`);
    const args = await pasted(line, ledger.folder);
    const explained = await cli(args, ledger.env);
    assert.equal(explained.code, 0, `${line}: ${explained.err}`);
    assert.equal(args.at(-1), id);
  }
  assert.deepEqual(filesOf(ledger.folder), before);
});
