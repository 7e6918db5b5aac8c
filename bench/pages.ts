import { orderSnapshot } from "../ledger/for_sync.ts";
import { type Ledger, openLedger } from "../ledger/mod.ts";
import { orderBody } from "./bodies.ts";
import { boundRow, type Comparison } from "./measuring/comparison.ts";
import { LEDGER_PERMISSIONS, startServer, withFolder } from "./process.ts";

const orders = 1_000_000;
const ordersOfAppend = 2_000;
const requests = 101;
/** What the first page may take on the median, ms. */
const most = 100;

/** What people see first, over a ledger of very many orders. */
export const pages: Comparison = {
  name: "pages",
  note: `A ledger of ${orders.toLocaleString("en")} orders in a file, each ` +
    "read once. `rampkit console` serves it, and one client asks for the " +
    `first page and for one order ${requests} times, one request after the ` +
    "other; the figures are from the request to the last byte of the answer.",
  run: ({ say }) =>
    withFolder(async (folder) => {
      const url = `file:${folder}/ledger.db`;
      say(`filling a ledger with ${orders} orders`);
      const ledger = await openLedger({ url, environment: "sandbox" });
      await fill(ledger);
      say("folding them");
      await ledger.project();
      const [order] = (await ledger.orders.page({ limit: 1 })).orders;
      await ledger.close();
      await using server = await startServer({
        args: [
          "run",
          ...LEDGER_PERMISSIONS,
          "cli/main.ts",
          "console",
          "--port",
          "0",
          "--database-url",
          url,
        ],
      });
      const row = async (name: string, path: string) =>
        boundRow(name, {
          ours: await timesOf(`${server.url}${path}`),
          most,
          unit: "ms",
          limit: "the console's thread",
        });
      return [
        await row("first page of the console, a million orders", "/"),
        await row(
          "page of one order, a million orders",
          `/orders/${order?.orderId}`,
        ),
      ];
    }),
};

async function fill(ledger: Ledger): Promise<void> {
  const salt = new Uint8Array(16).fill(7);
  const start = Date.UTC(2026, 0, 1);
  for (let first = 0; first < orders; first += ordersOfAppend) {
    await ledger.append(
      Array.from({ length: ordersOfAppend }, (_, at) => {
        const changedMs = start + (first + at) * 1000;
        const recordedAt = new Date(changedMs).toISOString();
        const step = at % 4;
        return orderSnapshot({
          source: orderBody(first + at, step, {
            createdMs: changedMs - 60_000,
            changedMs,
          }),
          readAt: recordedAt,
          recordedAt,
          salt,
        });
      }),
    );
  }
}

async function timesOf(url: string): Promise<number[]> {
  const times: number[] = [];
  for (let request = 0; request < requests; request++) {
    const start = performance.now();
    const answer = await fetch(url);
    await answer.text();
    if (!answer.ok) throw new Error(`The console answered ${answer.status}`);
    times.push(performance.now() - start);
  }
  return times;
}
