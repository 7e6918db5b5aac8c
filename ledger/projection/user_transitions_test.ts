import fc from "fast-check";
import assert from "node:assert/strict";
import type { NewEvent } from "../events/event.ts";
import { userSnapshot } from "../testing/mint.ts";
import { foldUser } from "../testing/fold_user.ts";
import { readFact } from "../events/read_fact.ts";
import type { Driver } from "../store/database.ts";
import { readTransitions } from "../reads/releases.ts";
import { append, newLedger, projectAll } from "../testing/fold_kit.ts";
import {
  at,
  foldVersion,
  orderRead,
  webhook,
} from "../testing/projection_test_kit.ts";
import { record, subscriptionsOf } from "../testing/subscription_kit.ts";
import { exportEvents, importEvents } from "../transfer/transfer.ts";
import { decideUserStatus } from "../users/user_state.ts";
import { FOLD } from "./project.ts";
import { refold } from "./refold.ts";
import { parseTransitionKey, transitionKey } from "../machines/transition.ts";
import { tries } from "../../tests/kit/thorough.ts";

function read(
  minute: number,
  user: { lkyc?: string; fkyc?: string; banned?: boolean },
  recorded = minute,
): NewEvent {
  return userSnapshot({
    source: JSON.stringify({
      user_id: "U1",
      lkyc_status: user.lkyc,
      fkyc_status: user.fkyc,
      banned: user.banned,
    }),
    readAt: at(minute),
    recordedAt: at(recorded),
    salt: new Uint8Array(16),
  });
}

let claims = 0;
function claim(minute: number, lkyc: string): NewEvent {
  return webhook(`C${claims++}`, minute, {
    type: "login",
    click_id: "",
    user: { user_id: "U1", verification_status: { lkyc: { state: lkyc } } },
  });
}

async function keys(driver: Driver): Promise<string[]> {
  return (await readTransitions(driver)).map(({ key }) => key);
}

Deno.test("a user's machine fires each entry into a confirmed state, under keys that count", async () => {
  await using driver = await newLedger();
  const states = ["retry", "progress", "retry", "retry", "success", "retry"];
  for (const [minute, fkyc] of states.entries()) {
    await record(driver, read(minute, { fkyc }));
  }
  assert.deepEqual(await keys(driver), [
    "user:U1:fkyc.confirmed.retry",
    "user:U1:fkyc.confirmed.progress",
    "user:U1:fkyc.confirmed.retry#2",
    "user:U1:fkyc.confirmed.success",
    "user:U1:fkyc.confirmed.retry#3",
  ]);
  const last = (await readTransitions(driver)).at(-1);
  assert.equal(last?.entry, 3);
  assert.equal(last?.machine, "fkyc");
  assert.deepEqual(last?.previous, { trust: "confirmed", status: "success" });
  assert.deepEqual(last?.reverses, ["success"]);
});

Deno.test("each machine of a user has transitions of its own", async () => {
  await using driver = await newLedger();
  await record(
    driver,
    read(1, { lkyc: "success", fkyc: "initiated", banned: false }),
    read(2, { lkyc: "success", fkyc: "progress", banned: true }),
  );
  assert.deepEqual(await keys(driver), [
    "user:U1:lkyc.confirmed.success",
    "user:U1:fkyc.confirmed.initiated",
    "user:U1:ban.confirmed.not_banned",
    "user:U1:fkyc.confirmed.progress",
    "user:U1:ban.confirmed.banned",
  ]);
});

Deno.test("a late reading of earlier fires nothing", async () => {
  await using driver = await newLedger();
  await record(driver, read(5, { lkyc: "success" }));
  // Recorded within the two minutes in which its stated time counts.
  await record(driver, read(4, { lkyc: "retry" }, 6));
  assert.deepEqual(await keys(driver), ["user:U1:lkyc.confirmed.success"]);
});

Deno.test("a claim fires once, and going back from it to what was confirmed is no entry", async () => {
  await using driver = await newLedger();
  for (const minute of [1, 5, 9]) {
    await record(
      driver,
      read(minute, { lkyc: "retry" }),
      claim(minute + 1, "success"),
    );
  }
  await record(driver, read(20, { lkyc: "success" }));
  const transitions = await readTransitions(driver);
  assert.deepEqual(transitions.map(({ key }) => key), [
    "user:U1:lkyc.confirmed.retry",
    "user:U1:lkyc.claimed.success",
    "user:U1:lkyc.confirmed.success",
  ]);
  assert.deepEqual(transitions[2]?.previous, {
    trust: "claimed",
    status: "success",
  });
});

Deno.test("a transition of an order names what was visible before, and the finals it takes back", async () => {
  await using driver = await newLedger();
  const steps = ["pending", "failed", "success", "failed", "cancelled"];
  await record(
    driver,
    ...steps.map((status, minute) =>
      orderRead(minute, { orderId: "O1", status })
    ),
  );
  const orders = await readTransitions(driver, { entity: "order" });
  assert.deepEqual(
    orders.filter(({ machine }) => machine === "order").map((
      { status, previous, reverses },
    ) => [
      status,
      previous?.status ?? null,
      reverses,
    ]),
    [
      ["pending", null, []],
      ["failed", "pending", []],
      ["success", "failed", ["failed"]],
      ["cancelled", "failed", ["failed", "success"]],
    ],
  );
});

Deno.test("entries are counted alike in batches of any size", async () => {
  const state = fc.constantFrom("initiated", "retry", "success", "odd#2");
  const history = fc.array(
    fc.record({
      webhook: fc.boolean(),
      state,
      late: fc.integer({ min: 0, max: 2 }),
    }),
    { minLength: 1, maxLength: 25, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.integer({ min: 1, max: 7 }),
      async (history, size) => {
        const events = history.map(({ webhook, state, late }, minute) =>
          webhook
            ? claim(minute, state)
            : read(minute - late, { lkyc: state }, minute)
        );
        await using driver = await newLedger();
        await append(driver, events);
        await projectAll(driver, { maxEvents: size });
        assert.deepEqual(await keys(driver), expectedKeys(events));
      },
    ),
    { numRuns: tries(40) },
  );
});

/** The keys of one user's light verification, by the pure fold alone. */
function expectedKeys(events: readonly NewEvent[]): string[] {
  const facts = [...new Map(events.map((one) => [one.eventId, one])).values()]
    .map((event, at) => readFact({ ...event, position: at + 1 }));
  const keys: string[] = [];
  const entries = new Map<string, number>();
  let [visible, confirmed] = ["", ""];
  for (const at of facts.keys()) {
    const { lkyc } = decideUserStatus(foldUser("U1", facts.slice(0, at + 1)));
    const { state, trust } = lkyc;
    if (state === null || `${trust}.${state}` === visible) continue;
    visible = `${trust}.${state}`;
    const seen = entries.get(visible) ?? 0;
    if (trust === "claimed" ? seen > 0 : confirmed === state) continue;
    if (trust === "confirmed") confirmed = state;
    entries.set(visible, seen + 1);
    keys.push(transitionKey({
      entity: "user",
      machine: "lkyc",
      id: "U1",
      trust,
      status: state,
      entry: seen + 1,
    }));
  }
  return keys;
}

Deno.test("a refold writes no transition, and entries go on where they were", async () => {
  await using driver = await newLedger();
  await record(driver, read(1, { lkyc: "retry" }), read(2, { lkyc: "failed" }));
  const before = await readTransitions(driver);
  await refold({ driver, assets: "sandbox" });
  assert.deepEqual(await readTransitions(driver), before);
  await record(driver, read(3, { lkyc: "retry" }));
  assert.equal((await keys(driver)).at(-1), "user:U1:lkyc.confirmed.retry#2");
});

Deno.test("an import writes entries as not live, and Subscriptions.fire() tells of the last", async () => {
  await using from = await newLedger();
  const states = ["retry", "failed", "retry"];
  await record(
    from,
    ...states.map((lkyc, minute) => read(minute, { lkyc, banned: false })),
  );
  await using driver = await newLedger();
  await importEvents(driver, "sandbox", exportEvents(from, "sandbox"));
  await projectAll(driver);
  const imported = await readTransitions(driver);
  assert.deepEqual(
    imported.map(({ key, live }) => [key, live]),
    (await keys(from)).map((key) => [key, false]),
  );
  const subscriptions = subscriptionsOf(driver, () => Date.parse(at(9)));
  assert.deepEqual(await subscriptions.unfired(), []);
  const unfired = await subscriptions.unfired({ imported: true });
  const wanted = [
    "user:U1:lkyc.confirmed.retry#2",
    "user:U1:ban.confirmed.not_banned",
  ];
  assert.deepEqual(unfired.map(({ key }) => key), wanted);
  assert.equal(await subscriptions.fire(wanted), 2);
  assert.equal(await subscriptions.fire(wanted), 0);
  assert.deepEqual(await subscriptions.unfired({ imported: true }), []);
  const live = (await readTransitions(driver)).filter(({ live }) => live);
  assert.deepEqual(live.map(({ key }) => key), wanted);
  assert.deepEqual(live[0]?.reverses, ["failed"]);
});

Deno.test("Subscriptions.unfired() lists a state that a refold makes true again", async () => {
  await using driver = await newLedger();
  const states = ["retry", "failed", "success"];
  await record(
    driver,
    ...states.map((lkyc, minute) => read(minute, { lkyc })),
  );
  const fold = foldVersion(
    FOLD.version + 1,
    (fact) =>
      fact.kind === "user_snapshot" && fact.reading.lkyc === "success"
        ? { ...fact, reading: { ...fact.reading, lkyc: "retry" } }
        : fact,
  );
  await refold({ driver, assets: "sandbox", fold });
  const subscriptions = subscriptionsOf(driver, () => Date.parse(at(9)));
  const [again, ...others] = await subscriptions.unfired();
  assert.deepEqual(others, []);
  assert.equal(again?.key, "user:U1:lkyc.confirmed.retry#2");
  assert.equal(await subscriptions.fire([again?.key ?? ""]), 1);
  assert.equal((await keys(driver)).at(-1), again?.key);
  assert.deepEqual(await subscriptions.unfired(), []);
});

Deno.test("transitionKey() makes another key of every transition, which parseTransitionKey() reads", () => {
  const text = fc.constantFrom("a", "a#2", "a:confirmed.b", "lkyc.x", "#1", "");
  const name = fc.oneof(
    fc.record({ id: text, status: text, entry: fc.constant(1) }).map((one) => ({
      entity: "order" as const,
      machine: "order" as const,
      trust: "confirmed",
      ...one,
    })),
    fc.record({
      machine: fc.constantFrom("lkyc" as const, "ban" as const),
      id: fc.constantFrom("U1", "U2"),
      status: text,
      entry: fc.integer({ min: 1, max: 3 }),
    }).map((one) => ({
      entity: "user" as const,
      trust: "confirmed",
      ...one,
    })),
  );
  fc.assert(fc.property(name, name, (a, b) => {
    const key = transitionKey(a);
    assert.ok(
      parseTransitionKey(key).some((one) =>
        JSON.stringify(Object.entries(one).sort()) ===
          JSON.stringify(Object.entries(a).sort())
      ),
      key,
    );
    if (a.entity === "user" && b.entity === "user") {
      const same = JSON.stringify(a) === JSON.stringify(b);
      assert.equal(key === transitionKey(b), same, key);
    }
  }));
});
