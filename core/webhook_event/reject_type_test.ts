import assert from "node:assert/strict";
import { describeRejectType, REJECT_TYPES } from "../../webhooks/mod.ts";

Deno.test("describeRejectType() has a meaning for each documented value", () => {
  const codes = Object.keys(REJECT_TYPES);
  assert.equal(codes.length, 11);
  for (const code of codes) {
    const kind = code.startsWith("LKYC") ? /light/ : /document/;
    assert.match(String(describeRejectType(code)), kind);
  }
  assert.equal(new Set(Object.values(REJECT_TYPES)).size, 11);
});

Deno.test("describeRejectType() says null to anything else", () => {
  for (const code of ["", "LKYC_FAILED_SPAM", "constructor", "__proto__"]) {
    assert.equal(describeRejectType(code), null);
  }
});
