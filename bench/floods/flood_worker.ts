import { LONGEST_IDENTIFIER } from "../../core/wire/identifier.ts";
import { webhookBody } from "../bodies.ts";
import type { FloodTarget } from "./floods.ts";

const utf8 = new TextEncoder();

/** How long a connection that reads nothing is held, ms. */
const HELD_MS = 60_000;

async function flood({ kind, url, apiUrl, secret }: FloodTarget) {
  const webhook = `/webhooks/${secret}`;
  const delivery = post(webhook, body(1_000));
  const page = get("/v1/orders?limit=1000");
  switch (kind) {
    case "none":
      return;
    case "orders":
      return await sellSteadily(url + webhook);
    case "large":
      return await crowd(6, () => send(url, post(webhook, body(1 << 20))));
    case "medium":
      return await crowd(6, () => send(url, post(webhook, body(1 << 16))));
    case "small":
      return await crowd(16, () => send(url, post(webhook, body(1 << 13))));
    case "half":
      return await crowd(500, () => stall(url, half(webhook, 1 << 20), 5_000));
    case "short_half":
      return await crowd(
        1_100,
        () => stall(url, half(webhook, 1 << 14), 5_000),
      );
    case "unread_metrics":
      return await crowd(
        1_100,
        () => stall(url, times(get("/metrics"), 40), HELD_MS),
      );
    case "unread_deliveries":
      return await crowd(1_100, () => stall(url, times(delivery, 40), HELD_MS));
    case "unread_pages":
      return await crowd(1_100, () => stall(apiUrl, times(page, 40), HELD_MS));
    case "long_ids":
      return void await Promise.all([
        crowd(2, () => send(url, post(webhook, longIds()))),
        crowd(4, () => send(apiUrl, page)),
      ]);
    case "pages":
      return await crowd(8, () => send(apiUrl, page));
  }
}

/** Orders of {@linkcode sellSteadily} in a second, and their webhooks. */
const ORDERS_A_SECOND = 100;
/** So many are under way at most: a busy machine sells fewer. */
const MOST_UNDER_WAY = 200;
const LIFE = ["payment_started", "transfer_started", "order_complete"] as const;

/** New orders at a steady rate; each webhook follows the answer to the last. */
async function sellSteadily(url: string): Promise<void> {
  const beganAt = performance.now();
  const pause = (ms: number) =>
    new Promise((resolve) => setTimeout(resolve, ms));
  let underWay = 0;
  for (let sold = 0;; sold++) {
    const dueMs = beganAt + sold * 1000 / ORDERS_A_SECOND - performance.now();
    if (dueMs > 0) await pause(dueMs);
    while (underWay >= MOST_UNDER_WAY) await pause(10);
    underWay++;
    void (async () => {
      for (const type of LIFE) {
        const body = webhookBody(2_000_000 + sold, type);
        const answer = await fetch(url, { method: "POST", body });
        await answer.body?.cancel();
      }
    })().catch(() => {}).finally(() => underWay--);
  }
}

/** Does something over and over, in many places at a time. */
async function crowd(count: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, async () => {
    for (;;) {
      await work().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }));
}

/** Sends a request on a connection of its own, and reads the answer whole. */
async function send(url: string, request: Uint8Array): Promise<void> {
  using connection = await connect(url);
  await writeAll(connection, request);
  const buffer = new Uint8Array(1 << 16);
  // Every answer is the last of its connection.
  while (await connection.read(buffer) !== null);
}

/** Sends something, reads nothing, and holds the connection. */
async function stall(
  url: string,
  bytes: Uint8Array,
  heldMs: number,
): Promise<void> {
  using connection = await connect(url);
  const sending = writeAll(connection, bytes).catch(() => {});
  await Promise.race([
    new Promise((resolve) => setTimeout(resolve, heldMs)),
    sending.then(() => new Promise((resolve) => setTimeout(resolve, heldMs))),
  ]);
}

function connect(url: string): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(url);
  return Deno.connect({ hostname, port: Number(port) });
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array) {
  for (let at = 0; at < bytes.length;) {
    at += await connection.write(bytes.subarray(at));
  }
}

function body(bytes: number): string {
  const order = `{"type":"payment_started","click_id":"`;
  const id = crypto.randomUUID();
  const end = `","order":{"id":"${id}"}}`;
  return order + "x".repeat(bytes - order.length - end.length) + end;
}

/** A body whose identifiers are new, and as long as identifiers may be. */
function longIds(): string {
  const id = () => crypto.randomUUID().repeat(8).slice(0, LONGEST_IDENTIFIER);
  return JSON.stringify({
    type: "payment_started",
    click_id: id(),
    hpp_session_id: id(),
    user: { user_id: id() },
    order: { id: id(), external_order_id: id() },
  });
}

function post(path: string, body: string): Uint8Array {
  return utf8.encode(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n` +
      `${body.length > 1_000 ? "connection: close\r\n" : ""}` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
}

function half(path: string, bytes: number): Uint8Array {
  const whole = post(path, body(bytes));
  return whole.subarray(0, whole.length - bytes / 2);
}

function get(path: string): Uint8Array {
  return utf8.encode(
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${
      path.startsWith("/v1") ? "connection: close\r\n" : ""
    }\r\n`,
  );
}

function times(request: Uint8Array, count: number): Uint8Array {
  const text = new TextDecoder().decode(request)
    .replace("connection: close\r\n", "");
  return utf8.encode(text.repeat(count));
}

addEventListener("message", (event) => {
  void flood((event as MessageEvent<FloodTarget>).data);
});
