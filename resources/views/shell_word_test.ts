import assert from "node:assert/strict";
import { printable } from "../../core/text.ts";
import { nextCommand, operands, shellWord } from "./text.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

const HOSTILE = [
  "01KA00000000000000000000",
  "",
  "two words",
  "$(touch pwned)",
  "`touch pwned`",
  "; touch pwned #",
  "'; touch pwned; '",
  "\\'; touch pwned; \\'",
  "a\nb; touch pwned",
  "\u001b[2J\u009b31m",
  "x\u202etxt.exe",
  "-rf",
  "--database-url=file:other.db",
  "~root",
  "=ls",
  "!! history",
  "${HOME}|*?[a]{b,c}<>&",
  "Straße 🚀",
];

/** What a shell makes of words, and which files it made on the way. */
async function pasted(
  shell: string,
  words: string,
): Promise<{ value: string; files: string[] }> {
  await using folder = await temporaryFolder();
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `exec ${shell} -c "$1"`, "sh", `printf '%s' ${words}`],
    cwd: folder.path,
  }).output();
  const value = new TextDecoder("utf-8", { ignoreBOM: true }).decode(stdout);
  return {
    value,
    files: [...Deno.readDirSync(folder.path)].map((f) => f.name),
  };
}

Deno.test("shellWord() is one word of exactly that value when it is pasted into bash", async () => {
  for (const value of HOSTILE) {
    const word = shellWord(value);
    assert.equal(printable(word), word, "it cannot be printed as it is");
    const { value: read, files } = await pasted("bash", word);
    assert.deepEqual([read, files], [value, []], word);
  }
});

Deno.test("shellWord() runs nothing in a shell that does not know its escapes", async () => {
  for (const value of HOSTILE) {
    const { files } = await pasted("dash", shellWord(value));
    assert.deepEqual(files, [], value);
  }
});

Deno.test("shellWord() leaves what needs no quotes as it is", () => {
  for (
    const value of ["01KA", "order:01KA:confirmed.success#2", "file:a/b.db"]
  ) {
    assert.equal(shellWord(value), value);
  }
});

Deno.test("operands() parts values that look like flags from the flags", () => {
  assert.equal(operands("a", "b c"), "a 'b c'");
  assert.equal(operands("goods", "--all"), "-- goods '--all'");
});

Deno.test("nextCommand() names the ledger that this command read, quoted", () => {
  assert.equal(nextCommand({}, "month list"), "  rampkit month list");
  assert.equal(
    nextCommand(
      { databaseUrl: "file:my books.db", environment: "sandbox" },
      "orders explain --verbose",
      operands("-1"),
    ),
    "  rampkit orders explain --verbose --database-url 'file:my books.db' " +
      "--environment sandbox -- '-1'",
  );
});

Deno.test("nextCommand() leaves out an address that holds a password", () => {
  assert.equal(
    nextCommand({ databaseUrl: "libsql://me:word@host" }, "month list"),
    "  rampkit month list",
  );
});
