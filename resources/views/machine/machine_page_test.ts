import assert from "node:assert/strict";
import { machinePage } from "./machine_page.ts";

Deno.test("STATES.md is what the tables of the machines print", async () => {
  const written = await Deno.readTextFile(
    new URL("../../../STATES.md", import.meta.url),
  );
  assert.equal(
    written,
    machinePage(),
    "run: deno task -q machine --markdown > STATES.md",
  );
});
