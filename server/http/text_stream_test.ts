import assert from "node:assert/strict";
import { textStream } from "./http_app.ts";

Deno.test("textStream() gives the text, makes no more than is taken, and ends what the reader left", async () => {
  let made = 0;
  let ended = false;
  async function* parts() {
    try {
      for (; made < 100; made++) yield "ä".repeat(1024);
    } finally {
      ended = true;
    }
  }
  const whole = await new Response(textStream(parts())).text();
  assert.equal(whole, "ä".repeat(100 * 1024));

  [made, ended] = [0, false];
  const reader = textStream(parts()).getReader();
  assert.equal(made, 0);
  await reader.read();
  assert.ok(made < 20, `${made} were made for one read`);
  await reader.cancel();
  assert.ok(ended && made < 20);
});

Deno.test("textStream() fails where the text does", async () => {
  async function* parts() {
    yield "begun";
    await Promise.reject(new Error("the database is gone"));
  }
  await assert.rejects(
    new Response(textStream(parts())).text(),
    /the database is gone/,
  );
});
