import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { writeWaiting } from "../../ledger/for_server.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

Deno.test("commands that read say that deliveries wait, to people, on standard error", async () => {
  await using stored = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: stored.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  const write = async (
    count: number,
    ago: { old: number; written: number },
  ) => {
    await using ledger = await openLedger({
      url: stored.url,
      environment: "sandbox",
      worker: false,
    });
    await ledger.appendDelivery({
      id: "01KZZZZZZZZZZZZZZZZZZZZZZZ",
      receivedAt: "2026-11-20T10:00:00.000Z",
      body: new TextEncoder().encode(
        `{"type":"order_complete","order":{"id":"O1"}}`,
      ),
    });
    const nowMs = Date.now() - ago.written;
    const oldestMs = Date.now() - ago.old;
    const mover = { place: "/spool", process: "1" };
    const waiting = { count, oldestMs };
    await writeWaiting(
      ledger.driver,
      mover,
      count === 0 ? null : waiting,
      nowMs,
    );
  };
  const commands = [["ledger", "stats"], ["orders", "list"], [
    "orders",
    "show",
    "O1",
  ]];

  await write(3, { old: 3 * 3_600_000, written: 0 });
  for (const command of commands) {
    const { err, out, code } = await cli(command, env);
    assert.equal(
      err,
      "3 answered deliveries wait to go into the ledger, the oldest for 3 h\n",
    );
    assert.equal(code, 0);
    assert.doesNotMatch(out, /answered deliver/);
  }
  const orders = await cli(["orders", "list", "--json"], env);
  assert.equal(orders.err, "");
  const doctor = await cli(["doctor"], env);
  assert.match(
    doctor.out,
    /FAIL +Waiting +Answered deliveries wait .*: 3, the oldest for 3 h/,
  );
  const stats = await cli(["ledger", "stats", "--json"], env);
  assert.equal(stats.err, "");
  const { waiting } = JSON.parse(stats.out);
  assert.deepEqual([waiting.count, waiting.ended], [3, 0]);

  await write(1, { old: 3 * 3_600_000, written: 3_600_000 });
  assert.equal(
    (await cli(["orders", "list"], env)).err,
    "1 answered delivery waits to go into the ledger, the oldest for 3 h; " +
      "1 of them may wait in the files of an ended process, from where a " +
      "running serve takes them\n",
  );
  assert.match((await cli(["doctor"], env)).out, /WARN +Waiting/);

  await write(0, { old: 0, written: 0 });
  assert.equal((await cli(["orders", "list"], env)).err, "");
});
