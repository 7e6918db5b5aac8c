import assert from "node:assert/strict";
import fc from "fast-check";
import {
  at,
  orderRead,
  orderWebhook,
  webhook,
} from "../testing/projection_test_kit.ts";
import { openLedger } from "../open_ledger.ts";
import type { Driver } from "../store/database.ts";
import {
  countDeliveries,
  type DeliveryQuery,
  listDeliveries,
  readDelivery,
  readDeliveryLog,
  readDeliveryPage,
  readLastPosition,
  readLastWebhook,
} from "./deliveries.ts";

/** Received at few moments, and stored in no order of them. */
const SENT = Array.from({ length: 40 }, (_, n) => ({
  id: `W${n}`,
  minute: n * 7 % 12,
  type: n % 4 === 0 ? "login" : n % 9 === 0 ? null : "logout",
  userId: `U${n % 2}`,
}));

const newLedger = () => openLedger({ url: ":memory:", environment: "sandbox" });

Deno.test("readDeliveryPage() finds what was received, by type, time and user, in pages of any size", async () => {
  await using ledger = await newLedger();
  const { driver } = ledger;
  const sent = SENT.map(({ id, minute, type, userId }) =>
    webhook(id, minute, { ...(type && { type }), user: { user_id: userId } })
  );
  await ledger.append(sent.slice(0, 25));
  await ledger.project();
  // Some are not folded yet.
  await ledger.append(sent.slice(25));
  const query: fc.Arbitrary<DeliveryQuery> = fc.record({
    type: fc.constantFrom("login", "logout", "none"),
    quarantined: fc.boolean(),
    userId: fc.constantFrom("U0"),
    receivedFrom: fc.integer({ min: 0, max: 12 }).map(at),
    receivedBefore: fc.integer({ min: 0, max: 12 }).map(at),
  }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(
      query,
      fc.integer({ min: 1, max: 9 }),
      async (query, limit) => {
        const found: string[] = [];
        let after: string | null | undefined;
        while (after !== null) {
          const { items, next, searchedTo }: Awaited<
            ReturnType<typeof readDeliveryPage>
          > = await readDeliveryPage(driver, {
            ...query,
            ...(after === undefined ? {} : { after }),
            limit,
          });
          assert.ok(next !== null || searchedTo === null);
          found.push(...items.map(({ id }) => id));
          after = next;
        }
        const wanted = SENT.map((one, place) => ({ ...one, place })).filter((
          { type, minute, userId },
        ) =>
          (query.type === undefined || type === query.type) &&
          (!query.quarantined || type === null) &&
          (query.userId === undefined || userId === query.userId) &&
          at(minute) >= (query.receivedFrom ?? "") &&
          at(minute) < (query.receivedBefore ?? "~")
        ).sort((a, b) =>
          // Of one user, and without a type, they come as they were stored.
          (query.userId === undefined && !query.quarantined
            ? b.minute - a.minute
            : 0) ||
          b.place - a.place
        );
        assert.deepEqual(found, wanted.map(({ id }) => id));
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("a type is found however a sender wrote it, and only where it is the type", async () => {
  await using ledger = await newLedger();
  const utf8 = new TextEncoder();
  const bodies = [
    '{"type":"login"}',
    '{"type":"log\\u0069n"}',
    '{"type":"logout","note":"login"}',
    '{"type":"logout","type":"login"}',
    "login",
  ];
  for (const [n, body] of bodies.entries()) {
    await ledger.appendDelivery({
      ...{ id: `W${n}`, receivedAt: at(n), body: utf8.encode(body) },
    });
  }
  const { items } = await readDeliveryPage(ledger.driver, {
    type: "login",
  });
  assert.deepEqual(items.map(({ id }) => id), ["W3", "W1", "W0"]);
  const body = (await readDelivery(ledger.driver, "W4"))?.body;
  assert.deepEqual(body, utf8.encode("login"));
  assert.equal((await countDeliveries(ledger.driver)).size, 5);
});

Deno.test("readDeliveryPage() leads on from a time that was written in another way", async () => {
  await using ledger = await newLedger();
  const body = new TextEncoder().encode("{}");
  const times = ["2026-11-20T09:00:00Z", at(1), "2026-11-20T10:00:00+01:00"];
  for (const [n, receivedAt] of times.entries()) {
    await ledger.appendDelivery({ id: `W${n}`, receivedAt, body });
  }
  const found: string[] = [];
  let after: string | null | undefined;
  while (after !== null) {
    const page: Awaited<ReturnType<typeof readDeliveryPage>> =
      await readDeliveryPage(ledger.driver, {
        ...{ limit: 1, ...after && { after } },
      });
    found.push(...page.items.map(({ receivedAt }) => receivedAt));
    after = page.next;
  }
  assert.deepEqual(found.sort(), times.toSorted());
});

Deno.test("pages of deliveries and the log of them read few long bodies at once, and give all of them", async () => {
  await using ledger = await newLedger();
  const { driver } = ledger;
  const note = "x".repeat(1_000_000);
  for (let n = 0; n < 70; n++) {
    await ledger.append([webhook(`W${n}`, n, { type: "login", note })]);
  }
  await ledger.project();
  let most = 0;
  const watched: Driver = {
    ...{ location: driver.location, close: () => driver.close() },
    async batch(statements, mode) {
      const results = await driver.batch(statements, mode);
      const values = results.flatMap(({ rows }) => rows).flat();
      const bytes = values.map((one) =>
        one instanceof Uint8Array ? one.length : 0
      );
      most = Math.max(most, bytes.reduce((sum, one) => sum + one, 0));
      return results;
    },
  };
  const listed = await Array.fromAsync(listDeliveries(watched));
  assert.equal(listed.length, 70);
  assert.ok(most < 60e6, `${most} bytes of a list`);
  most = 0;
  let position = 0;
  for (;;) {
    const rows = await readDeliveryLog(watched, position, 2_000);
    if (rows.length === 0) break;
    position = rows.at(-1)?.position ?? assert.fail();
  }
  assert.equal(position, 70);
  assert.ok(most < 10e6, `${most} bytes of the log`);
});

Deno.test("readDeliveryLog() says of each event whether it tells that deliveries come", async () => {
  await using ledger = await newLedger();
  await ledger.append([
    orderWebhook("W1", 1, { type: "payment_started", orderId: "O1" }),
    orderRead(2, { orderId: "O1", status: "pending" }),
    // Invented: the service shows another order alone.
    orderWebhook("W2", 3, { type: "order_complete", orderId: "O9" }),
    orderRead(4, { orderId: "O2", status: "pending" }),
  ]);
  await ledger.recordUnanswered(
    {
      ...{ id: "W1", noticedAt: at(5), answer: "late" },
    },
  );
  await ledger.project();
  const { driver } = ledger;
  const rows = await readDeliveryLog(driver, 0, 10);
  assert.deepEqual(
    rows.map(({ kind, shown, ofOrder, named, unansweredId }) => [
      ...[kind, shown, ofOrder, named?.eventId ?? null, unansweredId],
    ]),
    [
      ["webhook", true, true, null, null],
      ["order_snapshot", false, true, "W1", null],
      ["webhook", false, true, null, null],
      ["order_snapshot", false, true, null, null],
      ["delivery_unanswered", false, false, null, "W1"],
    ],
  );
  assert.equal(await readLastWebhook(driver, 5), at(1));
  assert.equal(await readLastWebhook(driver, 0), null);
  assert.equal(await readLastPosition(driver), 5);
});
