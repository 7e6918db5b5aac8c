import assert from "node:assert/strict";
import { ENTITIES } from "../../../ledger/for_sync.ts";
import { MACHINES, orderMachine } from "../../../ledger/for_resources.ts";
import { describeMeaning } from "../../wording/machine.ts";
import { machineLines } from "./machine_view.ts";

Deno.test("machineLines() prints each state, and which moves are odd", () => {
  const lines = machineLines(orderMachine, null);
  const words = lines.map((line) => line.trim().split(/ {2,}/));
  for (const state of Object.keys(orderMachine.states)) {
    assert.ok(words.some(([first]) => first === state), state);
  }
  const from = (state: string) =>
    words.findLast(([first]) => first === state) ?? [];
  assert.ok(from("pending").includes("unusual: regression"));
  assert.ok(from("success").includes("unusual: final_changed"));
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
