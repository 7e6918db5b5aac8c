import assert from "node:assert/strict";
import { addressKind, readTargetUrl } from "./post_webhook.ts";

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

Deno.test("addressKind() sees through every IPv6 form of an IPv4 address", () => {
  const forbidden = [
    "169.254.169.254",
    "::a9fe:a9fe",
    "::ffff:169.254.169.254",
    "::ffff:0:a9fe:a9fe",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:ffff::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "fe80::1%eth0",
    "[::a9fe:a9fe]",
  ];
  for (const one of forbidden) assert.equal(addressKind(one), "forbidden", one);
  for (const one of ["::7f00:1", "::ffff:0:a00:1", "::ffff:10.0.0.1"]) {
    assert.equal(addressKind(one), "private", one);
  }
});

Deno.test("addressKind() forbids what is no address of one machine, and what is reserved", () => {
  const forbidden = [
    ...["0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250"],
    ...["240.0.0.1", "255.255.255.255", "192.88.99.1", "192.0.0.8"],
    ...["::", "ff02::1", "100::1", "2001::1", "fec0::1", "5f00::1"],
  ];
  for (const one of forbidden) assert.equal(addressKind(one), "forbidden", one);
  for (const one of ["198.18.0.1", "198.19.255.255"]) {
    assert.equal(addressKind(one), "private", one);
  }
  for (
    const one of ["8.8.8.8", "223.255.255.254", "2606:4700::1111", "2a00::1"]
  ) assert.equal(addressKind(one), "public", one);
});
