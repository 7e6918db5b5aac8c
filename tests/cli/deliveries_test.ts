import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { hasShape } from "../kit/shape.ts";

const hostile = "\u001b[2J\u001b]0;owned\u0007<\u202eevil>\u009b31m\0\r\n";

/** Bodies as anybody may send them, with the id of each delivery. */
const BODIES: readonly (readonly [string, Uint8Array<ArrayBuffer>])[] = [
  ["order", `{"type":"order_complete","order":{"id":"order-1"}}`],
  ["text", `${hostile} no JSON`],
  ["bytes", new Uint8Array([0x1b, 0x5b, 0x32, 0x4a, 0xff, 0xfe, 0x00])],
  ["odd", `{"type":"${hostile.replace(/[^ -~]/g, "?")}\\u001b[2J","x":1}`],
  ["empty", ""],
  ["long", "[".repeat(100_000)],
].map(([id, body]) => [
  `01KD00000000000000000${`${id}`.toUpperCase().padStart(5, "0")}`,
  typeof body === "string"
    ? new TextEncoder().encode(body)
    : body as Uint8Array<ArrayBuffer>,
]);

async function received(url: string): Promise<void> {
  await using ledger = await openLedger({
    url,
    environment: "sandbox",
    worker: false,
  });
  for (const [id, body] of BODIES) {
    await ledger.appendDelivery({
      id,
      receivedAt: "2026-11-20T12:00:00.000Z",
      body,
    });
  }
  await ledger.project();
}

function isPlain(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/.test(text);
}

Deno.test("rampkit deliveries list --quarantined lists what is no JSON object, and show gives its exact bytes", async () => {
  await using ledger = await temporaryLedger();
  await received(ledger.url);
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const list = async (...flags: string[]) =>
    (await cli(["deliveries", "list", "--json", ...flags], env)).out.trim()
      .split("\n").map((line) => JSON.parse(line));
  const all = await list();
  assert.deepEqual(
    all.map(({ id }) => id),
    BODIES.map(([id]) => id).reverse(),
  );
  hasShape("delivery", all.at(-1));
  const quarantined = await list("--quarantined");
  assert.deepEqual(
    quarantined.map(({ id }) => id.replace(/^.*0/, "")),
    ["LONG", "EMPTY", "BYTES", "TEXT"],
  );
  assert.ok(quarantined.every((one) => one.quarantined && one.type === null));
  assert.equal((await list("--quarantined", "--limit", "2")).length, 2);

  for (const [id, body] of BODIES) {
    const { code, out, err } = await cli(
      ["deliveries", "show", id, "--json"],
      env,
    );
    assert.equal(code, 0, `${id} ${err}`);
    assert.ok(isPlain(out), "JSON on a terminal");
    const shown = JSON.parse(out);
    hasShape("delivery-detail", shown);
    assert.deepEqual(Uint8Array.fromBase64(shown.base64), body);
    assert.equal(shown.reasons.length > 0, id !== BODIES[0]?.[0]);
  }
});

Deno.test("rampkit deliveries list and show print nothing that a terminal obeys", async () => {
  await using ledger = await temporaryLedger();
  await received(ledger.url);
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const table = await cli(["deliveries", "list"], env);
  assert.ok(isPlain(table.out), JSON.stringify(table.out));
  assert.match(table.out, /\(quarantined\)/);
  for (const [id] of BODIES) {
    const { code, out, err } = await cli(["deliveries", "show", id], env);
    assert.equal(code, 0, `${id} ${err}`);
    assert.ok(isPlain(out), JSON.stringify(out));
    assert.ok(out.length < 10_000);
  }
  const missing = await cli(["deliveries", "show", "\u001b[2J"], env);
  assert.equal(missing.code, 1);
  assert.ok(isPlain(missing.err), JSON.stringify(missing.err));
});
