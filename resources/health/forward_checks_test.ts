import assert from "node:assert/strict";
import type { Ledger, SubscriptionStatus } from "../../ledger/mod.ts";
import { forwardChecks } from "./forward_checks.ts";

function ledgerWith(changes: Partial<SubscriptionStatus>): Ledger {
  const status = {
    name: "forward:https://shop.example/hooks",
    on: ["*"],
    createdAt: "2026-11-20T08:00:00.000Z",
    behind: 0,
    retrying: 0,
    waiting: 0,
    dead: 0,
    lastError: null,
    target: {
      url: "https://shop.example/hooks",
      offAt: null,
      offReason: null,
    },
    ...changes,
  };
  return {
    subscriptions: { list: () => Promise.resolve([status]) },
  } as unknown as Ledger;
}

Deno.test("forwardChecks() says of each target what it lacks, and what to do", async () => {
  const checked = async (changes: Partial<SubscriptionStatus>) =>
    (await forwardChecks(ledgerWith(changes))).map((one) =>
      `${one.status}: ${one.detail} > ${one.advice ?? ""}`
    );
  assert.deepEqual(await checked({ target: null }), []);
  assert.deepEqual(await checked({}), [
    "ok: https://shop.example/hooks has everything > ",
  ]);
  assert.deepEqual(await checked({ retrying: 1, lastError: "answered 500" }), [
    "warn: https://shop.example/hooks did not take 1 transition yet: it " +
    "answered 500 > Each is sent again over three days; mend the target",
  ]);
  const [dead] = await checked({ dead: 2, retrying: 1 });
  assert.match(
    dead ?? "",
    /^warn: .*2 transitions in any attempt.*subscriptions retry/,
  );
  const [off] = await checked({
    target: {
      url: "https://shop.example/hooks",
      offAt: "2026-11-20T09:00:00.000Z",
      offReason: "answered 410",
    },
  });
  assert.match(off ?? "", /^fail: .*since 2026-11-20T09.*answered 410.*resume/);
});
