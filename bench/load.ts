/**
 * Posts webhooks over keep-alive connections, each of which waits for its
 * answer before it sends the next: `load.ts URL CONNECTIONS SECONDS`. Speaks
 * HTTP/1.1 by hand, so that it takes as little of the machine as it can.
 */
import { orderId, webhookBody } from "./bodies.ts";

/** What was measured. */
export interface Load {
  /** Which generator posted. */
  readonly by: "wrk" | "our own";
  /** Answers of 204 in a second. */
  readonly perSecond: number;
  /** The time that half of the answers took at most, ms. */
  readonly p50Ms: number;
  /** The time that 99 in 100 answers took at most, ms. */
  readonly p99Ms: number;
  /** The longest time of an answer, ms. */
  readonly maxMs: number;
  /** Answers of 204, those of the first second included. */
  readonly answered: number;
  /** Other answers, and connections that failed. */
  readonly refused: number;
}

const warmUpMs = 1_000;
const utf8 = new TextEncoder();
const endOfHead = utf8.encode("\r\n\r\n");
const marker = orderId(0);

/** Answers are awaited one at a time, so a head is all that is ever read. */
async function readHead(
  connection: Deno.Conn,
  buffer: Uint8Array,
): Promise<number> {
  let length = 0;
  for (;;) {
    const read = await connection.read(buffer.subarray(length));
    if (read === null) throw new Error("The server hung up");
    length += read;
    if (endOfHead.every((byte, at) => buffer[length - 4 + at] === byte)) {
      return length;
    }
  }
}

/** A request of which only the digits of the order change. */
function template(url: URL): { bytes: Uint8Array; digitsAt: number } {
  const body = webhookBody(0, "order_complete");
  const head = `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n` +
    "content-type: application/json\r\n" +
    `content-length: ${utf8.encode(body).length}\r\n\r\n`;
  const digitsAt = (head + body).indexOf(marker) + marker.length;
  return { bytes: utf8.encode(head + body), digitsAt };
}

if (import.meta.main) {
  const [address = "", connections = "64", seconds = "3"] = Deno.args;
  const url = new URL(address);
  const { bytes, digitsAt } = template(url);
  const startAt = performance.now() + warmUpMs;
  const endAt = startAt + Number(seconds) * 1000;
  const times: number[] = [];
  let answered = 0;
  let refused = 0;
  let minted = 0;

  const talk = async (): Promise<void> => {
    using connection = await Deno.connect({
      hostname: url.hostname,
      port: Number(url.port),
    });
    connection.setNoDelay(true);
    const request = bytes.slice();
    const answer = new Uint8Array(4096);
    for (;;) {
      let rest = minted++;
      for (let at = digitsAt - 1; rest > 0; at--) {
        request[at] = 48 + rest % 10;
        rest = Math.floor(rest / 10);
      }
      const sentAt = performance.now();
      if (sentAt >= endAt) return;
      let written = await connection.write(request);
      while (written < request.length) {
        written += await connection.write(request.subarray(written));
      }
      await readHead(connection, answer);
      const now = performance.now();
      // "HTTP/1.1 204": all of it is in the ninth byte and the two after it.
      const stored = answer[9] === 50 && answer[10] === 48 && answer[11] === 52;
      if (!stored) refused++;
      else answered++;
      if (stored && now >= startAt && now < endAt) times.push(now - sentAt);
    }
  };
  await Promise.all(Array.from({ length: Number(connections) }, talk));

  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const load: Load = {
    by: "our own",
    perSecond: times.length / Number(seconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: times.at(-1) ?? 0,
    answered,
    refused,
  };
  console.log(JSON.stringify(load));
}
