import assert from "node:assert/strict";
import { EVENT_KINDS } from "../machines/machine.ts";
import { openLedger } from "../open_ledger.ts";
import { allNotes } from "../testing/mint.ts";

/**
 * The export of a ledger that held every kind of event, and somebody erased. It
 * is of a version that recorded cases, which are notes now.
 */
const EXPORT = await Deno.readTextFile(
  new URL("../../tests/fixtures/export.ndjson", import.meta.url),
);

/** Fields of a line, as far as they tell what it is. */
interface Line {
  readonly kind?: string;
  readonly note?: unknown;
}

Deno.test("a stored export is imported whole, is verified, and says what it said", async () => {
  const lines = EXPORT.trimEnd().split("\n");
  const stated = lines.map((line): Line => JSON.parse(line))
    .filter(({ kind }) => kind !== undefined);
  const kinds = Map.groupBy(stated, ({ kind }) => kind);
  const { case_changed: cases = [] } = Object.fromEntries(kinds);
  kinds.delete("case_changed");
  assert.deepEqual(
    Object.keys(EVENT_KINDS).filter((kind) => !kinds.has(kind)),
    ["note", "person_erased"],
  );
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  async function* stored() {
    yield* lines;
  }
  assert.deepEqual(await ledger.import(stored()), {
    imported: stated.length - cases.length,
    skipped: 0,
  });
  await ledger.project();
  await ledger.chain();
  assert.equal((await ledger.verify()).ok, true);
  const stats = await ledger.stats();
  for (const [kind, of] of kinds) {
    assert.equal(Reflect.get(stats.events, kind ?? ""), of.length, `${kind}`);
  }
  const orders = await Array.fromAsync(ledger.orders.list({ sort: "oldest" }));
  assert.deepEqual(
    orders.map(({ orderId, status, trust }) => [
      orderId.slice(-1),
      status,
      trust,
    ]).sort(),
    [
      ["1", "success", "confirmed"],
      ["2", "created", "claimed"],
      ["3", "failed", "confirmed"],
      ["4", "success", "confirmed"],
      ["5", "success", "confirmed"],
    ],
  );
  const users = await Array.fromAsync(ledger.users.list({ sort: "oldest" }));
  assert.deepEqual(
    users.map(({ userId, trust }) => [userId.slice(-1), trust]),
    [
      ["1", "confirmed"],
      ["2", "claimed"],
      ["3", "claimed"],
      ["4", "claimed"],
    ],
  );
  const [bought, , failed, byHand] = orders.toSorted((a, b) =>
    a.orderId < b.orderId ? -1 : 1
  );
  assert.equal(bought?.release, "yes");
  // A look that does not say of which asset it was counts for none.
  assert.equal(bought?.witness, null);
  assert.equal((await ledger.handRelease(byHand?.orderId ?? ""))?.by, "Ada");
  const found = await ledger.find("basket-3");
  assert.ok(JSON.stringify(found).includes(`"${failed?.orderId}"`));
  assert.equal((await ledger.months.get("2026-11"))?.month, "2026-11");
  assert.notEqual(
    await ledger.erasures.find("01KA0000000000000000000005"),
    null,
  );
  // Written again it says the same of every event, and once more the same lines.
  const again = await Array.fromAsync(ledger.export());
  const bodies = (all: readonly string[]) =>
    all.map((line) => JSON.parse(line)).filter(({ kind, body }) =>
      kind !== undefined && kind !== "case_changed" && kind !== "note" && body
    ).map(({ eventId, body }) => `${eventId} ${body}`);
  const kept = new Set(bodies(again));
  assert.deepEqual(bodies(lines).filter((one) => !kept.has(one)), []);
  const notes = await allNotes(ledger.driver);
  assert.deepEqual(
    notes.map(({ action, text, author }) => `${action} ${text} by ${author}`)
      .filter((text) => text.endsWith("by Ada")),
    [
      "acknowledge Asked the service; at 2026-11-20T09:10:00.000Z by Ada",
      "note Wrote to their support, ticket 4711 by Ada",
      "acknowledge Refunded it; reference refund-77 by Ada",
    ],
  );
  await using other = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  async function* once() {
    yield* again;
  }
  await other.import(once());
  await other.project();
  const events = (all: readonly string[]) =>
    all.filter((line) => !line.startsWith('{"erasure"'));
  assert.deepEqual(
    events(await Array.fromAsync(other.export())),
    events(again),
  );
  assert.equal((await other.verify()).ok, true);
});
