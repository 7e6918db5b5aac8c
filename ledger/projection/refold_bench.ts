/**
 * Refold against reading and JSON-parsing the same rows, on a file.
 *
 * `deno run --allow-env --allow-sys --allow-ffi --allow-read --allow-write
 * ledger/projection/refold_bench.ts [events]`
 */
import type { NewEvent } from "../event/event.ts";
import { appendStatement } from "../store/append.ts";
import type { Driver } from "../store/driver.ts";
import { eventColumns } from "../store/event_row.ts";
import { openDriver } from "../store/open_driver.ts";
import { orderRead, orderWebhook, prepared } from "./projection_test_kit.ts";
import { Projector } from "./projector.ts";
import { refold } from "./refold.ts";

/** The events of ten orders side by side, as a busy day mixes them. */
function lives(first: number): NewEvent[] {
  const events: NewEvent[] = [];
  const types = ["payment_started", "transfer_started", "order_complete"];
  for (let step = 0; step < 8; step++) {
    for (let order = first; order < first + 10; order++) {
      const orderId = `01KA${String(order).padStart(22, "0")}`;
      const user = `01KU${String(order % 5000).padStart(22, "0")}`;
      const type = types[step >> 1];
      events.push(
        step % 2 === 1 || type === undefined
          ? orderRead(step, {
            orderId,
            status: ["created", "progress", "pending", "success"][step >> 1] ??
              "",
            user,
            external: `X${order}`,
          })
          : orderWebhook(`W${order}.${step}`, step, {
            type,
            orderId,
            session: `session-${order}`,
            click: `click-${order}`,
            user,
            external: `X${order}`,
          }),
      );
    }
  }
  return events;
}

async function fill(driver: Driver, count: number): Promise<void> {
  for (let order = 0; order * 8 < count;) {
    const events: NewEvent[] = [];
    for (; events.length < 4000 && order * 8 < count; order += 10) {
      events.push(...lives(order));
    }
    await driver.batch([appendStatement(events)], "write");
  }
}

async function readAndParse(driver: Driver): Promise<number> {
  const decoder = new TextDecoder();
  let count = 0;
  for (let after = 0;;) {
    const [result] = await driver.batch([{
      sql: `SELECT ${eventColumns} FROM events WHERE position > ?
        ORDER BY position LIMIT 1000`,
      args: [after],
    }], "read");
    if (result === undefined || result.rows.length === 0) return count;
    for (const row of result.rows) {
      JSON.parse(decoder.decode(row[10] as Uint8Array));
      after = row[0] as number;
      count++;
    }
  }
}

if (import.meta.main) {
  const count = Number(Deno.args[0] ?? 100_000);
  const folder = await Deno.makeTempDir();
  const driver = await prepared(
    await openDriver({ url: `file:${folder}/ledger.db` }),
  );
  await fill(driver, count);
  const projector = new Projector({ driver, assets: "sandbox" });
  while ((await projector.step("live")).events > 0);
  for (let round = 1; round <= 2; round++) {
    let start = performance.now();
    const read = await readAndParse(driver);
    const readMs = performance.now() - start;
    start = performance.now();
    const done = await refold(projector, driver, {
      compare: false,
    });
    const foldMs = performance.now() - start;
    const rate = (ms: number) => Math.round(read / ms * 1000);
    console.log(JSON.stringify({
      events: done?.events,
      readAndParsePerSecond: rate(readMs),
      refoldPerSecond: rate(foldMs),
      share: Math.round(readMs / foldMs * 100) / 100,
      rssMb: Math.round(Deno.memoryUsage().rss / 1e6),
    }));
  }
  await driver.close();
  await Deno.remove(folder, { recursive: true });
}
