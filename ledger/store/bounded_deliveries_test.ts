import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { ulid } from "ulid";
import { LONGEST_IDENTIFIER } from "../../core/wire/objects.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { readDeliveryPage } from "../reads/deliveries.ts";
import { openLedger } from "../open_ledger.ts";

/** A body with a text of so many characters, of which none is like another. */
type Hostile = (text: string, at: number) => Record<string, unknown>;

const environment = "sandbox";
const receivedAt = "2026-11-20T12:00:00.000Z";
const utf8 = new TextEncoder();

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
  "all that a webhook can say": (text, at) => ({
    type: "order_complete",
    click_id: `click-${text}`,
    hpp_session_id: `session-${text}`,
    user: {
      user_id: `user-${text}`,
      verification_status: {
        fkyc: { state: "success" },
        lkyc: { state: "success" },
      },
    },
    order: {
      ...{ id: `order-${text}`, external_order_id: `${at}-${text}` },
      ...{ base: `base-${text}`, quote: `quote-${text}` },
      ...{ base_amount: `1${text}`, quote_amount: `2${text}` },
      ...{ address: `address-${text}`, transaction_id: `0x${text}` },
    },
  }),
};

/** Bytes of a ledger's file after some deliveries. */
async function bytesAfter(
  bodies: readonly Uint8Array<ArrayBuffer>[],
): Promise<number> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/ledger.db`;
  const url = `file:${path}`;
  const ledger = await openLedger({ url, environment, worker: false });
  await Promise.all(
    bodies.map((body) =>
      ledger.appendDelivery({ id: ulid(), receivedAt, body })
    ),
  );
  await ledger.project();
  await ledger.chain();
  await ledger.close();
  return (await stat(path)).size;
}

/** Of a ledger that nobody has delivered to. */
const emptyBytes = await bytesAfter([]);

/** How long the text is, how many bodies have one, and what fills it. */
const FLOODS = [
  [1, 60, "x"],
  [100, 60, "x"],
  [LONGEST_IDENTIFIER - 10, 60, "x"],
  [60, 60, "\u{1f600}"],
  [900, 60, "x"],
  [20_000, 20, "x"],
  [400_000, 3, "x"],
] as const;

for (const [name, hostile] of Object.entries(HOSTILE)) {
  Deno.test(`appendDelivery() takes at most six bytes a byte and 16 KiB a body for ${name} of any length`, async () => {
    for (const [length, count, character] of FLOODS) {
      const bodies = Array.from({ length: count }, (_, at) => {
        const text = `${at}-${character.repeat(length)}`;
        return utf8.encode(JSON.stringify(hostile(text, at)));
      });
      const received = bodies.reduce((sum, { length }) => sum + length, 0);
      const taken = await bytesAfter(bodies) - emptyBytes;
      assert.ok(
        taken <= 6 * received + 16_384 * bodies.length,
        `${taken} bytes for ${bodies.length} bodies of ${length} characters`,
      );
    }
  });
}

Deno.test("appendDelivery() keeps a body with long identifiers, and leaves their columns empty", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment,
    worker: false,
  });
  const long = "x".repeat(257);
  const body = utf8.encode(JSON.stringify({
    type: "order_complete",
    click_id: long,
    order: { id: long },
    user: { user_id: long },
  }));
  await ledger.appendDelivery({ id: ulid(), receivedAt, body });
  const [found] = (await readDeliveryPage(ledger.driver, {})).items;
  assert.equal(found?.bytes, body.length);
  assert.equal(found.type, "order_complete");
  assert.deepEqual(
    [found.orderId, found.userId, found.clickId],
    [null, null, null],
  );
});
