import assert from "node:assert/strict";
import { emptyLedger } from "../testing/empty_ledger.ts";
import {
  emptyStore,
  orderRead,
  orderWebhook,
} from "../testing/projection_test_kit.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import { exportedNote } from "../transfer/exported_event.ts";
import { exportEvents } from "../transfer/export_events.ts";
import { importEvents } from "../transfer/import_events.ts";
import type { Note } from "../store/tables/notes.ts";
import { addNote, allNotes, isAcknowledged, readNotes } from "./notes.ts";

const NOW_MS = Date.parse("2026-11-20T12:00:00Z");

/** A note about an order, without what storing adds. */
function noted(
  action: Note["action"],
  reasons: readonly string[],
  entityId = "O1",
): Omit<Note, "id" | "notedAt"> {
  const text = `${action} 'it' <b>`;
  return { entity: "order", entityId, action, reasons, text, author: "anna" };
}

function stored(note: Omit<Note, "id" | "notedAt">, at: number): Note {
  return { ...note, id: String(at), notedAt: "2026-11-20T12:00:00.000Z" };
}

Deno.test("isAcknowledged() covers the reasons that were there, until it is opened again", () => {
  const acknowledged = [stored(noted("acknowledge", ["stuck"]), 1)];
  assert.equal(isAcknowledged(["stuck"], acknowledged), true);
  assert.equal(isAcknowledged(["stuck", "refund_due"], acknowledged), false);
  assert.equal(isAcknowledged(["stuck"], []), false);
  assert.equal(isAcknowledged([], acknowledged), false);
  const reopened = [...acknowledged, stored(noted("reopen", ["stuck"]), 2)];
  assert.equal(isAcknowledged(["stuck"], reopened), false);
  const onlySaid = [stored(noted("note", ["stuck"]), 1)];
  assert.equal(isAcknowledged(["stuck"], onlySaid), false);
});

Deno.test("addNote() stores notes that readNotes() gives in their order, of what was asked for alone", async () => {
  const driver = await emptyStore();
  const first = await addNote(driver, noted("note", ["stuck"]), NOW_MS);
  const second = await addNote(driver, noted("acknowledge", ["stuck"]), NOW_MS);
  await addNote(driver, noted("note", [], "O2"), NOW_MS);
  const found = await readNotes(driver, "order", ["O1", "none"]);
  assert.deepEqual([...found], [["O1", [first, second]]]);
  assert.equal(first?.notedAt, "2026-11-20T12:00:00.000Z");
  assert.equal((await readNotes(driver, "user", ["O1"])).size, 0);
  await driver.close();
});

Deno.test("importEvents() of exportEvents() brings notes along, each once", async () => {
  const from = await emptyStore();
  const to = await emptyStore();
  const event = orderRead(1, { orderId: "O1", status: "failed" });
  await from.batch([appendStatement([event])], "write");
  await addNote(from, noted("acknowledge", ["refund_due"]), NOW_MS);
  await addNote(from, noted("note", []), NOW_MS + 1);
  const lines = await Array.fromAsync(exportEvents(from, "sandbox"));
  assert.equal(lines.length, 5);
  for (let time = 0; time < 2; time++) {
    await importEvents(to, "sandbox", given(lines));
    assert.deepEqual(
      await Array.fromAsync(allNotes(to)),
      await Array.fromAsync(allNotes(from)),
    );
  }
  assert.deepEqual(
    await Array.fromAsync(exportEvents(to, "sandbox")),
    lines,
  );
  await from.close();
  await to.close();
});

Deno.test("importEvents() names the line of a note that lacks a field", async () => {
  const to = await emptyStore();
  const wrong: Record<string, RegExp> = {
    '{"note":{}}': /line 2: "reasons" of the note is not a list of texts/,
    '{"note":{"reasons":[]}}': /line 2: "id" of the note is missing/,
    '{"note":{"reasons":[],"id":"1","entity":"pet"}}':
      /"entity" of the note is "pet"; known are order, user/,
  };
  for (const [line, message] of Object.entries(wrong)) {
    const lines = ['{"rampkit":"events","version":1,"environment":"sandbox"}'];
    await assert.rejects(
      importEvents(to, "sandbox", given([...lines, line])),
      message,
    );
  }
  await to.close();
});

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

Deno.test("an erasure deletes what was noted of the person, the orders and the deliveries, and nothing more is noted of the orders", async () => {
  await using ledger = await emptyLedger({ now: () => NOW_MS });
  await ledger.append([
    orderRead(7, { orderId: "HERS", status: "cancelled", user: "U1" }),
    orderRead(7, { orderId: "HIS", status: "cancelled", user: "U2" }),
    orderWebhook("W1", 7, {
      type: "order_cancelled",
      orderId: "HERS",
      user: "U1",
    }),
  ]);
  await ledger.project();
  const about = (entity: Note["entity"], entityId: string) => ({
    ...{ entity, entityId, action: "note" as const, reasons: [] },
    ...{ text: "Mrs Miller called", author: "Ada" },
  });
  for (
    const [entity, id] of [
      ["order", "HERS"],
      ["order", "HIS"],
      ["user", "U1"],
      ["delivery", "W1"],
    ] as const
  ) assert.ok(await addNote(ledger.driver, about(entity, id), NOW_MS));
  assert.equal((await ledger.find("miller")).found.length, 3);
  await ledger.erasures.erase("U1");
  const left = await Array.fromAsync(allNotes(ledger.driver));
  assert.deepEqual(
    left.map(({ entityId, text }) => `${entityId}: ${text}`),
    ["HERS: ", "HIS: Mrs Miller called"],
  );
  assert.equal((await ledger.find("miller")).found.length, 1);
  assert.equal(
    await addNote(ledger.driver, about("order", "HERS"), NOW_MS),
    null,
  );
  const lines = [
    '{"rampkit":"events","version":1,"environment":"sandbox"}',
    exportedNote({
      ...about("order", "HERS"),
      id: "01KA00000000000000000000AA",
      notedAt: "2026-11-20T12:00:00.000Z",
    }),
    '{"end":0}',
  ];
  await importEvents(ledger.driver, "sandbox", given(lines));
  assert.deepEqual(await Array.fromAsync(allNotes(ledger.driver)), left);
});
