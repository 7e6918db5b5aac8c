import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { ulid } from "ulid";
import { temporaryFolder } from "../tests/kit/temporary_folder.ts";
import { readDeliveryPage } from "./queries/deliveries.ts";
import { openLedger } from "./open_ledger.ts";
import { identifierBody, IDENTIFIERS } from "../tests/kit/identifier_bodies.ts";

/** A body with a text of so many characters, of which none is like another. */
type Hostile = (text: string, at: number) => Record<string, unknown>;

/** Where a stranger may put a long text. */
const HOSTILE: Readonly<Record<string, Hostile>> = {
  "an order id": (text) => ({ type: "order_complete", order: { id: text } }),
  "a click id": (text, at) => ({
    type: "order_complete",
    click_id: text,
    order: { id: `order-${at}` },
  }),
  "an external id": (text, at) => ({
    type: "order_complete",
    order: { id: `order-${at}`, external_order_id: text },
  }),
  "a session": (text, at) => ({
    type: "order_complete",
    hpp_session_id: text,
    order: { id: `order-${at}` },
  }),
  "a user id": (text) => ({ type: "login", user: { user_id: text } }),
  "a type": (text, at) => ({ type: text, order: { id: `order-${at}` } }),
  "an address": (text, at) => ({
    type: "order_complete",
    order: { id: `order-${at}`, address: text },
  }),
  "a contract's input": (text, at) => ({
    type: "order_complete",
    order: { id: `order-${at}`, partner_data: { sc_input_data: text } },
  }),
  "a detail": (text, at) => ({
    type: "otp_status",
    user_id: `user-${at}`,
    status: "failed",
    status_detail: text,
  }),
};

/** Bytes that the ledger's file takes for some deliveries. */
async function bytesOnDisk(
  bodies: readonly Uint8Array<ArrayBuffer>[],
): Promise<number> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/ledger.db`;
  const open = () =>
    openLedger({ url: `file:${path}`, environment: "sandbox" });
  await (await open()).close();
  const before = (await stat(path)).size;
  const ledger = await open();
  for (const body of bodies) {
    await ledger.appendDelivery({
      id: ulid(),
      receivedAt: "2026-11-20T12:00:00.000Z",
      body,
    });
  }
  await ledger.project();
  await ledger.chain();
  await ledger.close();
  return (await stat(path)).size - before;
}

for (const [name, hostile] of Object.entries(HOSTILE)) {
  Deno.test(`appendDelivery() takes at most 3 bytes a byte and 8 KiB a body for ${name} of any length`, async () => {
    for (const [length, count] of [[900, 60], [20_000, 20], [400_000, 3]]) {
      const bodies = Array.from({ length: count ?? 0 }, (_, at) => {
        const text = `${at}-`.padEnd(length ?? 0, "x");
        return new TextEncoder().encode(JSON.stringify(hostile(text, at)));
      });
      const received = bodies.reduce((sum, { length }) => sum + length, 0);
      const taken = await bytesOnDisk(bodies);
      assert.ok(
        taken <= 3 * received + 8192 * bodies.length,
        `${taken} bytes for ${bodies.length} bodies of ${length} characters`,
      );
    }
  });
}

/** Which identifiers of a body are new: one, or all five. */
const NEW = [...IDENTIFIERS.map((name) => [name]), IDENTIFIERS];

/** Characters of a new identifier, how many it has, and what is new. */
const FLOODS: readonly (readonly [string, number, readonly string[]])[] = [
  "x",
  "\u754c",
].flatMap((character) => [
  ...[1, 10, 100].map((length) => [character, length, IDENTIFIERS] as const),
  ...NEW.map((names) => [character, 256, names] as const),
]);

/**
 * Bytes for each byte of identifiers beyond the bound, where all five are long
 * and of characters of three bytes: each stands in the event twice, in a state,
 * and in what it is found by, and a row of theirs fills a page by itself.
 */
const MOST_BEYOND = 2;

for (const [character, length, names] of FLOODS) {
  const bytes = length * new TextEncoder().encode(character).length;
  const isLongest = names === IDENTIFIERS && bytes >= 300;
  Deno.test(
    `appendDelivery() takes at most 3 bytes a byte and 8 KiB a body for a new ${
      names.join(", ")
    } of ${length} characters, ${bytes} bytes`,
    async () => {
      const bodies = Array.from(
        { length: 60 },
        (_, at) => identifierBody({ at, names, length, character }),
      );
      const received = bodies.reduce((sum, { length }) => sum + length, 0);
      const beyond = isLongest ? MOST_BEYOND * bytes * names.length : 0;
      const taken = await bytesOnDisk(bodies);
      const bound = 3 * received + (8192 + beyond) * bodies.length;
      assert.ok(taken <= bound, `${taken} bytes, and at most ${bound}`);
    },
  );
}

Deno.test("appendDelivery() keeps a body with long identifiers, and leaves their columns empty", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const long = "x".repeat(257);
  const body = new TextEncoder().encode(JSON.stringify({
    type: "order_complete",
    click_id: long,
    order: { id: long },
    user: { user_id: long },
  }));
  await ledger.appendDelivery({
    id: ulid(),
    receivedAt: "2026-11-20T12:00:00.000Z",
    body,
  });
  const [found] = (await readDeliveryPage(ledger.driver, {})).deliveries;
  assert.equal(found?.bytes, body.length);
  assert.equal(found.type, "order_complete");
  assert.deepEqual(
    [found.orderId, found.userId, found.clickId],
    [null, null, null],
  );
});
