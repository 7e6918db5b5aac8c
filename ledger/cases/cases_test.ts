import assert from "node:assert/strict";
import { orderRead } from "../testing/projection_test_kit.ts";
import { CaseError } from "./case_error.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

const NOW = Date.parse("2026-11-20T09:00:00.000Z");
const PAID = { status: "success", tx: "0xT", created: 2 };

/** A ledger with an order that ended, and one that is paid and not compared. */
async function opened() {
  let nowMs = NOW;
  const ledger = await emptyLedger({
    now: () => nowMs++,
  });
  await ledger.append([
    orderRead(6, { orderId: "ENDED", status: "cancelled" }),
    orderRead(6, { ...PAID, orderId: "BARE", click: "C1" }),
    orderRead(6, { ...PAID, orderId: "OPEN", status: "pending" }),
  ]);
  await ledger.project();
  const waiting = async () => {
    const lines: string[] = [];
    for await (const { order } of ledger.attention()) {
      lines.push(`${order.orderId} ${order.case?.state}`);
    }
    return lines.toSorted();
  };
  return { ledger, waiting, [Symbol.asyncDispose]: () => ledger.close() };
}

Deno.test("Cases.change() takes an order off the list, keeps it while the service is asked, and puts it back", async () => {
  await using world = await opened();
  const { ledger, waiting } = world;
  const { cases } = ledger;
  const by = "Ada";
  await cases.change("ENDED", {
    ...{ change: "asked", by, since: "2026-11-19T10:00:00Z" },
    note: "ticket 4711",
  });
  assert.ok((await waiting()).includes("ENDED asked"));
  const refunded = await cases.change("ENDED", {
    ...{ change: "refunded", by: "Bob", reference: "RF-1" },
  });
  assert.equal(refunded.case?.state, "refunded");
  assert.equal(refunded.case?.reference, "RF-1");
  assert.deepEqual(
    refunded.history.map(({ done, by, text }) => [done, by, text]),
    [
      ["asked", "Ada", null],
      ["noted", "Ada", "ticket 4711"],
      ["refunded", "Bob", null],
    ],
  );
  assert.equal((await ledger.handRelease("ENDED"))?.outcome, "refunded");
  assert.ok(!(await waiting()).some((line) => line.startsWith("ENDED")));
  const listed = await Array.fromAsync(
    ledger.orders.list({ case: "refunded" }),
  );
  assert.deepEqual(listed.map(({ orderId }) => orderId), ["ENDED"]);
  await cases.change("ENDED", { change: "reopened", by });
  assert.ok((await waiting()).includes("ENDED open"));
  assert.equal((await ledger.refold({ dryRun: true })).changed, 0);
  assert.equal((await ledger.verify()).ok, true);
});

Deno.test("Cases.change() records a delivery as the release by hand that it is", async () => {
  await using world = await opened();
  const { ledger, waiting } = world;
  const done = { change: "delivered", by: "Ada" } as const;
  const delivered = await ledger.cases.change("BARE", {
    ...{ ...done, reference: "basket-9", note: "at the counter" },
  });
  assert.equal(delivered.case?.state, "delivered");
  assert.equal((await ledger.handRelease("BARE"))?.for, "basket-9");
  const isWaiting = async () =>
    (await waiting()).some((line) => line.startsWith("BARE"));
  assert.equal(await isWaiting(), false);
  const by = "Bob";
  await ledger.cases.change("BARE", { change: "reopened", by });
  await ledger.cases.change("BARE", { change: "delivered", by });
  assert.equal((await ledger.cases.get("BARE"))?.case?.state, "delivered");
  assert.equal((await ledger.handRelease("BARE"))?.by, "Ada");
});

Deno.test("Cases.change() opens no case again by time alone, and lists none of what is closed", async () => {
  await using world = await opened();
  const { ledger } = world;
  const stuckAtMs = Date.parse("2026-11-21T09:00:00.000Z");
  const stuck = async () =>
    (await Array.fromAsync(
      ledger.orders.list({ attention: "stuck", stuckAtMs }),
    )).map(({ orderId }) => orderId);
  assert.deepEqual(await stuck(), ["OPEN"]);
  await ledger.cases.change("OPEN", { change: "not_ours", by: "Ada" });
  assert.deepEqual(await stuck(), []);
});

Deno.test("Cases.change() refuses what cannot be, and writes nothing then", async () => {
  await using world = await opened();
  const { ledger } = world;
  const { cases } = ledger;
  const by = "Ada";
  const { events } = await ledger.stats();
  for (
    const [orderId, action, code] of [
      ["NONE", { change: "asked", by }, "unknown_order"],
      ["ENDED", { change: "noted", by }, "invalid"],
      ["ENDED", { change: "refunded", by }, "invalid"],
      ["ENDED", { change: "asked", by: " " }, "invalid"],
      ["ENDED", { change: "asked", by, since: "yesterday" }, "invalid"],
      ["ENDED", { change: "written_off", by, reference: "R" }, "invalid"],
      ["ENDED", { change: "reopened", by }, "not_closed"],
      ["ENDED", { change: "asked", by, seen: ["stuck"] }, "changed_since"],
    ] as const
  ) {
    await assert.rejects(
      cases.change(orderId, action),
      (error) => error instanceof CaseError && error.code === code,
      `${orderId} ${JSON.stringify(action)}`,
    );
  }
  assert.deepEqual((await ledger.stats()).events, events);
});

Deno.test("Cases.change() keeps of an erased person what was done, and no note", async () => {
  await using world = await opened();
  const { ledger } = world;
  await ledger.append([
    orderRead(7, { orderId: "HERS", status: "cancelled", user: "U1" }),
  ]);
  await ledger.project();
  await ledger.cases.change("HERS", {
    ...{ change: "written_off", by: "Ada", note: "Mrs Miller called" },
  });
  const found = await ledger.find("miller");
  assert.deepEqual(
    found.found.map((one) => one.entity === "order" && one.order.orderId),
    ["HERS"],
  );
  await ledger.erasures.erase("U1");
  const kept = await ledger.cases.get("HERS");
  assert.equal(kept?.case?.state, "written_off");
  assert.deepEqual(kept.history.map(({ done }) => done), ["written_off"]);
  assert.equal((await ledger.find("miller")).found.length, 0);
  await assert.rejects(
    ledger.cases.change("HERS", { change: "noted", by: "Ada", note: "x" }),
    (error) => error instanceof CaseError && error.code === "person_erased",
  );
  assert.equal((await ledger.verify()).ok, true);
});
