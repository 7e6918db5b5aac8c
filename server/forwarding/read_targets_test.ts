import assert from "node:assert/strict";
import { readConfig } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { readForwarding } from "./read_targets.ts";

const SECRET = `whsec_${btoa("a secret of enough bytes, for tests")}`;

function read(flags: readonly string[], env: Record<string, string> = {}) {
  const variables: Record<string, string> = {
    RAMPKIT_FORWARD_SECRET: SECRET,
    ...env,
  };
  const forwarding = readForwarding(
    readConfig((name) => variables[name], { forwardTo: flags }),
  );
  return forwarding?.targets.map(({ name, url, on }) => [name, url.href, on]);
}

Deno.test("readForwarding() reads targets with their patterns, flags before the variable", () => {
  assert.equal(read([]), undefined);
  const variable = {
    RAMPKIT_FORWARD_TO: "https://a.example/hook?token=a order.confirmed.* " +
      "user.ban.*.banned,\n http://10.0.0.1/b,",
  };
  assert.deepEqual(read([], variable), [
    [
      "forward:https://a.example/hook",
      "https://a.example/hook?token=a",
      ["order.confirmed.*", "user.ban.*.banned"],
    ],
    ["forward:http://10.0.0.1/b", "http://10.0.0.1/b", ["*"]],
  ]);
  assert.deepEqual(read(["https://c.example/a,b"], variable), [
    ["forward:https://c.example/a,b", "https://c.example/a,b", ["*"]],
  ]);
});

Deno.test("readForwarding() says what is wrong with a target, a pattern or the secret", () => {
  for (
    const [flags, env, message] of [
      [["shop"], {}, /^Wrong --forward-to: "shop" is not an http or https/],
      [
        ["https://a.example/ order.confirmd.*"],
        {},
        /^Wrong --forward-to: .*"order\.confirmd\.\*".*"order\.confirmed\.\*"/,
      ],
      [
        ["https://a.example/?b", "https://a.example/?c"],
        {},
        /^Wrong --forward-to: https:\/\/a\.example\/ is named twice/,
      ],
      [
        [],
        { RAMPKIT_FORWARD_TO: "ftp://a.example" },
        /^Wrong RAMPKIT_FORWARD_TO: /,
      ],
      [
        ["https://a.example/"],
        { RAMPKIT_FORWARD_SECRET: "" },
        /^Missing setting: .*RAMPKIT_FORWARD_SECRET.*openssl/,
      ],
      [
        ["https://a.example/"],
        { RAMPKIT_FORWARD_SECRET: "hunter2" },
        /^Wrong RAMPKIT_FORWARD_SECRET: secret 1 of 1/,
      ],
    ] as const
  ) {
    assert.throws(() => read(flags, env), (error) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, message);
      return true;
    });
  }
});
