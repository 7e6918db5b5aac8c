import { boundRow, type Row } from "./measuring/comparison.ts";
import { LEDGER_PERMISSIONS, startServer } from "./process.ts";

const requests = 101;
/** What a page may take on the median, ms. */
const most = 100;

/** What {@linkcode consolePages} measures. */
export const PAGES_NOTE = "Last, `rampkit console` serves the ledger, and " +
  `one client asks for the first page and for one order ${requests} times, ` +
  "one request after the other; the figures are from the request to the last " +
  "byte of the answer.";

/** What people see first, over the ledger of very many orders at `url`. */
export async function consolePages(url: string): Promise<Row[]> {
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
  const first = await (await fetch(`${server.url}/orders`)).text();
  const [order] = /\/orders\/[\w-]+/.exec(first) ?? [];
  if (order === undefined) throw new Error("The console shows no order");
  const row = async (name: string, path: string) =>
    boundRow(name, {
      ours: await timesOf(`${server.url}${path}`, requests),
      most,
      unit: "ms",
      limit: "the console's thread",
    });
  return [
    await row("first page of the console, a million orders", "/"),
    await row("page of one order, a million orders", order),
  ];
}

/** Times of so many requests, one after the other, to the last byte, ms. */
export async function timesOf(
  url: string,
  requests: number,
): Promise<number[]> {
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
