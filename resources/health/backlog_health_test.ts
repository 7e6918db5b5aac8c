import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { lookAtBacklog } from "./backlog_health.ts";

Deno.test("lookAtBacklog() finds what waits since when, and which ids the service refuses and why", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const nowMs = Date.parse("2026-11-20T12:00:00.000Z");
  const look = (at = nowMs) => lookAtBacklog(ledger.driver, at);
  assert.deepEqual((await look()).map(({ code }) => code), [
    "nothing_to_confirm",
    "ids_taken",
  ]);
  await ledger.driver.batch([{
    sql: `INSERT INTO confirm_queue
        (entity, entity_id, known, ready, wanted_at, due_at)
      VALUES ('order', '01KNOWN', 1, 1, ?1, ?1),
        ('order', '01INVENTED', 0, 1, ?2, ?2)`,
    args: ["2026-11-20T11:00:00.000Z", "2026-11-20T11:59:00.000Z"],
  }, {
    sql: `INSERT INTO isolated_ids
        (entity, entity_id, kind, why, since, attempts, again_at)
      VALUES ('order', '01BAD' || char(27), 'refused', 'It answered 403',
        ?1, 1, ?1)`,
    args: ["2026-11-20T11:00:00.000Z"],
  }], "write");
  const [backlog, refused] = await look();
  assert.equal(backlog?.code, "confirmations_waiting");
  assert.equal(backlog?.since, "2026-11-20T11:00:00.000Z");
  assert.match(
    backlog?.detail ?? "",
    /: 1 orders .*, the oldest for 60 min; 1 more .*, the oldest for 60 s$/,
  );
  assert.equal(refused?.code, "ids_refused");
  assert.match(refused?.detail ?? "", /01BAD\ufffd \(It answered 403\)/);
  const [early] = await look(Date.parse("2026-11-20T11:15:00.000Z"));
  assert.equal(early?.code, "nothing_to_confirm", "not yet too long");
});
