import assert from "node:assert/strict";
import { found, gathered, lookedAt } from "./finding.ts";

const codes = (looks: Parameters<typeof gathered>[0]) =>
  gathered(looks).map(({ code, about }) =>
    about === null ? code : `${code} ${about}`
  );

Deno.test("gathered() shows what stands of a subject, once, and what is fine only where nothing stands", () => {
  assert.deepEqual(
    codes([
      [found("disk_has_room"), found("events_folded")],
      [found("ledger_writable")],
      [found("ledger_refuses"), found("ledger_refuses")],
    ]),
    ["ledger_refuses", "disk_has_room", "events_folded"],
  );
});

Deno.test("gathered() keeps what is found of each of several", () => {
  assert.deepEqual(
    codes([[
      found("dead_letters", { about: "a" }),
      found("dead_letters", { about: "b" }),
      found("receiver_works", { about: "c" }),
    ]]),
    ["dead_letters a", "dead_letters b"],
  );
});

Deno.test("lookedAt() says of its subject that it cannot be looked at, and why", async () => {
  const [one] = await lookedAt("polling", () => {
    throw new Error("No database");
  });
  assert.equal(one?.code, "not_looked_at");
  assert.equal(one?.subject, "polling");
  assert.match(one?.detail ?? "", /No database$/);
});
