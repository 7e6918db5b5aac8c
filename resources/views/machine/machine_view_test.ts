import assert from "node:assert/strict";
import { ENTITIES } from "../../../ledger/for_sync.ts";
import { MACHINES, orderMachine } from "../../../ledger/for_resources.ts";
import { describeMeaning } from "../../wording/machine.ts";
import { machineLines } from "./machine_view.ts";

Deno.test("machineLines() draws every state, usual moves apart from odd ones", () => {
  const lines = machineLines(orderMachine, null);
  assert.ok(
    lines.includes("  pending             --> failed, success, cancelled"),
  );
  assert.ok(lines.includes("                      ..> progress (regression)"));
  assert.ok(
    lines.includes("  success (final)     ..> cancelled (final_changed)"),
  );
});

Deno.test("machineLines() fits a narrow terminal and leaves no cell out", () => {
  for (const machine of ENTITIES.flatMap((entity) => MACHINES[entity])) {
    const words = (columns: number | null) =>
      new Set(machineLines(machine, columns).join(" ").split(/\s+/));
    for (const line of machineLines(machine, 80)) {
      assert.ok(line.length <= 80, line);
    }
    assert.deepEqual(words(80), words(null));
  }
});

Deno.test("describeMeaning() has a sentence for every state of every machine", () => {
  for (const machine of ENTITIES.flatMap((entity) => MACHINES[entity])) {
    for (const row of [...Object.values(machine.states), machine.unlisted]) {
      assert.match(describeMeaning(row.meaning), /^[A-Z].* /, row.meaning);
    }
  }
});
