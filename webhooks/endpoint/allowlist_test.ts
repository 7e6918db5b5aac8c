import assert from "node:assert/strict";
import { allowlist } from "./allowlist.ts";

Deno.test("allowlist() matches addresses and networks of both families", () => {
  const allowed = allowlist(["192.0.2.7", "198.51.100.0/24", "2001:db8::/32"]);
  for (
    const address of [
      "192.0.2.7",
      "::ffff:192.0.2.7",
      "198.51.100.0",
      "198.51.100.255",
      "2001:db8:1::1",
      "[2001:db8::1]",
      "2001:db8::1%eth0",
    ]
  ) {
    assert(allowed(address), address);
  }
  for (
    const address of [
      "192.0.2.8",
      "198.51.101.0",
      "2001:db9::1",
      "::1",
      "",
      "unix",
      "192.0.2.7.1",
      null,
    ]
  ) {
    assert(!allowed(address), String(address));
  }
});

Deno.test("allowlist() of nothing allows no address, and of everything any address", () => {
  assert(!allowlist([])("127.0.0.1"));
  const everybody = allowlist(["0.0.0.0/0", "::/0"]);
  assert(everybody("203.0.113.9"));
  assert(everybody("fe80::1"));
});

Deno.test("allowlist() refuses entries that are neither address nor network", () => {
  for (
    const entry of [
      "",
      "localhost",
      "1.2.3",
      "1.2.3.4/33",
      "::1/129",
      "1.2.3.4/",
      "1.2.3.4/8/8",
      "1.2.3.4/-1",
      "1.2.3.4/x",
    ]
  ) {
    assert.throws(() => allowlist([entry]), TypeError, entry);
  }
});
