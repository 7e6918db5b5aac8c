import assert from "node:assert/strict";
import { bodyValue, classify } from "./classify_body.ts";

Deno.test("classify() reads an escaped type right, whatever was parsed before", () => {
  // V8 would reuse this key for the escaped one below.
  JSON.parse(`{"unseen":1,"\\\\u00":"login"}`);
  const body = `{"unseen":1,"\\u0074ype":"login"}`;
  assert.deepEqual(classify(bodyValue(new TextEncoder().encode(body))), {
    type: "login",
    why: null,
  });
});

Deno.test("classify() tells objects that are not documented from what is none", () => {
  const typeOf = (body: string): string =>
    classify(bodyValue(new TextEncoder().encode(body))).type;
  assert.equal(typeOf(`{"type":"coffee_brewed"}`), "other");
  for (const body of ["", "not JSON", "[]", "null", `"text"`, "7", `{"a"`]) {
    assert.equal(typeOf(body), "quarantined", body);
  }
});
