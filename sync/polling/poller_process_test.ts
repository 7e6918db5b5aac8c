import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import { createSandbox, virtualClock } from "../../sandbox/mod.ts";
import { type Ledger, openLedger } from "../../ledger/mod.ts";
import { createPoller, type PollReport } from "./poller.ts";
import { startMs } from "../testing/polling_test_kit.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

const day = 24 * 3_600_000;
const orders = 120;

/** The same service in every process: one seed, one past. */
const service = `
  const clock = virtualClock(${startMs});
  const sandbox = createSandbox({ seed: 3, clock });
  sandbox.backfill({
    orders: ${orders},
    fromMs: ${startMs - 400 * day},
    untilMs: ${startMs - day},
  });`;

/** A poller that reports each request it has recorded, and then dawdles. */
function child(url: string): string {
  const at = (path: string) => JSON.stringify(import.meta.resolve(path));
  return `
  import { OnrampClient } from ${at("../../client/mod.ts")};
  import { createSandbox, virtualClock } from ${at("../../sandbox/mod.ts")};
  import { openLedger } from ${at("../../ledger/mod.ts")};
  import { createPoller } from ${at("./poller.ts")};
  ${service}
  let asked = 0;
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    requestsPerSecond: 1000,
    fetch: async (input, init) => {
      asked += 1;
      if (asked > 5) {
        console.log("halfway");
        await new Promise(() => setTimeout(() => {}, 600_000));
      }
      return await sandbox.fetch(new Request(input, init));
    },
  });
  const ledger = await openLedger({ url: ${
    JSON.stringify(url)
  }, environment: "sandbox" });
  await createPoller({
    ledger,
    client,
    holder: "child",
    leaseMs: 600_000,
    requestsPerSecond: 1000,
    now: () => clock.now(),
  }).once();`;
}

async function untilSaid(
  stream: ReadableStream<Uint8Array>,
  word: string,
): Promise<void> {
  let said = "";
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The child ended and said ${said}`);
    said += value;
    if (said.includes(word)) break;
  }
  await reader.cancel();
}

async function pollHere(ledger: Ledger): Promise<PollReport> {
  const clock = virtualClock(startMs);
  await using sandbox = createSandbox({ seed: 3, clock });
  sandbox.backfill({
    orders,
    fromMs: startMs - 400 * day,
    untilMs: startMs - day,
  });
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    requestsPerSecond: 1000,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
  });
  const report = await createPoller({
    ledger,
    client,
    holder: "second",
    requestsPerSecond: 1000,
    now: () => clock.now(),
  }).once();
  if (report.ran) {
    for (const { orderId, status } of sandbox.truth()) {
      assert.equal((await ledger.orders.get(orderId))?.status, status);
    }
  }
  return report;
}

Deno.test("createPoller() takes over when another process was killed in its backfill", async () => {
  await using folder = await temporaryFolder();
  const url = `file:${folder.path}/ledger.db`;
  const script = `${folder.path}/child.ts`;
  const root = new URL("../..", import.meta.url).pathname;
  await Deno.writeTextFile(script, child(url));
  const process = new Deno.Command("deno", {
    args: ["run", "--no-check", "-A", "--config", `${root}deno.json`, script],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  try {
    await untilSaid(process.stdout, "halfway");
    await using ledger = await openLedger({ url, environment: "sandbox" });
    const early = await pollHere(ledger);
    assert.ok(!early.ran && early.heldBy === "child");
    process.kill("SIGKILL");
    await process.status;
    const before = (await ledger.stats()).events.order_snapshot ?? 0;
    assert.ok(before > 0 && before < orders, `the child had read ${before}`);
    // It is of this machine, where it can be seen that it is gone.
    const report = await pollHere(ledger);
    assert.ok(report.ran);
    assert.equal(report.status.orders.complete, true);
    assert.equal((await ledger.stats()).events.order_snapshot, orders);
  } finally {
    try {
      process.kill("SIGKILL");
    } catch {
      // It is gone already.
    }
  }
});
