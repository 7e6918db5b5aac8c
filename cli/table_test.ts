import assert from "node:assert/strict";
import { drawTable } from "./table.ts";

Deno.test("drawTable() aligns columns and leaves no trailing blanks", () => {
  const text = drawTable(
    [{ title: "Order" }, { title: "Amount", align: "right" }],
    [["a", "1.50"], ["longer", "100.00"]],
    null,
  );
  assert.deepEqual(text.split("\n"), [
    "Order   Amount",
    "a         1.50",
    "longer  100.00",
  ]);
});

Deno.test("drawTable() shortens the longest cells when the terminal is narrow", () => {
  const text = drawTable(
    [{ title: "Id" }, { title: "Detail" }],
    [["01ARZ3NDEKTSV4RRFFQ69G5FAV", "x".repeat(60)]],
    50,
  );
  for (const line of text.split("\n")) assert.ok(line.length <= 50, line);
  assert.match(text, /01ARZ3NDEKTSV4RRF/);
  assert.match(text, /…/);
});

Deno.test("drawTable() disarms control characters", () => {
  const text = drawTable([{ title: "Id" }], [["\u001b[31mred\n"]], null);
  assert.equal(text.includes("\u001b"), false);
});
