import assert from "node:assert/strict";
import {
  orderRead,
  orderWebhook,
  rowsOf,
} from "../testing/projection_test_kit.ts";
import { openLedger } from "../open_ledger.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { eraseBody } from "../testing/erase_body.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

Deno.test("eraseBody() leaves an order's other facts standing, and of the erased one that it happened", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  await ledger.append([
    orderWebhook("W1", 1, { type: "payment_started", orderId: "O1" }),
    orderWebhook("W2", 2, {
      type: "order_complete",
      orderId: "O1",
      external: "E1",
    }),
    orderRead(1, { orderId: "O1", status: "progress", external: "X1" }),
  ]);
  await ledger.project();
  const head = await ledger.chain();
  const before = await ledger.orders.get("O1");
  assert.equal(await eraseBody(driver, 2), true);
  assert.equal((await ledger.verifyStates()).ok, true);
  const after = await ledger.orders.get("O1");
  assert.deepEqual(
    [after?.status, after?.trust, after?.externalOrderId],
    ["success", "claimed", "X1"],
  );
  assert.deepEqual(after?.confirmed, before?.confirmed);
  assert.equal(before?.claimed?.externalOrderId, "E1");
  assert.equal(after?.claimed?.externalOrderId, null);
  assert.equal(after?.claimed?.currencyAmount, "10", "of the other webhook");
  const verified = await ledger.verify({
    expect: { count: head.events, hash: head.hash },
  });
  assert.deepEqual([verified.ok, verified.erased], [true, 1]);
  const explanation = await ledger.explain("O1");
  const says = explanation?.events[1]?.content;
  assert.ok(says?.code === "webhook" && !says.hasBody);
  const [row] = await rowsOf(
    driver,
    "SELECT CAST(body AS TEXT) FROM events WHERE position = 2",
  );
  assert.deepEqual(row, [
    '{"type":"order_complete","order":{"id":"O1"},"erased":true}',
  ]);
});

Deno.test("eraseBody() leaves nothing of a body in a copy made after a refold", async () => {
  await using folder = await temporaryFolder();
  await using ledger = await openLedger({
    url: `file:${folder.path}/ledger.db`,
    environment: "sandbox",
    worker: false,
  });
  const ids = ["one", "two", "three"];
  await ledger.append(
    ids.map((id, at) =>
      orderRead(at, {
        orderId: `O${at}`,
        status: "success",
        external: `${id} ${"x".repeat(9000)} ${id} ends`,
      })
    ),
  );
  await ledger.project();
  await ledger.chain();
  assert.equal(await eraseBody(ledger.driver, 2), true);
  await ledger.refold();
  await ledger.backup(`${folder.path}/copy.db`);
  const copy = new TextDecoder("latin1")
    .decode(await Deno.readFile(`${folder.path}/copy.db`));
  const found = (text: string) => copy.includes(text);
  assert.deepEqual(ids.map((id) => found(`${id} xxx`)), [true, false, true]);
  assert.deepEqual(ids.map((id) => found(`${id} ends`)), [true, false, true]);
  assert.equal((await ledger.verify()).ok, true);
});
