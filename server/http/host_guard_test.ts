import assert from "node:assert/strict";
import { hostGuard } from "./http_app.ts";

Deno.test("hostGuard() refuses what is no name, as a server passes it on, and does not throw", () => {
  const isKnown = hostGuard(["console.example"]);
  const known: Record<string, boolean> = {};
  for (
    const host of [
      "console.example",
      "[::1]:8789",
      "127.0.0.1",
      "[fe80::1%25lo]:1",
      "[",
      "a b",
      "localhost.",
      "localhost:99999",
    ]
  ) {
    const url = `http://${host}/v1/orders`;
    known[host] = isKnown({ url, headers: new Headers({ host }) });
    // A request may name another host than its header does.
    assert.equal(
      isKnown({ url, headers: new Headers({ host: "localhost" }) }),
      known[host],
    );
    assert.equal(
      isKnown({ url: "http://localhost/", headers: new Headers({ host }) }),
      known[host],
    );
  }
  assert.deepEqual(known, {
    "console.example": true,
    "[::1]:8789": true,
    "127.0.0.1": true,
    "[fe80::1%25lo]:1": false,
    "[": false,
    "a b": false,
    "localhost.": false,
    "localhost:99999": false,
  });
});
