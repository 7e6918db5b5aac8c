import assert from "node:assert/strict";
import { brief, prose } from "./markup.ts";

Deno.test("brief() shows both ends of a word that is too long to read, and all of others", () => {
  const hash = `0x${"ab".repeat(32)}`;
  assert.equal(
    brief(`Success. Crypto was sent: ${hash}`),
    "Success. Crypto was sent: 0xababababab…\u2060ababab",
  );
  const id = "01KQSUCCESS000000000000001";
  assert.equal(brief(`Named ${id}.`), `Named ${id}.`);
  const wide = brief("\u{1F469}".repeat(40));
  assert.equal(
    wide,
    `${"\u{1F469}".repeat(12)}…\u2060${"\u{1F469}".repeat(6)}`,
  );
});

Deno.test("prose() sets commands apart, and escapes what is in them", () => {
  assert.equal(
    prose("Does `serve <b>` run?").join(""),
    "Does <code>serve &lt;b&gt;</code> run?",
  );
});

Deno.test("prose() shows times as pages do, but not those in commands", () => {
  const time = "2026-11-20T12:05:00.123Z";
  assert.equal(
    prose(`Since ${time}: run \`recover --from ${time}\`, or ${time}`).join(""),
    `Since <time datetime="${time}">2026-11-20 12:05:00</time>: run ` +
      `<code>recover --from ${time}</code>, or ` +
      `<time datetime="${time}">2026-11-20 12:05:00</time>`,
  );
});
