import assert from "node:assert/strict";
import { drawTable } from "./text.ts";

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

Deno.test("drawTable() leaves out spare columns before it cuts what must be whole", () => {
  const head = [
    { title: "Order", whole: true },
    { title: "Amount", whole: true, spare: 1 },
    { title: "Asset", whole: true, spare: 2 },
    { title: "Note" },
  ];
  const rows = [["01ARZ3NDEKTSV4RRFFQ69G5FAV", "205.14", "0.065677", "x"]];
  assert.match(drawTable(head, rows, 60), /FAV {2}205\.14 {2}0\.065677 {2}x/);
  const narrow = drawTable(head, rows, 45);
  assert.match(narrow, /^01ARZ3NDEKTSV4RRFFQ69G5FAV {2}205\.14 {2}x$/m);
  assert.match(narrow, /\n\nNo room for: Asset$/);
  assert.match(drawTable(head, rows, 10), /FAV {2}x\n\nNo room\n/);
});

Deno.test("drawTable() disarms control characters", () => {
  const text = drawTable([{ title: "Id" }], [["\u001b[31mred\n"]], null);
  assert.equal(text.includes("\u001b"), false);
});

Deno.test("drawTable() lets nobody turn round what stands beside a text", () => {
  const text = drawTable([{ title: "Id" }], [["a\u202e\u2066b"]], null);
  assert.equal(text, "Id\na\ufffd\ufffdb");
});

Deno.test("drawTable() lets no forged text push the rows apart", () => {
  const head = [{ title: "Order", whole: true }, { title: "Note" }];
  const long = "x".repeat(1_000_000);
  const lines = drawTable(head, [[long, long], ["a", "b"]], null).split("\n");
  for (const line of lines) assert.ok(line.length < 2000);
  assert.match(lines[2] ?? "", /^a {120,}b$/);
});

Deno.test("drawTable() draws many rows", () => {
  const rows = Array.from({ length: 200_000 }, () => ["a"]);
  const text = drawTable([{ title: "Id" }], rows, 80);
  assert.equal(text.length, "Id".length + 2 * rows.length);
});

Deno.test("drawTable() leaves out spare columns in which nothing stands before any other, and names none of them", () => {
  const head = [
    { title: "Order", whole: true },
    { title: "Reference", whole: true, spare: 1 },
    { title: "Anomalies", spare: 2 },
    { title: "Asset", whole: true, spare: 3 },
  ];
  const rows = [["01ARZ3NDEKTSV4RRFFQ69G5FAV", "basket-7", "", "0.065677"]];
  assert.match(drawTable(head, rows, null), /Anomalies {2}/);
  assert.deepEqual(drawTable(head, rows, 50).split("\n"), [
    "Order                       Reference  Asset",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV  basket-7   0.065677",
  ]);
});
