import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { gzippedBytesOf, minified } from "../tests/kit/minified.ts";

/** Largest bundle of a page or worker that uses the client, compressed. */
const LIMIT_BYTES = 40 * 1024;

Deno.test("OnrampClient makes a small bundle", async () => {
  const door = JSON.stringify(new URL("./mod.ts", import.meta.url).href);
  const config = fileURLToPath(new URL("../deno.json", import.meta.url));
  const text = await minified(`export { OnrampClient } from ${door};\n`, [
    "--config",
    config,
  ]);
  const bytes = await gzippedBytesOf(text);
  assert.ok(bytes > 5_000 && bytes <= LIMIT_BYTES, `${bytes} bytes`);
  // The client does not explain failed payments, so their meanings stay out.
  assert.ok(!text.includes("Incorrect CVV/CVC"));
});
