import assert from "node:assert/strict";
import { floodLedger, tooLate } from "./long_flood.ts";

Deno.test("three thousand invented ids keep no true order or user waiting", async () => {
  assert.deepEqual(tooLate(await floodLedger({ ids: 3000 })), []);
});
