import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";

const ORDERS = 51;

const TOTAL = `  No amount in ${ORDERS} orders, claimed by webhooks alone`;

Deno.test("rampkit orders list and users list give scripts all, people the newest", async () => {
  await using ledger = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const bodies = `${ledger.folder}/bodies.ndjson`;
  const numbers = Array.from({ length: ORDERS }, (_, number) => number);
  await Deno.writeTextFile(
    bodies,
    numbers.map((number) =>
      JSON.stringify({
        type: "order_complete",
        order: { id: `order-${number}` },
        user: { user_id: `user-${number}` },
      })
    ).join("\n"),
  );
  await cli(["webhook", "replay", bodies], env);

  for (const what of ["orders", "users"]) {
    const list = async (...flags: string[]) =>
      (await cli([what, "list", ...flags], env)).out.trim().split("\n");
    assert.equal((await list("--json")).length, ORDERS);
    assert.equal((await list("--json", "--limit", "3")).length, 3);
    // What stands below the table and a line between: of all, and of these.
    const totals = what === "orders" ? [`${ORDERS} orders`, TOTAL] : [];
    const table = await list();
    assert.deepEqual(table.slice(1 + 50), [
      ...["", "The first 50; --limit 0 shows all"],
      ...totals,
    ]);
    const whole = await list("--limit", "0");
    assert.deepEqual(
      whole.slice(1 + ORDERS),
      totals.length === 0 ? [] : ["", ...totals],
    );
  }
});
