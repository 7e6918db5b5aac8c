import assert from "node:assert/strict";
import type { MachineName } from "./transition.ts";
import {
  matcher,
  type Pattern,
  type TransitionPattern,
  unlisted,
} from "./pattern.ts";

function one(machine: MachineName, trust: string, status: string) {
  const entity = machine === "order" ? "order" : "user";
  return { entity, machine, trust, status, logged: null } as const;
}

const released: Parameters<ReturnType<typeof matcher>>[0] = {
  entity: "order",
  machine: "release",
  trust: "confirmed",
  status: "success",
  logged: { entered: "yes", release: "yes", reason: "session_matched" },
};

const success = one("order", "confirmed", "success");
const odd = one("order", "confirmed", "on.hold");
const retry = one("fkyc", "confirmed", "retry");
const banned = one("ban", "confirmed", "banned");

Deno.test.each<[Pattern | Pattern[], boolean[]]>([
  ["*", [true, true, true, true, true]],
  ["order.*.*", [true, true, false, false, false]],
  ["order.confirmed.success", [true, false, false, false, false]],
  ["order.claimed.success", [false, false, false, false, false]],
  [unlisted("order.confirmed.on.hold"), [false, true, false, false, false]],
  ["user.fkyc.confirmed.retry", [false, false, true, false, false]],
  ["user.lkyc.confirmed.retry", [false, false, false, false, false]],
  ["user.*.confirmed.*", [false, false, true, true, false]],
  ["order.release.yes", [false, false, false, false, true]],
  ["order.release.*", [false, false, false, false, true]],
  ["order.release.restored", [false, false, false, false, false]],
  [["user.ban.*.banned", "order.*.success"], [true, false, false, true, false]],
])("matcher() of %j takes exactly what it names", (on, expected) => {
  const matches = matcher(on);
  assert.deepEqual(
    [success, odd, retry, banned, released].map(matches),
    expected,
  );
});

Deno.test("matcher() refuses what is no pattern, and names the closest", () => {
  const closest: Readonly<Record<string, TransitionPattern>> = {
    "order.confirmed.sucess": "order.confirmed.success",
    "order.confirmd.success": "order.confirmed.success",
    "orders.*.failed": "order.*.failed",
    "order.release.yess": "order.release.yes",
    "order.released.wait": "order.release.wait",
    "user.fyc.confirmed.retry": "user.fkyc.confirmed.retry",
    "user.confirmed.banned": "user.*.confirmed.banned",
    "order.*.": "order.*.*",
    "": "*",
  };
  for (const [wrong, right] of Object.entries(closest)) {
    assert.throws(
      () => matcher(wrong as TransitionPattern),
      (error) =>
        error instanceof TypeError && error.message.includes(`"${right}"`),
      `${wrong} is close to ${right}`,
    );
  }
  assert.throws(() => matcher([]), TypeError);
});

Deno.test("unlisted() refuses a wrong entity, machine or trust", () => {
  for (
    const wrong of [
      "orders.*.x",
      "user.*.x",
      "order.sure.x",
      "order.*.",
      "order.release.x",
    ]
  ) {
    assert.throws(() => unlisted(wrong), TypeError, wrong);
  }
});

Deno.test("TransitionPattern does not compile when it is misspelt", () => {
  const patterns: TransitionPattern[] = [
    "order.*.failed",
    "order.release.yes",
    "order.release.*",
    "user.fkyc.confirmed.retry",
    "user.lkyc.*.not initiated",
    // @ts-expect-error the status is misspelt
    "order.confirmed.sucess",
    // @ts-expect-error the release is misspelt
    "order.release.yess",
    // @ts-expect-error the trust is misspelt
    "order.confirmd.success",
    // @ts-expect-error a user has no such machine
    "user.kyc.confirmed.retry",
    // @ts-expect-error a user has machines, not one status
    "user.confirmed.retry",
    // @ts-expect-error no webhook claims a ban
    "user.ban.claimed.banned",
    // @ts-expect-error nor under another name
    "user.*.claimed.banned",
    // @ts-expect-error a status of the other machine
    "user.fkyc.confirmed.banned",
  ];
  const refused = patterns.filter((pattern) => {
    try {
      return !matcher(pattern);
    } catch {
      return true;
    }
  });
  assert.deepEqual(refused, patterns.slice(5), "the run time says the same");
});
