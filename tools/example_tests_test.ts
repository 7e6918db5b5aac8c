import assert from "node:assert/strict";
import { examplesOf, exampleTest, exportsOf } from "./example_tests.ts";

const FENCE = "```";

Deno.test("examplesOf() takes what runs from comments and pages, and nothing that is marked", () => {
  const text = `/**
 * Adds.
 *
 * ${FENCE}ts
 * if (add(1, 2) !== 3) {
 *   throw new Error();
 * }
 * ${FENCE}
 * ${FENCE}ts ignore
 * never();
 * ${FENCE}
 */
${FENCE}sh
no test
${FENCE}
${FENCE}js
page();
${FENCE}
`;
  assert.deepEqual(examplesOf(text), [
    { line: 5, code: "if (add(1, 2) !== 3) {\n  throw new Error();\n}" },
    { line: 17, code: "page();" },
  ]);
});

Deno.test("exampleTest() imports from anywhere what the example imports where it stands", () => {
  const code = `import assert from "node:assert/strict";
import {
  one,
} from "./one.ts";
import { openLedger } from "@rampkit/onramp/ledger";
import { Hono } from "hono";
const later = await import("node:fs");
export const three = 3;
assert.ok(one, two());`;
  const exported = exportsOf(
    "export function two() {}\nexport const later = 1;\nexport class Ten {}\n",
  );
  const place = { root: "/root", file: "core/two.ts", exported };
  const test = exampleTest({ line: 7, code }, place);
  assert.equal(
    test,
    `import { two } from "file:///root/core/two.ts";
import assert from "node:assert/strict";
import {
  one,
} from "file:///root/core/one.ts";
import { openLedger } from "file:///root/ledger/mod.ts";
import { Hono } from "npm:hono@^4.13.19";

Deno.test("example in core/two.ts:7", async () => {
const later = await import("node:fs");
const three = 3;
assert.ok(one, two());
});
`,
  );
});
