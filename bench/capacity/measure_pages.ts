import { openLedger } from "../../ledger/mod.ts";
import { startServe } from "../../tests/kit/program.ts";
import { until } from "../../tests/kit/until.ts";
import { orderId, userId } from "../bodies.ts";
import { delivery } from "../events.ts";
import { median } from "../measuring/rounds.ts";
import { SECRET } from "../ingest_servers.ts";
import { timesOf } from "../pages.ts";
import { type Figure, spent, spentText } from "./spent.ts";

const REQUESTS = 15;

/** Lists by what they are asked for; the second is of few among many. */
const LISTS = [
  ...["", "status=pending", "asset=BTC&status=pending", "network=nowhere"],
  ...["currency=EUR&min=100&max=101", "status=success&release=yes"],
  ...["outcome=declined", "case=open", "attention=stuck", "sort=largest"],
  ...["sort=smallest&status=failed", "day=2026-01-03", "trust=confirmed"],
];

/** Pages of the console besides. */
const pagesOf = (order: number): readonly string[] => [
  ...["/", `/orders/${orderId(order)}`, `/users/${userId(order)}`, "/users"],
  ...["/deliveries", "/attention", "/health", "/months"],
  `/search?q=X${order}`,
];

/** Requests of the API besides. */
const answersOf = (order: number): readonly string[] => [
  ...[`/v1/orders/${orderId(order)}`, `/v1/orders?user=${userId(order)}`],
  ...[`/v1/users/${userId(order)}`, "/v1/users?limit=50"],
  ...["/v1/deliveries?limit=50", "/v1/stats"],
];

/**
 * Asks a `serve` of its own for pages of its console and answers of its API,
 * over HTTP, one after the other: from the request to the last byte.
 */
export async function* measurePages(file: string): AsyncGenerator<Figure> {
  const order = await namedByWebhook(file);
  await using served = await startServe({
    RAMPKIT_DATABASE_URL: `file:${file}`,
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  }, ["--no-poll", "--api-port", "0", "--console", "0"]);
  const address = async (event: string): Promise<string> => {
    const line = () => served.log.find((line) => line.includes(`"${event}"`));
    await until(() => line() !== undefined);
    return JSON.parse(line() ?? "").url;
  };
  const pages = await address("console_listening");
  const api = await address("api_listening");
  // What a process does once, as it starts, is no matter of a page.
  for (const origin of [`${pages}/`, `${api}/v1/orders`]) {
    await timesOf(origin, REQUESTS);
  }
  const lists = (path: string, more: string) =>
    LISTS.map((query) => `${path}?${[query, more].filter(Boolean).join("&")}`);
  for (
    const [origin, path] of [
      ...lists("/orders", "").map((path) => [pages, path] as const),
      ...pagesOf(order).map((path) => [pages, path] as const),
      ...lists("/v1/orders", "limit=50").map((path) => [api, path] as const),
      ...answersOf(order).map((path) => [api, path] as const),
    ]
  ) {
    const { result: times, processorMs } = await spent(
      () => timesOf(origin + path, REQUESTS),
      served.pid,
    );
    yield [
      path,
      spentText({ ms: median(times), processorMs: processorMs / REQUESTS }),
    ];
  }
}

/** Has a webhook name an order in the middle, so that its user is known. */
async function namedByWebhook(file: string): Promise<number> {
  await using ledger = await openLedger({
    url: `file:${file}`,
    environment: "production",
  });
  const { orders } = await ledger.stats();
  const order = Math.floor(orders / 2);
  await ledger.appendDelivery(delivery(order));
  await ledger.project();
  return order;
}
