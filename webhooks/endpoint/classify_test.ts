import assert from "node:assert/strict";
import { classify } from "./classify.ts";

Deno.test("classify() reads an escaped type right, whatever was parsed before", () => {
  // V8 would reuse this key for the escaped one below.
  JSON.parse(`{"unseen":1,"\\\\u00":"login"}`);
  const body = `{"unseen":1,"\\u0074ype":"login"}`;
  assert.deepEqual(classify(new TextEncoder().encode(body)), {
    type: "login",
    why: null,
  });
});
