import assert from "node:assert/strict";
import { readTargetUrl } from "./target_address.ts";

Deno.test("readTargetUrl() takes https, and http of private networks and of names", () => {
  for (
    const url of [
      "https://shop.example/hooks?token=a",
      "http://127.0.0.1:3000/hooks",
      "http://192.168.1.2/",
      "http://[fd00::1]/",
      "http://shop/hooks",
      "https://8.8.8.8/",
    ]
  ) assert.equal(readTargetUrl(url, "--forward-to").href, url);
});

Deno.test("readTargetUrl() refuses what nothing may be sent to, and shows no secret of it", () => {
  for (
    const [url, why] of [
      ["shop.example/hooks?token=hunter2", "is not an http or https address"],
      ["ftp://me:hunter2@shop.example/", "is not an http or https address"],
      ["https://me:hunter2@shop.example/", "holds a user or a password"],
      ["http://8.8.8.8/?token=hunter2", "is on the public network; use https"],
      ["https://169.254.169.254/?x=hunter2", "is link-local"],
      ["http://[fe80::1]/", "is link-local"],
      ["http://0.0.0.0:8080/", "is link-local"],
      ["http://[fd00:ec2::254]/", "a cloud's metadata service"],
      ["https://100.100.100.200/", "a cloud's metadata service"],
    ] as const
  ) {
    assert.throws(() => readTargetUrl(url, "--forward-to"), (error) => {
      assert.ok(error instanceof TypeError);
      assert.ok(error.message.startsWith("Wrong --forward-to: "), url);
      assert.ok(error.message.includes(why), error.message);
      assert.ok(!error.message.includes("hunter2"), error.message);
      return true;
    });
  }
});
