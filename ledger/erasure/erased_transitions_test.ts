import assert from "node:assert/strict";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { userSnapshot } from "../testing/mint.ts";
import { at, orderRead } from "../testing/projection_test_kit.ts";

Deno.test("what follows an erasure is behind what a reader of the feed has read", async () => {
  await using ledger = await emptyLedger({
    now: () => Date.parse("2026-11-20T12:00:00Z"),
  });
  await ledger.append([
    userSnapshot({
      source: JSON.stringify({ user_id: "U1", lkyc_status: "success" }),
      ...{ readAt: at(5), recordedAt: at(5), salt: new Uint8Array(16) },
    }),
  ]);
  await ledger.project();
  const read = (await ledger.transitions()).at(-1) ?? assert.fail();
  await ledger.erasures.erase("U1");
  await ledger.append([orderRead(8, { orderId: "O2", status: "created" })]);
  await ledger.project();
  assert.equal((await ledger.transitions({ after: read.seq })).length, 1);
});
