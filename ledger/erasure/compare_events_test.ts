import assert from "node:assert/strict";
import fc from "fast-check";
import {
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import { addNote, type Note } from "../recording/notes.ts";
import { allNotes } from "../testing/mint.ts";
import type { Ledger } from "../ledger.ts";
import {
  assertFollows,
  emptyLedger,
  inTables,
} from "../testing/empty_ledger.ts";
import { person } from "../testing/person_events.ts";
import { tries } from "../../tests/kit/thorough.ts";

const anna = person("ANNA");
const berta = person("BERTA");
let delivered = 0;

/** Stores a delivery, not folded yet. */
async function deliver(ledger: Ledger, body: unknown): Promise<void> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  await ledger.appendDelivery({
    id: `01KA00000000000000000${String(delivered++).padStart(5, "0")}`,
    receivedAt: "2026-11-20T12:00:00.000Z",
    body: new TextEncoder().encode(text),
  });
}

async function filled(): Promise<Ledger> {
  const ledger = await emptyLedger();
  await ledger.append([...anna.events, ...berta.events]);
  await ledger.project();
  return ledger;
}

const where = (id: string) => [
  { type: "new_thing", customer: { ref: id } },
  { type: "new_thing", list: [[{ deep: id }]] },
  { type: "otp_status", status_detail: id },
  { type: "payment_started", order: { id: "O-INVENTED", note: id } },
];

Deno.test("Erasures.erase() blanks bodies that hold an id of the person in any place, and lists what is about somebody else or merely chosen", async () => {
  await using ledger = await filled();
  const own = ["user-ANNA-SECRET", "card-ANNA-SECRET", "click0-ANNA-SECRET"];
  for (const id of own) {
    for (const body of where(id)) await deliver(ledger, body);
  }
  // About Berta, whom the service has shown.
  await deliver(ledger, {
    type: "login",
    user_id: berta.userId,
    referred_by: anna.userId,
  });
  await deliver(ledger, {
    type: "order_complete",
    order: { id: "O-BERTA-0", note: "card-ANNA-SECRET" },
  });
  // A part of a text is no id, and no JSON can only be listed.
  await deliver(ledger, { type: "new_thing", text: `is ${anna.userId}?` });
  await deliver(ledger, `hello ${anna.userId}`);
  await ledger.project();
  const planned = await ledger.erasures.plan(anna.userId);
  assert.deepEqual(planned.compared, { blanked: 12, listed: 3 });
  const { compared } = await ledger.erasures.erase(anna.userId);
  assert.deepEqual(compared, planned.compared);
  await ledger.project();
  const findings = await ledger.erasures.findings();
  assert.deepEqual(findings.map(({ why }) => why), [
    "other_person",
    "other_person",
    "not_json",
  ]);
  const left = { ...anna, values: own };
  const tables = await inTables(ledger.driver, left);
  assert.ok(tables.every((one) => one.startsWith("events: ")), `${tables}`);
  // A person decides.
  const [first, second, third] = findings.map(({ position }) => position);
  assert.ok(first && second && third);
  assert.equal(await ledger.erasures.settle([first, third], "blank"), 2);
  assert.equal(await ledger.erasures.settle([second, third], "keep"), 1);
  await ledger.project();
  assert.deepEqual(
    (await ledger.erasures.findings()).map(({ settled }) => settled),
    ["blanked", "kept", "blanked"],
  );
  assert.deepEqual(await inTables(ledger.driver, { ...anna, values: own }), [
    "events: user-ANNA-SECRET",
    "events: card-ANNA-SECRET",
  ]);
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
  await assertFollows(ledger);
});

Deno.test("what arrives later is compared with the ids of erased people, whatever its type", async () => {
  await using ledger = await filled();
  await ledger.erasures.erase(anna.userId);
  await ledger.project();
  const own = ["USER-anna-secret", "card-ANNA-SECRET", "click0-ANNA-SECRET"];
  for (const id of own) {
    for (const body of where(id)) await deliver(ledger, body);
  }
  await deliver(ledger, {
    type: "login",
    user_id: berta.userId,
    referred_by: anna.userId,
  });
  await ledger.project();
  const kept = { ...anna, values: own };
  assert.deepEqual(await inTables(ledger.driver, kept), []);
  assert.deepEqual(
    (await ledger.erasures.findings()).map(({ why }) => why),
    ["other_person"],
  );
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
});

Deno.test("an id that only a webhook claims of the person, or that a customer chose, blanks nothing", async () => {
  await using ledger = await emptyLedger();
  const chosen = anna.events.filter(({ kind }) => kind !== "session_created")
    .map((event) => ({
      ...event,
      ...(event.clickId === "click0-ANNA-SECRET"
        ? { clickId: "order_id" }
        : {}),
      ...(event.body === null ? {} : {
        body: new TextEncoder().encode(
          new TextDecoder().decode(event.body)
            .replaceAll("click0-ANNA-SECRET", "order_id"),
        ),
      }),
    }));
  await ledger.append(chosen);
  // A forger says that "USD" is a card of the person.
  await deliver(ledger, {
    type: "card_added",
    user_id: anna.userId,
    card_id: "USD",
  });
  for (let n = 0; n < 4; n++) {
    await deliver(ledger, { type: "new_thing", field: "order_id", in: "USD" });
  }
  await ledger.project();
  const { compared } = await ledger.erasures.erase(anna.userId);
  assert.deepEqual(compared, { blanked: 0, listed: 4 });
  const findings = await ledger.erasures.findings();
  assert.ok(findings.every(({ why }) => why === "chosen_click_id"));
});

Deno.test("an order that only a webhook names and the service denies keeps nothing of who is erased", async () => {
  for (const isAsked of [true, false]) {
    await using ledger = await filled();
    await deliver(ledger, {
      type: "order_complete",
      click_id: "click0-ANNA-SECRET",
      order: { id: "O-INVENTED" },
    });
    await deliver(ledger, { type: "login", click_id: "click0-ANNA-SECRET" });
    await ledger.project();
    if (isAsked) {
      await ledger.driver.batch([{
        sql: `INSERT INTO observations
            (entity, id, asked_at, read_at, digest, found)
          VALUES ('order', 'O-INVENTED', '2026-11-22T00:00:00.000Z',
            '2026-11-22T00:00:00.000Z', '', 0)`,
        args: [],
      }], "write");
    }
    await ledger.project();
    await ledger.erasures.erase(anna.userId, { force: true });
    await ledger.project();
    const left = await inTables(ledger.driver, {
      ...anna,
      values: ["click0-ANNA-SECRET"],
    });
    // Until the service was asked, the order may be somebody else's.
    assert.equal(left.length === 0, isAsked, left.join());
    assert.equal((await ledger.refold()).changed, 0);
  }
});

Deno.test("an erasure leaves no body that holds an id of the person and is nobody else's, whatever surrounds the id", async () => {
  const ids = fc.constantFrom(
    "user-ANNA-SECRET",
    "USER-ANNA-SECRET",
    "card-ANNA-SECRET",
    "click1-ANNA-SECRET",
  );
  const bodies = fc.tuple(
    ids,
    fc.jsonValue({ maxDepth: 3 }),
    fc.string(),
    fc.boolean(),
  ).map(([id, value, name, early]) => ({
    early,
    body: { type: "thing", value, [`x${name}`]: [{ [name]: id }] },
  }));
  await fc.assert(
    fc.asyncProperty(fc.array(bodies, { maxLength: 6 }), async (bodies) => {
      await using ledger = await filled();
      for (const { body, early } of bodies) {
        if (early) await deliver(ledger, body);
      }
      await ledger.project();
      await ledger.erasures.erase(anna.userId);
      for (const { body, early } of bodies) {
        if (!early) await deliver(ledger, body);
      }
      await ledger.project();
      assert.deepEqual(
        await inTables(ledger.driver, {
          ...anna,
          values: [...anna.values, "USER-ANNA-SECRET"],
        }),
        [],
      );
      assert.deepEqual(await ledger.erasures.findings(), []);
      assert.equal((await ledger.verify()).ok, true);
    }),
    { numRuns: tries(60) },
  );
});

Deno.test("an erasure deletes what was noted of the person, the orders and the deliveries, and nothing more is noted of the orders", async () => {
  const nowMs = Date.parse("2026-11-20T12:00:00Z");
  await using ledger = await emptyLedger({ now: () => nowMs });
  await ledger.append([
    orderRead(7, { orderId: "HERS", status: "cancelled", user: "U1" }),
    orderRead(7, { orderId: "HIS", status: "cancelled", user: "U2" }),
    orderWebhook("W1", 7, {
      type: "order_cancelled",
      orderId: "HERS",
      user: "U1",
    }),
  ]);
  await ledger.project();
  const about = (entity: Note["entity"], entityId: string) => ({
    ...{ entity, entityId, action: "note" as const, reasons: [] },
    ...{ text: "Mrs Miller called", author: "Ada" },
  });
  for (
    const [entity, id] of [
      ["order", "HERS"],
      ["order", "HIS"],
      ["user", "U1"],
      ["delivery", "W1"],
    ] as const
  ) {
    assert.ok(await addNote(ledger.driver, about(entity, id), nowMs));
    // What was noted last is not folded yet.
    if (entity === "order") await ledger.project();
  }
  await ledger.erasures.erase("U1");
  const left = await allNotes(ledger.driver);
  assert.deepEqual(
    left.map(({ entityId, text }) => `${entityId}: ${text}`),
    ["HERS: ", "HIS: Mrs Miller called"],
  );
  assert.equal(
    await addNote(ledger.driver, about("order", "HERS"), nowMs),
    null,
  );
  async function* given() {
    yield '{"rampkit":"events","version":1,"environment":"sandbox"}';
    yield JSON.stringify({
      note: {
        ...about("order", "HERS"),
        id: "01KA00000000000000000000AA",
        notedAt: "2026-11-20T12:00:00.000Z",
      },
    });
    yield '{"end":0}';
  }
  await ledger.import(given());
  await ledger.project();
  assert.deepEqual(
    (await allNotes(ledger.driver)).map(({ entityId, text }) =>
      `${entityId}: ${text}`
    ).sort(),
    ["HERS: ", "HERS: ", "HIS: Mrs Miller called"],
  );
  assert.equal((await ledger.verify()).ok, true);
  await assertFollows(ledger);
});

Deno.test("a body that says of itself that it was erased is looked through like any other", async () => {
  await using ledger = await filled();
  const said = (id: string) => ({ type: "new_thing", note: id, erased: true });
  await deliver(ledger, said(anna.userId));
  const ofOrder = {
    ...{ type: "order_complete", order: { id: "O-ANNA-0" } },
    ...{ phone: "phone-ANNA-SECRET", erased: true },
  };
  await deliver(ledger, ofOrder);
  await ledger.project();
  await ledger.erasures.erase(anna.userId);
  await deliver(ledger, said("card-ANNA-SECRET"));
  await deliver(ledger, ofOrder);
  await ledger.project();
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  assert.equal((await ledger.verify()).ok, true);
});

Deno.test("a person's id with blanks around it is found, and recognised when it comes", async () => {
  await using ledger = await emptyLedger();
  await ledger.append(anna.events);
  await deliver(ledger, { type: "login", user_id: ` ${anna.userId}`, ip: "1" });
  await ledger.project();
  await ledger.erasures.erase(anna.userId);
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  await deliver(ledger, {
    type: "order_complete",
    user: { user_id: `${anna.userId}\t` },
    order: { id: "O-ANNA-0" },
  });
  await deliver(ledger, { type: "new_thing", note: ` ${anna.userId} ` });
  await ledger.project();
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  assert.equal((await ledger.verify()).ok, true);
});

Deno.test("verify() names a body that somebody replaced and marked as erased", async () => {
  await using ledger = await filled();
  const [found] = await ledger.driver.batch([{
    sql: "SELECT position FROM events WHERE kind = 'order_snapshot' LIMIT 1",
    args: [],
  }], "read");
  const position = Number(found?.rows[0]?.[0]);
  await ledger.driver.batch([{
    sql: `UPDATE events SET kind = 'order_redacted', body =
      CAST('{"order_id":"O-ANNA-0","status":"success","redacts":null}' AS BLOB)
      WHERE position = ?`,
    args: [position],
  }], "write");
  const { ok, firstBrokenPosition } = await ledger.verify();
  assert.deepEqual([ok, firstBrokenPosition], [false, position]);
});

Deno.test("settle() blanks a reading of somebody else's order, and leaves its outcome", async () => {
  await using ledger = await filled();
  const paid = { status: "success", created: 2, tx: "0xT", user: "U1" };
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    orderRead(50, {
      ...{ ...paid, orderId: "SHARED", click: "C1" },
      external: "card-ANNA-SECRET",
    }),
  ]);
  await ledger.project();
  await ledger.erasures.erase(anna.userId);
  const [{ position = 0, why } = {}] = await ledger.erasures.findings();
  assert.equal(why, "other_person");
  await ledger.erasures.settle([position], "blank");
  await ledger.project();
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  const order = await ledger.orders.get("SHARED");
  assert.deepEqual([order?.release, order?.outcome], [
    "yes",
    "session_matched",
  ]);
  assert.equal((await ledger.refold()).changed, 0);
  await assertFollows(ledger);
});
