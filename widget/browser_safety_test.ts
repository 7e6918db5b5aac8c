import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

/** Largest minified bundles, in bytes. */
const limits = {
  whole: { bytes: 32_000, gzippedBytes: 12_500 },
  page: { bytes: 26_000, gzippedBytes: 10_000 },
};

const folder = fileURLToPath(new URL(".", import.meta.url));

Deno.test("widget/ needs no Deno: it checks with the browser's types alone", async () => {
  const { code, errors } = await browserCheck(`${folder}mod.ts`);
  assert.equal(errors, "");
  assert.equal(code, 0);
});

Deno.test("the browser check refuses a module that needs Deno", async () => {
  await withFile("export const pid = Deno.pid;\n", async (file) => {
    const { code, errors } = await browserCheck(file);
    assert.notEqual(code, 0);
    assert.match(errors, /Deno/);
  });
});

Deno.test("the browser bundle is small, and holds nothing of a server", async () => {
  const names = [
    "clickId, draftOptions, fetchSession, ignoredOptions, sdkListeners",
    "widgetOptions, WidgetOpener",
  ].join(", ");
  const door = JSON.stringify(new URL("./mod.ts", import.meta.url).href);
  const whole = await bundle(`export * from ${door};\n`);
  const page = await bundle(`export { ${names} } from ${door};\n`);
  for (const [name, text] of Object.entries({ whole, page })) {
    assert.doesNotMatch(text, /\bDeno\b|\bnode:|require\(|process\./);
    assert.doesNotMatch(text, /X-Api-Key|apiKey|libsql|api\/external/i);
    const holdsServer = /not_signed_in|createSession/.test(text);
    assert.equal(holdsServer, name === "whole");
    const limit = limits[name as keyof typeof limits];
    const gzippedBytes = await gzipped(text);
    console.log(`${name}: ${text.length} bytes, ${gzippedBytes} gzipped`);
    assert.ok(text.length <= limit.bytes, `${name}: ${text.length} bytes`);
    assert.ok(gzippedBytes <= limit.gzippedBytes, `${name}: ${gzippedBytes}`);
  }
});

async function browserCheck(
  file: string,
): Promise<{ code: number; errors: string }> {
  const config = `${folder}browser_check.json`;
  const { code, stderr } = await new Deno.Command("deno", {
    args: ["check", "--quiet", "--no-lock", "--config", config, file],
    env: { NO_COLOR: "1" },
    stdout: "null",
  }).output();
  return { code, errors: new TextDecoder().decode(stderr) };
}

function bundle(source: string): Promise<string> {
  return withFile(source, async (file) => {
    const out = `${file}.js`;
    const { code, stderr } = await new Deno.Command("deno", {
      args: [
        ...["bundle", "--quiet", "--no-lock", "--no-config", "--minify"],
        ...["--platform", "browser", "--output", out, file],
      ],
      stdout: "null",
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    return await Deno.readTextFile(out);
  });
}

async function withFile<T>(
  text: string,
  use: (file: string) => Promise<T>,
): Promise<T> {
  const directory = await Deno.makeTempDir({ prefix: "widget" });
  try {
    const file = `${directory}/entry.ts`;
    await Deno.writeTextFile(file, text);
    return await use(file);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function gzipped(text: string): Promise<number> {
  const stream = new Blob([text]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}
