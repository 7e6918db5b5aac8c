import assert from "node:assert/strict";
import { decodeTime } from "ulid";
import { openLedger } from "../../ledger/mod.ts";
import { EVENT_COLUMNS, eventsOf } from "../../ledger/testing/mod.ts";
import { fileSpool, spoolMover, webhookEndpoint } from "../../webhooks/mod.ts";
import { PERMISSIONS } from "../kit/program.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { isThorough } from "../kit/thorough.ts";
import { until } from "../kit/until.ts";

const SECRET = "secret-0123456789abcdef0123456789";
const REPETITIONS = isThorough ? 10 : 4;
const CONNECTIONS = 8;

/**
 * The process that gets killed. Its ledger refuses now and then, so that
 * deliveries wait in files of several processes, and are handed over again.
 */
async function endpointProcess(directory: string): Promise<void> {
  const ledger = await openLedger({
    url: `file:${directory}/ledger.db`,
    environment: "sandbox",
  });
  const spool = await fileSpool({ directory: `${directory}/spool` });
  let groups = 0;
  spoolMover({
    spool,
    take: (records) =>
      groups++ % 4 === 3
        ? Promise.reject(new Error("Refused"))
        : ledger.appendRecords(records),
  });
  const endpoint = webhookEndpoint({
    secrets: [SECRET],
    append: spool.put,
    unanswered: spool.note,
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

/** Bodies in the ledger, once what was left in the spool is there as well. */
async function recovered(directory: string): Promise<string[]> {
  await using ledger = await openLedger({
    url: `file:${directory}/ledger.db`,
    environment: "sandbox",
    worker: false,
  });
  const spool = await fileSpool({ directory: `${directory}/spool` });
  await spool.drain((records) => ledger.appendRecords(records));
  await spool.close();
  assert.deepEqual([...Deno.readDirSync(`${directory}/spool`)], []);
  const [found] = await ledger.driver.batch([{
    sql: `SELECT ${EVENT_COLUMNS} FROM events AS e ORDER BY e.position`,
    args: [],
  }], "read");
  const events = eventsOf(found?.rows);
  const receipts = events.map(({ eventId }) => eventId);
  assert.deepEqual(receipts, receipts.toSorted(), "in order of receipt");
  for (const { eventId, recordedAt } of events) {
    // The id was minted at receipt; its time never goes back.
    assert(decodeTime(eventId) >= Date.parse(recordedAt));
  }
  return events.map(({ body }) => new TextDecoder().decode(body ?? undefined));
}

async function killUnderLoad(repetition: number): Promise<void> {
  await using directory = await temporaryFolder();
  const child = new Deno.Command("deno", {
    args: [
      "run",
      ...PERMISSIONS,
      import.meta.filename ?? "",
      directory.path,
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
  await until(() => answered.size > CONNECTIONS);
  // Each is killed at another moment.
  const afterMs = 120 * repetition / REPETITIONS;
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill("SIGKILL");
  await child.status;
  await Promise.all(posting);
  const bodies = await recovered(directory.path);
  const present = new Set(bodies);
  assert.equal(present.size, bodies.length, "a delivery is stored twice");
  for (const body of answered) assert(present.has(body), `${body} is lost`);
}

const [directory] = Deno.args;
if (import.meta.main && directory !== undefined) {
  await endpointProcess(directory);
} else {
  Deno.test(`an endpoint on a spool that is killed ${REPETITIONS} times under load has every 204 in the ledger, once and in order`, async () => {
    for (let repetition = 0; repetition < REPETITIONS; repetition += 2) {
      await Promise.all([
        killUnderLoad(repetition),
        killUnderLoad(repetition + 1),
      ]);
    }
  });
}
