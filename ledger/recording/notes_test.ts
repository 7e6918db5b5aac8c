import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import { addNote, isAcknowledged, type Note, readNotes } from "./notes.ts";

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
  const driver = await newLedger();
  const first = await addNote(driver, noted("note", ["stuck"]), NOW_MS);
  const second = await addNote(driver, noted("acknowledge", ["stuck"]), NOW_MS);
  await addNote(driver, noted("note", [], "O2"), NOW_MS);
  const found = await readNotes(driver, "order", ["O1", "none"]);
  assert.deepEqual([...found], [["O1", [first, second]]]);
  assert.equal(first?.notedAt, "2026-11-20T12:00:00.000Z");
  assert.equal((await readNotes(driver, "user", ["O1"])).size, 0);
  await driver.close();
});
