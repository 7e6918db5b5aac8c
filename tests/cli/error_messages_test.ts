import assert from "node:assert/strict";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** The first and the last text of an error's message, as far as literal. */
const THROWN =
  /\bnew (?:\w*Error|RangeError|TypeError|SyntaxError)\(\s*(?:"[a-z_]+",\s*)?(["`])((?:(?!\1)[^\\]|\\.)*)\1((?:\s*\+\s*(["`])(?:(?!\4)[^\\]|\\.)*\4)*)/g;

Deno.test("messages of errors begin with a capital, end without a full stop, and use no contractions", async () => {
  const wrong: string[] = [];
  let looked = 0;
  for (const file of await sourceFiles(root)) {
    if (isTestFile(file)) continue;
    const text = await Deno.readTextFile(`${root}/${file}`);
    const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
    for (const [, , first = "", rest = ""] of code.matchAll(THROWN)) {
      // An error may take its code before its message.
      if (/^[a-z]+(_[a-z]+)*$/.test(first)) continue;
      looked++;
      const last = rest === "" ? first : rest.trim().slice(1, -1);
      const message = first + rest;
      const say = (what: string) => wrong.push(`${file}: ${what}: ${first}`);
      if (/^[a-z]/.test(first)) say("begins small");
      if (/[^.]\.$/.test(last)) say("ends with a full stop");
      if (
        /\b(can|don|won|isn|doesn|couldn|shouldn|wasn|hasn|haven)'t\b/.test(
          message,
        )
      ) {
        say("has a contraction");
      }
    }
  }
  assert.ok(looked > 60, `only ${looked} messages were found`);
  assert.deepEqual(wrong, []);
});
