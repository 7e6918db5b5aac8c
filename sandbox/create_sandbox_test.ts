import assert from "node:assert/strict";
import { sendAs } from "../tests/kit/send_as.ts";
import { hostCheck, serveSandbox } from "./create_sandbox.ts";

Deno.test("hostCheck() accepts names of this machine and the given ones", () => {
  const isOurs = hostCheck(["sandbox", "192.168.1.5"]);
  for (
    const [host, ours] of [
      ["localhost:8788", true],
      ["127.0.0.1:8788", true],
      ["[::1]:8788", true],
      ["shop.localhost", true],
      ["LOCALHOST", true],
      ["sandbox:8788", true],
      ["192.168.1.5", true],
      ["evil.example", false],
      ["127.0.0.1.evil.example", false],
      ["localhost.evil.example", false],
      ["192.168.1.6", false],
    ] as const
  ) {
    assert.equal(isOurs(new Request(`http://${host}/control`)), ours, host);
  }
});

Deno.test("serveSandbox() refuses a page whose own name points to this machine", async () => {
  await using served = await serveSandbox({
    port: 0,
    allowedHosts: ["friend"],
  });
  const port = Number(new URL(served.url).port);
  for (const path of ["POST /control/orders", "GET /control/state", "GET /"]) {
    const refused = await sendAs(`evil.example:${port}`, port, path);
    assert.match(refused, /^HTTP\/1\.1 403 /, path);
  }
  assert.equal(served.sandbox.orders().length, 0);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, "friend"]) {
    const taken = await sendAs(host, port, "GET /control/state");
    assert.match(taken, /^HTTP\/1\.1 200 /, host);
  }
  // The URL of the request line counts as well as the header.
  const absolute = await sendAs(
    `127.0.0.1:${port}`,
    port,
    "GET http://evil.example/control/state",
  );
  assert.match(absolute, /^HTTP\/1\.1 (403|400) /);
});
