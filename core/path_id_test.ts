import assert from "node:assert/strict";
import fc from "fast-check";
import { idOfPath, pathOfId } from "./text.ts";

Deno.test("pathOfId() makes one segment of any id, which leads to it alone", () => {
  const ids = fc.oneof(
    fc.constantFrom(".", "..", "...", "%2e%2e", "a/../b", "?", "#", "\\", "~"),
    fc.string({ minLength: 1, maxLength: 256, unit: "grapheme" }).filter((id) =>
      !id.includes("\0")
    ),
  );
  fc.assert(fc.property(ids, (id) => {
    const { pathname, search, hash } = new URL(
      `/orders/${pathOfId(id)}`,
      "http://console/",
    );
    assert.deepEqual([search, hash], ["", ""]);
    const [, folder, segment = "", ...more] = pathname.split("/");
    assert.deepEqual([folder, more], ["orders", []]);
    assert.equal(idOfPath(decodeURIComponent(segment)), id);
  }));
});
