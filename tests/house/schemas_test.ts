import assert from "node:assert/strict";
import { generateSchemas } from "../../tools/schemas/generate.ts";

Deno.test("resources/schemas/components.json is what the types say; if not: deno task schemas", async () => {
  const written = await Deno.readTextFile(
    new URL("../../resources/schemas/components.json", import.meta.url),
  );
  assert.ok(
    written === generateSchemas(),
    "A type changed: deno task schemas",
  );
});
