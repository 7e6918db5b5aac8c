/**
 * Posts webhooks over connections that are kept, each of which waits for its
 * answer before it sends the next: `load.ts URL CONNECTIONS SECONDS SHAPE`. It
 * speaks HTTP/1.1 by hand, so that it takes as little of the machine as it can.
 * The last line has the answers of 204, the others, the time that 99 in 100
 * answers took at most, in ms, after the first second, and the processor time
 * that the load itself took for an answer, in us.
 *
 * @module
 */
import process from "node:process";
import { webhookBody } from "./bodies.ts";

const WARM_UP_MS = 1_000;

const [address = "", connections, seconds, shape] = Deno.args;
const { hostname, port, host, pathname } = new URL(address);
const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\n` +
  "content-type: application/json\r\ncontent-length: ";
const utf8 = new TextEncoder();
const startAt = performance.now();
const endAt = startAt + Number(seconds) * 1000;
const times: number[] = [];
let [answered, refused, minted] = [0, 0, 0];
await Promise.all(Array.from({ length: Number(connections) }, async () => {
  using connection = await Deno.connect({ hostname, port: Number(port) });
  connection.setNoDelay(true);
  const buffer = new Uint8Array(4096);
  for (;;) {
    const body = webhookBody(minted++, shape === "new" ? "new" : "lives");
    const request = utf8.encode(`${head}${body.length}\r\n\r\n${body}`);
    const sentAt = performance.now();
    if (sentAt >= endAt) return;
    for (let at = 0; at < request.length;) {
      at += await connection.write(request.subarray(at));
    }
    // One answer is awaited at a time, and has no body.
    let answer = "";
    while (!answer.endsWith("\r\n\r\n")) {
      const read = await connection.read(buffer);
      if (read === null) throw new Error("The server hung up");
      answer += String.fromCharCode(...buffer.subarray(0, read));
    }
    if (answer.startsWith("HTTP/1.1 204")) answered++;
    else refused++;
    if (sentAt > startAt + WARM_UP_MS) {
      times.push(performance.now() - sentAt);
    }
  }
}));
times.sort((a, b) => a - b);
const p99Ms = times[Math.floor(times.length * 0.99)] ?? 0;
const { user, system } = process.cpuUsage();
const ownUs = (user + system) / answered;
console.log(JSON.stringify([answered, refused, p99Ms, ownUs]));
