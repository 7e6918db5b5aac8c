import assert from "node:assert/strict";
import fc from "fast-check";
import { appendStatement } from "../store/tables/events/append.ts";
import { at, emptyStore, webhook } from "../testing/projection_test_kit.ts";
import type { DeliveryPlace } from "../store/tables/deliveries.ts";
import { type DeliveryQuery, readDeliveryPage } from "./deliveries.ts";

/** Received at few moments, and stored in no order of them. */
const SENT = Array.from({ length: 40 }, (_, n) => ({
  id: `W${n}`,
  minute: n * 7 % 12,
  type: n % 4 === 0 ? "login" : n % 9 === 0 ? null : "logout",
  userId: `U${n % 2}`,
}));

Deno.test("readDeliveryPage() finds what was received, by type, time and user, in pages and steps of any size", async () => {
  const driver = await emptyStore();
  await driver.batch([appendStatement(
    SENT.map(({ id, minute, type, userId }) =>
      webhook(id, minute, { ...(type && { type }), user: { user_id: userId } })
    ),
  )], "write");
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
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 3 }),
      async (query, limit, steps) => {
        const found: string[] = [];
        let after: DeliveryPlace | null | undefined;
        while (after !== null) {
          const { deliveries, next, isSearched }: Awaited<
            ReturnType<typeof readDeliveryPage>
          > = await readDeliveryPage(driver, {
            ...query,
            ...(after === undefined ? {} : { after }),
            ...{ limit, steps },
          });
          assert.ok(next !== null || !isSearched);
          found.push(...deliveries.map(({ id }) => id));
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
          // Of one user they come as they were stored.
          (query.userId === undefined ? b.minute - a.minute : 0) ||
          b.place - a.place
        );
        assert.deepEqual(found, wanted.map(({ id }) => id));
      },
    ),
    { numRuns: 200 },
  );
  await driver.close();
});
