import assert from "node:assert/strict";
import { emptyLedger, inTables } from "../../ledger/testing/empty_ledger.ts";
import { person } from "../../ledger/testing/person_events.ts";
import { Recorder } from "./recorder.ts";

const anna = person("ANNA");

Deno.test("record() keeps of an erased order only what is redacted, and nothing of its user", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const recorder = new Recorder({
    driver,
    lease: null,
    now: Date.now,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  });
  const answer = (source: Record<string, unknown>) => ({
    sources: [JSON.stringify(source)],
    states: [{ status: String(source.status ?? ""), changed_at: null }],
    missing: [],
    readAt: new Date().toISOString(),
    requestedAtMs: Date.now(),
  });
  const utf8 = new TextDecoder();
  const read = anna.events.filter(({ kind }) => kind === "order_snapshot")
    .map(({ body }) => JSON.parse(utf8.decode(body)));
  const order = read[1];
  const user = JSON.parse(
    utf8.decode(anna.events.find(({ kind }) => kind === "user_snapshot")?.body),
  );
  await ledger.append(anna.events.filter(({ kind }) => kind === "webhook"));
  await recorder.record("order", answer(order));
  await recorder.record("order", answer(read[3]));
  await recorder.record("user", answer(user));
  await ledger.project();
  await ledger.erasures.erase(anna.userId, { force: true });
  const quiet = await recorder.record("order", answer(order));
  assert.equal(quiet.appended, 0, "the same answer is not stored again");
  const cancelled = { ...order, status: "cancelled" };
  assert.equal((await recorder.record("order", answer(cancelled))).appended, 1);
  assert.equal((await recorder.record("user", answer(user))).appended, 0);
  await ledger.project();
  assert.deepEqual(await inTables(driver, anna), []);
  const { anomalies, status } = await ledger.orders.get("O-ANNA-0") ?? {};
  assert.equal(status, "cancelled");
  assert.ok(anomalies?.some(({ kind }) => kind === "final_changed"));

  // An old order that the ledger did not know is erased as well.
  const old = {
    ...order,
    order_id: "O-OLD",
    created_at: "2020-01-01 00:00:00",
  };
  await recorder.record("order", answer(old));
  await ledger.project();
  await recorder.record("order", answer(old));
  await ledger.project();
  assert.deepEqual(await inTables(driver, anna), []);
  assert.equal((await ledger.orders.get("O-OLD"))?.status, "success");

  // An order that was created later is new business.
  const soon = new Date(Date.now() + 60_000).toISOString();
  const fresh = { ...order, order_id: "O-NEW", created_at: soon };
  await recorder.record("order", answer(fresh));
  await ledger.project();
  await recorder.record("user", answer(user));
  await ledger.project();
  assert.equal((await ledger.orders.get("O-NEW"))?.userId, anna.userId);
  assert.notEqual(await ledger.users.get(anna.userId), null);
  const returned = await ledger.erasures.returned();
  assert.deepEqual(returned.map(({ orderId }) => orderId), ["O-NEW"]);

  // And can be erased again.
  await ledger.erasures.erase(anna.userId, { force: true });
  assert.deepEqual(await inTables(driver, anna), []);
  assert.equal((await ledger.verify()).ok, true);
});
