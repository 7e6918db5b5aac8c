import assert from "node:assert/strict";
import { decodeTime, isValid } from "ulid";
import { deliveryMint } from "./minted_delivery.ts";

const body = new Uint8Array();

Deno.test("deliveryMint() mints ULIDs of the time of receipt, each greater than the one before", () => {
  const mint = deliveryMint((bytes) => crypto.getRandomValues(bytes));
  const timesMs = [1_000, 1_000, 999, 2 ** 33 + 7, 2 ** 33 + 7, Date.now()];
  const minted = timesMs.map((ms) => mint(ms, body));
  const ids = minted.map(({ id }) => id);
  assert.deepEqual(ids, [...new Set(ids)].toSorted());
  assert(ids.every(isValid));
  assert.deepEqual(ids.map((id) => decodeTime(id)), [
    1_000,
    1_000,
    1_000,
    ...timesMs.slice(3),
  ]);
  assert.deepEqual(
    minted.slice(0, 3).map(({ receivedAt }) => receivedAt),
    [1_000, 1_000, 999].map((ms) => new Date(ms).toISOString()),
  );
});

Deno.test("deliveryMint() goes on in the next millisecond when the random part is used up", () => {
  const mint = deliveryMint((bytes) => bytes.fill(0xff));
  const [first, second] = [mint(5, body), mint(5, body)];
  assert.equal(decodeTime(first.id), 5);
  assert.equal(decodeTime(second.id), 6);
  const carry = deliveryMint((bytes) => bytes.fill(0xff, 1));
  const [low, high] = [carry(5, body), carry(5, body)];
  assert.equal(low.id.slice(-1), "Z");
  assert.equal(high.id.slice(-1), "0");
  assert(high.id > low.id);
});
