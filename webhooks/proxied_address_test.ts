import assert from "node:assert/strict";
import { allowlist, proxiedAddress } from "./proxied_address.ts";

const read = proxiedAddress({
  header: "X-Forwarded-For",
  trustedProxies: ["10.0.0.0/8", "::1"],
});

function addressOf(peer: string | null, header?: string): string | null {
  return read(
    new Request("http://endpoint.invalid/", {
      headers: header === undefined ? {} : { "x-forwarded-for": header },
    }),
    peer === null ? undefined : { remoteAddr: { hostname: peer } },
  );
}

Deno.test("proxiedAddress() reads the header only from trusted proxies", () => {
  for (
    const [peer, header, expected] of [
      // Nobody else's header counts, whatever it claims.
      ["203.0.113.5", "192.0.2.1", "203.0.113.5"],
      ["203.0.113.5", "10.0.0.1", "203.0.113.5"],
      [null, "192.0.2.1", null],
      ["10.0.0.1", "192.0.2.1", "192.0.2.1"],
      ["::1", "2001:db8::1", "2001:db8::1"],
      ["10.0.0.1", undefined, "10.0.0.1"],
      // What the client wrote itself stands before what the proxy appended.
      ["10.0.0.1", "192.0.2.1, 203.0.113.9", "203.0.113.9"],
      ["10.0.0.1", "192.0.2.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
      ["10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
      // Some proxies add a port.
      ["10.0.0.1", "203.0.113.9:4711", "203.0.113.9"],
      ["10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
      // What is no address is nobody.
      ["10.0.0.1", "", null],
      ["10.0.0.1", "unknown", null],
      ["10.0.0.1", "192.0.2.1, unknown", null],
      ["10.0.0.1", "192.0.2.1,", null],
      ["10.0.0.1", "192.0.2.1 203.0.113.9", null],
    ] as const
  ) assert.equal(addressOf(peer, header), expected, `${peer}: ${header}`);
});

Deno.test("proxiedAddress() reads only as much of a header as proxies can have written", () => {
  const endless = "192.0.2.1," + "10.0.0.2,".repeat(5_000) + "10.0.0.2";
  assert.equal(addressOf("10.0.0.1", endless), "10.0.0.2");
});

Deno.test("proxiedAddress() refuses headers and proxies that it cannot trust", () => {
  for (
    const [header, trustedProxies] of [
      ["Forwarded", ["10.0.0.1"]],
      ["", ["10.0.0.1"]],
      ["X Forwarded", ["10.0.0.1"]],
      ["X-Forwarded-For", []],
      ["X-Forwarded-For", ["proxy"]],
    ] as const
  ) {
    assert.throws(() => proxiedAddress({ header, trustedProxies }), TypeError);
  }
});

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
