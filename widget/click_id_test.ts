import assert from "node:assert/strict";
import fc from "fast-check";
import { clickId } from "./click_id.ts";

const uuid4 =
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

Deno.test("clickId() is a UUID v4 whatever the random bytes", () => {
  fc.assert(fc.property(
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
    (bytes) => assert.match(clickId(() => bytes), uuid4),
  ));
});

Deno.test("clickId() keeps the 122 random bits as they are", () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, i) => i * 17);
  assert.equal(
    clickId(() => bytes),
    "00112233-4455-4677-8899-aabbccddeeff",
  );
});

Deno.test("clickId() does not repeat", () => {
  const ids = new Set(Array.from({ length: 1_000 }, () => clickId()));
  assert.equal(ids.size, 1_000);
});
