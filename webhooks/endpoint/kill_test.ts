import assert from "node:assert/strict";
import { type Delivery, fileSpool, webhookEndpoint } from "../mod.ts";

const SECRET = "secret-0123456789abcdef0123456789";
const REPETITIONS = 20;
const CONNECTIONS = 8;

/**
 * The process that gets killed. Its ledger is as durable as a file can be, and
 * refuses now and then, so that spooling and draining are under way as well.
 */
async function endpointProcess(directory: string): Promise<void> {
  const ledger = await fileSpool({ directory: `${directory}/ledger` });
  const spool = await fileSpool({
    directory: `${directory}/spool`,
    segmentBytes: 2_000,
  });
  let appends = 0;
  const endpoint = webhookEndpoint({
    secrets: [SECRET],
    spool,
    append: (delivery) =>
      appends++ % 50 < 25
        ? ledger.put(delivery)
        : Promise.reject(new Error("Refused")),
  });
  Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: ({ port }) => console.log(port),
  }, endpoint);
}

/** Posts until the connection breaks; `answered` gets every body with a 204. */
async function post(
  port: number,
  name: string,
  answered: Set<string>,
): Promise<void> {
  const encoder = new TextEncoder();
  const buffer = new Uint8Array(1024);
  try {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port });
    connection.setNoDelay();
    for (let n = 0;; n++) {
      const body = `{"n":"${name}-${n}"}`;
      await connection.write(encoder.encode(
        `POST /webhooks/${SECRET} HTTP/1.1\r\nhost: x\r\n` +
          `content-length: ${body.length}\r\n\r\n${body}`,
      ));
      const count = await connection.read(buffer);
      if (count === null) return;
      const answer = new TextDecoder().decode(buffer.subarray(0, count));
      if (!answer.endsWith("\r\n\r\n")) return;
      assert.match(answer, /^HTTP\/1\.1 204 /);
      answered.add(body);
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text.trim();
}

/** Everything durable in a directory after the process died. */
async function recovered(directory: string): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  const spool = await fileSpool({ directory });
  await spool.drain((delivery) => {
    deliveries.push(delivery);
    return Promise.resolve();
  });
  await spool.close();
  return deliveries;
}

async function killUnderLoad(repetition: number): Promise<number> {
  const directory = await Deno.makeTempDir();
  try {
    const child = new Deno.Command("deno", {
      args: [
        "run",
        "--allow-env",
        "--allow-read",
        "--allow-write",
        "--allow-net=127.0.0.1",
        import.meta.filename ?? "",
        directory,
      ],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const port = Number(await firstLine(child.stdout));
    const answered = new Set<string>();
    const posting = Array.from(
      { length: CONNECTIONS },
      (_, index) => post(port, String(index), answered),
    );
    const giveUpAt = performance.now() + 60_000;
    while (answered.size === 0 && performance.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await new Promise((resolve) => setTimeout(resolve, 10 + repetition * 7));
    child.kill("SIGKILL");
    await child.status;
    await Promise.all(posting);

    // Draining into the ledger again is harmless: it takes an id once.
    const kept = new Map<string, string>();
    for (const part of ["ledger", "spool"]) {
      for (const { id, body } of await recovered(`${directory}/${part}`)) {
        kept.set(id, new TextDecoder().decode(body));
      }
    }
    const bodies = [...kept.values()];
    assert.equal(
      new Set(bodies).size,
      bodies.length,
      "a delivery is kept twice",
    );
    const present = new Set(bodies);
    for (const body of answered) assert(present.has(body), `${body} is lost`);
    return answered.size;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const [directory] = Deno.args;
if (import.meta.main && directory !== undefined) {
  await endpointProcess(directory);
} else {
  Deno.test(`webhookEndpoint() killed ${REPETITIONS} times under load has kept every 204, once`, async () => {
    let answered = 0;
    for (let repetition = 0; repetition < REPETITIONS; repetition += 2) {
      const counts = await Promise.all([
        killUnderLoad(repetition),
        killUnderLoad(repetition + 1),
      ]);
      for (const count of counts) {
        assert(count > 0, "killed before it answered anything");
        answered += count;
      }
    }
    assert(answered > REPETITIONS * CONNECTIONS);
  });
}
