import assert from "node:assert/strict";
import { orderSnapshot, webhookEvent } from "../testing/mint.ts";
import { openLedger } from "../open_ledger.ts";
import { orderRead, session } from "../testing/projection_test_kit.ts";
import { readOrderFold, readSharing } from "./releases.ts";

const salt = new Uint8Array(16);
const NOW = "2026-11-20T09:00:00.000Z";
const ADDRESS = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const TX = "ab".repeat(32);

function shown(id: string, order: Readonly<Record<string, unknown>>) {
  return orderSnapshot({
    source: JSON.stringify({
      order_id: id,
      status: "success",
      crypto: "btc.simple.bitcoin",
      crypto_amount: "1",
      tx_id: TX,
      address: ADDRESS,
      created_at: "2026-11-20 08:50:00",
      changed_at: "2026-11-20 08:50:30",
      ...order,
    }),
    ...{ readAt: NOW, recordedAt: NOW, salt },
  });
}

Deno.test("readSharing() finds every order that the service shows with one transaction and address, and no other", async () => {
  await using ledger = await openLedger({
    ...{ url: ":memory:", environment: "sandbox" },
  });
  const forged = Array.from({ length: 130 }, (_, at) => {
    const order = { id: `01JFORGED${at}`, transaction_id: TX };
    const text = JSON.stringify({ type: "order_complete", order });
    const body = new TextEncoder().encode(text);
    return webhookEvent({ id: `W${at}`, receivedAt: NOW, body }, salt);
  });
  await ledger.append(forged.slice(0, 65));
  await ledger.append([
    shown("01JONE", { crypto_amount: "1" }),
    shown("01JTWO", { crypto_amount: "2", tx_id: TX.toUpperCase() }),
    shown("01JTHREE", {
      ...{ crypto_amount: "3", status: "pending" },
      ...{ tx_id: ` ${TX}\n`, address: ADDRESS.toUpperCase() },
    }),
    shown("01JELSEWHERE", { address: ADDRESS.replace(/4$/, "5") }),
    shown("01JOTHER", { tx_id: TX.replace(/b$/, "c") }),
    shown("01JNETWORK", { crypto: "btc.simple.lightning" }),
  ]);
  await ledger.append(forged.slice(65));
  await ledger.project();
  const sharing = async (id: string) => {
    const fold = await readOrderFold(ledger.driver, id);
    const found = await readSharing(
      ledger.driver,
      id,
      fold?.latest ?? assert.fail(id),
    );
    return found.map(({ cryptoAmount }) => cryptoAmount).sort();
  };
  assert.deepEqual(await sharing("01JONE"), ["2", "3"]);
  assert.deepEqual(await sharing("01JTWO"), ["1", "3"]);
  assert.deepEqual(await sharing("01JTHREE"), ["1", "2"]);
  assert.deepEqual(await sharing("01JELSEWHERE"), []);
  assert.deepEqual(await sharing("01JOTHER"), []);
  assert.deepEqual(await sharing("01JNETWORK"), []);
});

Deno.test("a ledger that another one was moved into finds by that one's names, though it had looked for one before", async () => {
  const open = () => openLedger({ url: ":memory:", environment: "sandbox" });
  await using from = await open();
  await using into = await open();
  await from.append([
    session(0, "S1", "C1", "10", "basket-1"),
    orderRead(5, { orderId: "O1", status: "pending", click: "C1", created: 2 }),
  ]);
  await from.project();
  assert.deepEqual((await into.orders.find("C1")).confirmed, []);
  await into.importMoved(from.exportMoved());
  for (const name of ["C1", "basket-1"]) {
    const { confirmed } = await into.orders.find(name);
    assert.deepEqual(confirmed.map(({ orderId }) => orderId), ["O1"]);
  }
});
