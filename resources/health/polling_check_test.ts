import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import {
  orderRead,
  orderWebhook,
} from "../../ledger/testing/projection_test_kit.ts";
import { at } from "../../ledger/testing/projection_test_kit.ts";
import { pollingCheck } from "./polling_check.ts";

Deno.test("pollingCheck() says that the service was read where the ledger has a reading, also after a poller that was killed", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const look = () => pollingCheck(ledger, () => Date.parse(at(60)));
  const webhook = { type: "order_complete", orderId: "O1" };
  await ledger.append([orderWebhook("W1", 1, webhook)]);
  assert.match((await look()).detail, /has not been read yet/);
  await ledger.append([orderRead(30, { orderId: "O1", status: "success" })]);
  const found = await look();
  assert.deepEqual([found.status, found.detail], [
    "ok",
    "The service last answered 30 min ago",
  ]);
});
