import assert from "node:assert/strict";
import { CommandError } from "../../core/settings/errors.ts";
import { listening } from "./listening.ts";

async function messageFor(error: Error): Promise<string> {
  let message = "";
  await assert.rejects(
    listening("the sandbox", 8080, () => Promise.reject(error), "--api-port"),
    (thrown) => {
      assert.ok(thrown instanceof CommandError);
      message = thrown.message;
      return true;
    },
  );
  return message;
}

function withCode(code: string): Error {
  return Object.assign(new Error("listen failed"), { code });
}

Deno.test("listening() names the flag to change, when a port or an address cannot be used", async () => {
  const taken = await messageFor(withCode("EADDRINUSE"));
  assert.match(
    taken,
    /^Cannot open the sandbox: port 8080 is taken.*--api-port/,
  );
  const denied = await messageFor(withCode("EACCES"));
  assert.match(denied, /port 8080 may not be used by this user.*--api-port/);
  for (
    const error of [
      withCode("EADDRNOTAVAIL"),
      withCode("ENOTFOUND"),
      new Error("failed to lookup address information: Name not known"),
    ]
  ) {
    assert.match(
      await messageFor(error),
      /^Cannot open the sandbox: the address of --api-host is not one of this/,
    );
  }
});

Deno.test("listening() leaves what it does not know as it is", async () => {
  const unknown = withCode("EIO");
  await assert.rejects(
    listening("the sandbox", 0, () => Promise.reject(unknown)),
    unknown,
  );
  assert.equal(await listening("the sandbox", 0, () => "open"), "open");
});
