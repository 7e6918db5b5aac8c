import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import { createPoller } from "../../sync/mod.ts";
import { createSandbox, virtualClock } from "../../sandbox/mod.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

for (const banned of [false, true]) {
  const who = banned ? "a banned user" : "a user";
  Deno.test(`a forged verification of ${who} is a claim until the service is asked, and not after`, () =>
    forgedVerification(banned));
}

async function forgedVerification(banned: boolean): Promise<void> {
  const clock = virtualClock(Date.UTC(2026, 10, 20, 9));
  const now = () => clock.now();
  await using sandbox = createSandbox({ clock });
  const { userId } = sandbox.createUser({ lkyc: "failed", banned });
  await using ledger = await emptyLedger({
    now,
  });
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    requestsPerSecond: 1000,
  });
  const poller = createPoller({ ledger, client, now, requestsPerSecond: 1000 });
  const said = async () => {
    const user = await ledger.users.get(userId);
    return [user?.verification.lkyc, user?.verificationTrust.lkyc];
  };
  await poller.once();
  assert.deepEqual(await said(), ["failed", "confirmed"]);

  await clock.advance(60_000);
  await ledger.appendDelivery({
    id: "01KA0000000000000000000000",
    receivedAt: new Date(now()).toISOString(),
    body: new TextEncoder().encode(JSON.stringify({
      type: "verify_success",
      click_id: "",
      user: {
        user_id: userId,
        verification_status: { lkyc: { state: "success" } },
      },
    })),
  });
  await ledger.project();
  assert.deepEqual(await said(), ["success", "claimed"]);

  await clock.advance(60_000);
  await poller.once();
  assert.deepEqual(await said(), ["failed", "confirmed"]);
  const { events } = await ledger.stats();

  // Settled, so that asking again finds nothing new.
  await clock.advance(60_000);
  await poller.once();
  assert.deepEqual((await ledger.stats()).events, events);
}
