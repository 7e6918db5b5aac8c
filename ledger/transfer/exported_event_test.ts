import assert from "node:assert/strict";
import { exportEnd } from "./exported_event.ts";

Deno.test("exportEnd() knows the last line however its JSON is spaced", () => {
  assert.equal(exportEnd('{"end":3}'), 3);
  assert.equal(exportEnd('{ "end": 3 }\r'), 3);
  assert.equal(exportEnd('{"end":3,"kind":"webhook"}'), null);
  assert.equal(exportEnd('{"kind":"webhook"}'), null);
});
