import assert from "node:assert/strict";
import { readForm } from "./access.ts";

/** A request with a body of parts; without an end unless `ends`. */
function sent(parts: readonly string[], ends = true) {
  const encoder = new TextEncoder();
  let at = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const part = parts[at++];
      if (part !== undefined) controller.enqueue(encoder.encode(part));
      else if (ends) controller.close();
      else await new Promise<void>(() => {}); // Nothing more ever comes.
    },
    cancel: () => {
      cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { body, isCancelled: () => cancelled };
}

Deno.test("readForm() reads fields, however their names and parts are cut", async () => {
  const fields = await readForm(
    sent(["to=%2Fa&tok", "en=%C3", "%A4&__proto__=1"]),
  );
  assert.deepEqual(
    { ...fields },
    Object.fromEntries([["to", "/a"], ["token", "ä"], ["__proto__", "1"]]),
  );
  assert.deepEqual(await readForm({ body: null }), {});
});

Deno.test("readForm() reads no more of a form than a form can have", async () => {
  const endless = sent(Array.from({ length: 1000 }, () => "x".repeat(1000)));
  await assert.rejects(readForm(endless), { status: 413 });
  assert.ok(endless.isCancelled());
});

Deno.test("readForm() waits for no form that does not come", async () => {
  const slow = sent(["token="], false);
  await assert.rejects(readForm(slow, 1), { status: 408 });
  assert.ok(slow.isCancelled());
});

Deno.test("readForm() says of a form that breaks off that it did", async () => {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.error(new Error("reset")),
  });
  await assert.rejects(readForm({ body }), {
    status: 400,
    message: "The form was cut off",
  });
});
