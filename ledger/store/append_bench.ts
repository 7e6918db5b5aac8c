/**
 * Appends of 64 concurrent callers, each waiting for its own commit. Run with
 * `deno bench ledger/store/append_bench.ts`; the time is that of one append.
 */
import { webhookEvent } from "../event/mint.ts";
import type { Driver } from "./driver.ts";
import { EventLog } from "./event_log.ts";
import { openDriver } from "./open_driver.ts";
import { sqldAvailable, startSqld } from "./sqld_test_server.ts";
import { prepare } from "./test_events.ts";

const callers = 64;
const eachAppends = 40;
const template = JSON.stringify({
  type: "order_complete",
  click_id: "CLICK",
  hpp_session_id: "5f0c6a0e-43c5-4a55-9b0a-0d6b8f8f6a11",
  order: {
    id: "ORDER",
    base: "POL",
    base_amount: "0.212345678901234567",
    quote: "USD",
    quote_amount: "5.00",
    address: "0x0118E8e2FCb391bCeb110F62b5B7B963477C1E0d",
    transaction_id:
      "0x31d6ec21ba0fcb9d68ee8a7ea1dc4d0ba6a4b0bb4d3a6f0b9e8f7d0e1c2b3a49",
    external_order_id: "A1B2C3",
  },
  user: {
    user_id: "USER",
    verification_status: {
      fkyc: { state: "success" },
      lkyc: { state: "success" },
    },
  },
});
const utf8 = new TextEncoder();
const salt = new Uint8Array(16);
let minted = 0;

/** A delivery as an endpoint would hand it over: parsed and digested here. */
function delivery() {
  const number = String(minted++).padStart(20, "0");
  const body = template.replace("ORDER", `01JORD${number}`)
    .replace("CLICK", crypto.randomUUID())
    .replace("USER", `01JUSR${number.slice(0, 19)}0`);
  return webhookEvent({
    id: `01JABC${number}`,
    receivedAt: new Date().toISOString(),
    body: utf8.encode(body),
  }, salt);
}

async function round(log: EventLog): Promise<void> {
  await Promise.all(Array.from({ length: callers }, async () => {
    for (let at = 0; at < eachAppends; at++) await log.append([delivery()]);
  }));
}

async function bench(
  name: string,
  open: (directory: string) => Promise<Driver>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "rampkit-bench-" });
  const driver = await open(directory);
  await prepare(driver);
  const log = new EventLog(driver);
  Deno.bench({
    name: `${callers * eachAppends} appends, ${name}`,
    group: "append",
    n: 10,
    warmup: 2,
    fn: async () => await round(log),
  });
  // Threads and servers end with this process.
  globalThis.addEventListener(
    "unload",
    () => Deno.removeSync(directory, { recursive: true }),
  );
}

await bench(
  "file in a thread",
  (directory) => openDriver({ url: `file:${directory}/ledger.db` }),
);
await bench(
  "file",
  (directory) =>
    openDriver({ url: `file:${directory}/ledger.db`, worker: false }),
);
await bench("memory", () => openDriver({ url: ":memory:", worker: false }));
if (sqldAvailable) {
  await bench("sqld", async (directory) => {
    const { url } = await startSqld({ directory: `${directory}/sqld` });
    return await openDriver({ url });
  });
}
