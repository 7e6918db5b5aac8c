import assert from "node:assert/strict";
import { csvLine, csvRows } from "./csv.ts";

Deno.test("csvLine() quotes what would break a line, and keeps negative numbers", () => {
  assert.equal(
    csvLine(['a"b', "c,d", "e\nf", "-1.5"]),
    '"a""b","c,d",e�f,-1.5\r\n',
  );
});

Deno.test("csvLine() marks every cell that a spreadsheet would compute", () => {
  const cells = ["=1", "+1", "-1+cmd", "@SUM", "\t=1", "\r=1", " =1", "＝1"];
  assert.equal(
    csvLine(cells),
    "'=1,'+1,'-1+cmd,'@SUM,'�=1,'�=1,' =1,'＝1\r\n",
  );
});

Deno.test("csvLine() lets no control character or mark of direction through", () => {
  assert.equal(
    csvLine(["\u001b[2Ja", "b\u009b", "c\u202ed", "e\u0000"]),
    "�[2Ja,b�,c�d,e�\r\n",
  );
});

Deno.test("csvLine() marks ids that a spreadsheet would read as numbers, dates or times", () => {
  const cells = [
    "727E28",
    "1.5e3",
    "007",
    "1234567890123456",
    "3-4",
    "12/5",
    "1.5",
    "2026-11-20",
    "12:30",
    "MAR1",
    "1-Dec",
    "SEPT2",
    "5%",
    "-727E28",
  ];
  for (const cell of cells) {
    assert.equal(csvLine([cell]), `'${cell}\r\n`, cell);
  }
  const kept = [
    "727EX8",
    "01KA00000000000000000000",
    "USDC",
    "42",
    "DECAF",
    "",
  ];
  for (const cell of kept) assert.equal(csvLine([cell]), `${cell}\r\n`, cell);
});

Deno.test("csvLine() writes an amount of more than 15 digits as text, others as numbers", () => {
  const written = (amount: string) => csvLine([{ amount }]).trimEnd();
  assert.equal(written("0.10"), "0.10");
  assert.equal(written("-12345.6789012345"), "-12345.6789012345");
  assert.equal(written("0.000000000000000001"), "0.000000000000000001");
  assert.equal(written("0.1000000000000001"), "'0.1000000000000001");
  assert.equal(written("-1234567890.123456"), "'-1234567890.123456");
  assert.equal(written("1e5"), "'1e5");
});

Deno.test("csvRows() reads back what csvLine() wrote", () => {
  const cells = ["=1", "'=1", "'", 'a"b,"', "", "727E28", ";", "", "x"];
  const text = csvLine(cells) + csvLine([{ amount: "1" }, { own: "" }]);
  assert.deepEqual([...csvRows(text)], [cells, ["1", ""]]);
});

Deno.test("csvLine() writes an amount twice: as a text with every digit, and as a number of 15 digits", () => {
  const twice = (amount: string) =>
    csvLine([{ exact: amount }, { rounded: amount }]).trimEnd();
  assert.equal(twice("0.10"), "'0.10,0.1");
  assert.equal(twice("-30.10"), "'-30.10,-30.1");
  assert.equal(
    twice("0.012300000000000001"),
    "'0.012300000000000001,0.0123",
  );
  assert.equal(twice("1234567890123456"), "'1234567890123456,1234567890123460");
  assert.equal(
    twice("0.1234567890123445"),
    "'0.1234567890123445,0.123456789012344",
  );
  assert.equal(twice(""), ",");
  assert.equal(twice("a lot"), "'a lot,");
  assert.deepEqual([...csvRows(csvLine([{ exact: "0.10" }]))], [["0.10"]]);
});
