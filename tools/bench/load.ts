/**
 * Posts webhooks over connections that are kept, each of which waits for its
 * answer before it sends the next: `load.ts URL CONNECTIONS SECONDS SHAPE`. It
 * speaks HTTP/1.1 by hand, so that it takes as little of the machine as it can.
 *
 * @module
 */
import { webhookBody } from "./bodies.ts";

/** What was measured. */
export interface Load {
  /** Answers of 204. */
  readonly answered: number;
  /** Other answers. */
  readonly refused: number;
  /** The time that 99 in 100 answers took at most, ms, after the first second. */
  readonly p99Ms: number;
}

const WARM_UP_MS = 1_000;
const utf8 = new TextEncoder();
const END_OF_HEAD = utf8.encode("\r\n\r\n");

/** Answers are awaited one at a time, so a head is all that is ever read. */
async function readHead(
  connection: Deno.Conn,
  buffer: Uint8Array,
): Promise<void> {
  for (let length = 0;;) {
    const read = await connection.read(buffer.subarray(length));
    if (read === null) throw new Error("The server hung up");
    length += read;
    if (END_OF_HEAD.every((byte, at) => buffer[length - 4 + at] === byte)) {
      return;
    }
  }
}

if (import.meta.main) {
  const [address = "", connections, seconds, shape] = Deno.args;
  const url = new URL(address);
  const head = `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n` +
    "content-type: application/json\r\ncontent-length: ";
  const startAt = performance.now();
  const endAt = startAt + Number(seconds) * 1000;
  const times: number[] = [];
  let [answered, refused, minted] = [0, 0, 0];
  await Promise.all(Array.from({ length: Number(connections) }, async () => {
    using connection = await Deno.connect({
      hostname: url.hostname,
      port: Number(url.port),
    });
    connection.setNoDelay(true);
    const answer = new Uint8Array(4096);
    for (;;) {
      const body = webhookBody(minted++, shape === "new" ? "new" : "lives");
      const request = utf8.encode(`${head}${body.length}\r\n\r\n${body}`);
      const sentAt = performance.now();
      if (sentAt >= endAt) return;
      for (let at = 0; at < request.length;) {
        at += await connection.write(request.subarray(at));
      }
      await readHead(connection, answer);
      // "HTTP/1.1 204": all of it is in the ninth byte and the two after it.
      if (answer[9] === 50 && answer[10] === 48 && answer[11] === 52) {
        answered++;
      } else refused++;
      if (sentAt > startAt + WARM_UP_MS) {
        times.push(performance.now() - sentAt);
      }
    }
  }));
  times.sort((a, b) => a - b);
  const p99Ms = times[Math.floor(times.length * 0.99)] ?? 0;
  const load: Load = { answered, refused, p99Ms };
  console.log(JSON.stringify(load));
}
