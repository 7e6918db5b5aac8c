import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { ulid } from "ulid";
import { temporaryFolder } from "../tests/kit/temporary_folder.ts";
import { LONGEST_IDENTIFIER } from "../core/wire/identifier.ts";
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

const environment = "sandbox";

/** Bytes of a ledger's file after some deliveries. */
async function bytesAfter(
  bodies: readonly Uint8Array<ArrayBuffer>[],
): Promise<number> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/ledger.db`;
  const url = `file:${path}`;
  const ledger = await openLedger({ url, environment, worker: false });
  await Promise.all(bodies.map((body) =>
    ledger.appendDelivery({
      id: ulid(),
      receivedAt: "2026-11-20T12:00:00.000Z",
      body,
    })
  ));
  await ledger.project();
  await ledger.chain();
  await ledger.close();
  return (await stat(path)).size;
}

/** Of a ledger that nobody has delivered to. */
const emptyBytes = await bytesAfter([]);

/** Bytes that the ledger's file takes for some deliveries. */
async function bytesOnDisk(
  bodies: readonly Uint8Array<ArrayBuffer>[],
): Promise<number> {
  return await bytesAfter(bodies) - emptyBytes;
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

/** Characters that take one byte, two, three and four. */
const CHARACTERS = ["x", "\u00e9", "\u754c", "\u{1f600}"];

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** What fills new identifiers, how many bytes each has, and what is new. */
const FLOODS: readonly (readonly [string, number, readonly string[]])[] =
  CHARACTERS.flatMap((character) => [
    ...[1, 30, 128].map((bytes) => [character, bytes, IDENTIFIERS] as const),
    ...NEW.map((names) => [character, LONGEST_IDENTIFIER, names] as const),
    // Too long for an identifier.
    [character, 3 * LONGEST_IDENTIFIER, IDENTIFIERS] as const,
  ]);

for (const [character, bytes, names] of FLOODS) {
  Deno.test(
    `appendDelivery() takes at most 3 bytes a byte and 8 KiB a body for a new ${
      names.join(", ")
    } of ${bytes} bytes of ${character}`,
    async () => {
      const length = Math.max(
        1,
        Math.floor(bytes * character.length / bytesOf(character)),
      );
      const bodies = Array.from(
        { length: 60 },
        (_, at) => identifierBody({ at, names, length, character }),
      );
      const received = bodies.reduce((sum, { length }) => sum + length, 0);
      const taken = await bytesOnDisk(bodies);
      const bound = 3 * received + 8192 * bodies.length;
      assert.ok(taken <= bound, `${taken} bytes, and at most ${bound}`);
    },
  );
}

Deno.test("appendDelivery() takes at most 3 bytes a byte and 8 KiB a body that says all a webhook can say at its longest", async () => {
  const bodies = Array.from({ length: 60 }, (_, at) => {
    const names = IDENTIFIERS;
    const length = LONGEST_IDENTIFIER;
    const body = JSON.parse(new TextDecoder().decode(
      identifierBody({ at, names, length, character: "x" }),
    ));
    const text = (name: string) => `${name}${at}-`.padEnd(128, "x");
    const state = { state: "success" };
    return new TextEncoder().encode(JSON.stringify({
      ...body,
      user: {
        ...body.user,
        verification_status: { fkyc: state, lkyc: state },
      },
      order: {
        ...body.order,
        ...{ base: text("base"), quote: text("quote") },
        ...{ base_amount: text("1"), quote_amount: text("2") },
        ...{ address: text("address"), transaction_id: text("0x") },
      },
    }));
  });
  const received = bodies.reduce((sum, { length }) => sum + length, 0);
  const taken = await bytesOnDisk(bodies);
  const bound = 3 * received + 8192 * bodies.length;
  assert.ok(taken <= bound, `${taken} bytes, and at most ${bound}`);
});

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
