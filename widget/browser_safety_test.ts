import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { gzippedBytesOf, minified, withFile } from "../tests/kit/minified.ts";

/** Largest minified bundles, in bytes. */
const limits = {
  whole: { bytes: 32_000, gzippedBytes: 12_600 },
  page: { bytes: 26_000, gzippedBytes: 10_000 },
};

const folder = fileURLToPath(new URL(".", import.meta.url));

Deno.test("widget/ needs no Deno: it checks with the browser's types alone, which refuse a module that needs Deno", async () => {
  await withFile("export const pid = Deno.pid;\n", async (file) => {
    const { code, errors } = await browserCheck(`${folder}mod.ts`, file);
    assert.notEqual(code, 0);
    assert.match(errors, /Deno/);
    const places = [...errors.matchAll(/at (file:\S+?):\d+:\d+/g)]
      .map(([, place]) => fileURLToPath(place ?? ""));
    assert.deepEqual([...new Set(places)], [file], errors);
  });
});

Deno.test("widget/ makes a small browser bundle without server code", async () => {
  const names = [
    "clickId, draftOptions, fetchSession, ignoredOptions, sdkListeners",
    "widgetOptions, WidgetOpener",
  ].join(", ");
  const door = JSON.stringify(new URL("./mod.ts", import.meta.url).href);
  const whole = await minified(`export * from ${door};\n`);
  const page = await minified(`export { ${names} } from ${door};\n`);
  for (const [name, text] of Object.entries({ whole, page })) {
    assert.doesNotMatch(text, /\bDeno\b|\bnode:|require\(|process\./);
    assert.doesNotMatch(text, /X-Api-Key|apiKey|libsql|api\/external/i);
    const holdsServer = /not_signed_in|createSession/.test(text);
    assert.equal(holdsServer, name === "whole");
    const limit = limits[name as keyof typeof limits];
    const gzippedBytes = await gzippedBytesOf(text);
    console.log(`${name}: ${text.length} bytes, ${gzippedBytes} gzipped`);
    assert.ok(text.length <= limit.bytes, `${name}: ${text.length} bytes`);
    assert.ok(gzippedBytes <= limit.gzippedBytes, `${name}: ${gzippedBytes}`);
  }
});

async function browserCheck(
  ...files: readonly string[]
): Promise<{ code: number; errors: string }> {
  const config = `${folder}browser_check.json`;
  const { code, stderr } = await new Deno.Command("deno", {
    args: ["check", "--quiet", "--no-lock", "--config", config, ...files],
    env: { NO_COLOR: "1" },
    stdout: "null",
  }).output();
  return { code, errors: new TextDecoder().decode(stderr) };
}
