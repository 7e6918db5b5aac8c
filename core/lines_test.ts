import assert from "node:assert/strict";
import fc from "fast-check";
import { byteLines, textLines } from "./text.ts";

async function lines(chunks: Uint8Array[]): Promise<string[]> {
  return await Array.fromAsync(textLines(from(chunks)));
}

async function* from(chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

Deno.test("byteLines() gives the same lines however the bytes are cut", async () => {
  const bytes = new TextEncoder().encode("eins\nzwöi\r\n\ndrü");
  const expected = ["eins", "zwöi", "", "drü"];
  for (let a = 0; a <= bytes.length; a++) {
    for (let b = a; b <= bytes.length; b++) {
      const chunks = [
        bytes.slice(0, a),
        bytes.slice(a, b),
        bytes.slice(b),
      ];
      assert.deepEqual(await lines(chunks), expected);
    }
  }
});

Deno.test("byteLines() keeps every byte that is not a line's end", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.uint8Array({ maxLength: 20 })),
    async (parts) => {
      const clean = parts.map((part) =>
        part.filter((byte) => byte !== 10 && byte !== 13)
      );
      const chunks = clean.flatMap((part) => [part, Uint8Array.of(10)]);
      const found = await Array.fromAsync(byteLines(from(chunks)));
      assert.deepEqual(
        found.map((line) => [...line]),
        clean.map((line) => [...line]),
      );
    },
  ));
});
