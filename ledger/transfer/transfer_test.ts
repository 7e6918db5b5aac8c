import assert from "node:assert/strict";
import { base64 } from "@scure/base";
import fc from "fast-check";
import { tries } from "../../tests/kit/thorough.ts";
import type { Driver } from "../store/database.ts";
import {
  orderRead,
  orderWebhook,
  session,
  worlds,
} from "../testing/projection_test_kit.ts";
import type { NewEvent } from "../events/event.ts";
import { verifySeals } from "../evidence/evidence.ts";
import { addNote, type Note } from "../recording/notes.ts";
import { allNotes } from "../testing/mint.ts";
import {
  append,
  newLedger,
  projectAll,
  select,
  statesOf,
} from "../testing/fold_kit.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import type { Ledger } from "../ledger.ts";
import { exportEvents, importEvents } from "./transfer.ts";

const NOW_MS = Date.parse("2026-11-20T12:00:00Z");

async function stored(events: readonly NewEvent[]): Promise<Driver> {
  const driver = await newLedger();
  await append(driver, events);
  return driver;
}

const exported = (driver: Driver) =>
  Array.fromAsync(exportEvents(driver, "sandbox"));

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

Deno.test("importEvents() of exportEvents() gives the same lines and the same states", async () => {
  await fc.assert(
    fc.asyncProperty(worlds(30), async (events) => {
      const from = await stored(events);
      const to = await newLedger();
      await projectAll(from);
      const lines = await exported(from);
      assert.deepEqual(await importEvents(to, "sandbox", given(lines)), {
        imported: events.length,
        skipped: 0,
      });
      await projectAll(to, { maxEvents: 3 });
      assert.deepEqual(await exported(to), lines);
      assert.deepEqual(await statesOf(to), await statesOf(from));
      assert.deepEqual(await importEvents(to, "sandbox", given(lines)), {
        imported: 0,
        skipped: events.length,
      });
      assert.deepEqual(await exported(to), lines);
      await from.close();
      await to.close();
    }),
    { numRuns: tries(40) },
  );
});

Deno.test("importEvents() imports history without live transitions, and later events make live ones", async () => {
  const events = Array.from(
    { length: 1203 },
    (_, n) =>
      orderWebhook(`W${n}`, n % 60, {
        type: "payment_started",
        orderId: `O${n}`,
      }),
  );
  const from = await stored(events);
  const to = await stored([orderRead(1, { orderId: "A", status: "created" })]);
  await importEvents(to, "sandbox", given(await exported(from)));
  await append(to, [
    orderWebhook("new", 61, { type: "payment_started", orderId: "B" }),
  ]);
  await projectAll(to);
  const [ranges] = await select(
    to,
    "SELECT value FROM cursors WHERE name = 'imported'",
  );
  assert.equal(ranges?.value, "[[2,1204]]");
  assert.deepEqual(
    (await select(
      to,
      `SELECT o.id FROM log AS t JOIN orders AS o ON o.no = t.no
        WHERE t.flags & 1 ORDER BY t.seq`,
    )).map(({ id }) => id),
    ["A", "B"],
  );
  assert.equal((await select(to, "SELECT 1 FROM log")).length, 1205);
  assert.deepEqual(
    (await select(to, "SELECT id FROM orders WHERE urgency > 0"))
      .map(({ id }) => id),
    ["B"],
  );
  // What is imported after a fold is history as well.
  await importEvents(
    to,
    "sandbox",
    given(
      await exported(
        await stored([orderRead(5, { orderId: "C", status: "created" })]),
      ),
    ),
  );
  await projectAll(to);
  const [again] = await select(
    to,
    "SELECT value FROM cursors WHERE name = 'imported'",
  );
  assert.equal(again?.value, "[[1206,1206]]");
  assert.equal(
    (await select(to, "SELECT 1 FROM log WHERE flags & 1")).length,
    2,
  );
  await from.close();
  await to.close();
});

Deno.test("importEvents() names the line that is wrong, and keeps what came before", async () => {
  const from = await stored([
    orderWebhook("W1", 1, { type: "payment_started", orderId: "O1" }),
    orderRead(2, { orderId: "O1", status: "created" }),
  ]);
  const [header = "", first = "", second = ""] = await exported(from);
  const altered = (line: string, change: Record<string, unknown>) =>
    JSON.stringify({ ...JSON.parse(line), ...change });
  const wrong: [string[], RegExp][] = [
    [["{}"], /line 1: It is not the header/],
    [["nonsense"], /line 1: It is not the header/],
    [
      ['{"rampkit":"ledger"}'],
      /line 1: It was written with --move: import it with --move/,
    ],
    [
      [altered(header, { environment: "production" })],
      /line 1: .*"production"/,
    ],
    [[header, first], /cut after 1 events/],
    [[header, first, `{"end":2}`], /holds 1 events and states 2/],
    [[header, first, '{ "end": 2 }\r'], /holds 1 events and states 2/],
    [[header, first, `{"end":1}`, second], /line 4: Nothing may follow/],
    [[header, first, "[]"], /line 3: The line is not a JSON object/],
    [[header, first, altered(second, { kind: "rumour" })], /line 3: .*rumour/],
    [[header, first, altered(second, { orderId: "O2" })], /line 3: "orderId"/],
    [[header, first, altered(second, { digest: "00" })], /line 3: "digest"/],
    [[header, first, altered(second, { readAt: "x" })], /line 3: "eventId"/],
    [[header, first, altered(second, { body: "e30=" })], /line 3: /],
    [[header, first, altered(second, { salt: null })], /line 3: "salt"/],
    [
      [header, first, altered(second, { recordedAt: null })],
      /line 3: "recordedAt"/,
    ],
    [
      [header, first, altered(second, { recordedAt: "soon" })],
      /line 3: "recordedAt" is "soon", no time/,
    ],
    [[header, first, altered(second, { type: undefined })], /line 3: "type"/],
    [[header, first, altered(second, { body: null })], /line 3: "erased"/],
    [
      [header, first, '{"erasure":"aliases","row":["00","key","x"]}'],
      /line 3: What is kept of who was erased is not a JSON object/,
    ],
  ];
  for (const [lines, message] of wrong) {
    const to = await newLedger();
    await assert.rejects(
      importEvents(to, "sandbox", given(lines)),
      (error) => error instanceof TypeError && message.test(error.message),
      lines.at(-1),
    );
    assert.equal(
      (await select(to, "SELECT 1 FROM events")).length,
      lines.length > 1 ? 1 : 0,
    );
    await to.close();
  }
  await from.close();
});

Deno.test("exportEvents() reads large bodies a few at a time", async () => {
  const external = "x".repeat(1 << 20);
  const from = await stored(
    Array.from(
      { length: 9 },
      (_, n) => orderRead(n, { orderId: `O${n}`, status: "created", external }),
    ),
  );
  let most = 0;
  const lines = await exported({
    location: "memory",
    async batch(statements, mode) {
      const results = await from.batch(statements, mode);
      const bytes = results.flatMap(({ rows }) => rows.flat()).reduce(
        (sum: number, value) =>
          sum + (value instanceof Uint8Array ? value.length : 0),
        0,
      );
      most = Math.max(most, bytes);
      return results;
    },
    close: () => Promise.resolve(),
  });
  assert.equal(lines.length, 11);
  assert.ok(most > 1 << 20 && most < 6 << 20, `${most} bytes at once`);
  await from.close();
});

Deno.test("importEvents() takes what earlier versions recorded about cases as notes, each once, and keeps the file whole", async () => {
  const former = (digit: string, body: object | null) =>
    JSON.stringify({
      ...{ eventId: digit.repeat(64), kind: "case_changed", orderId: "O1" },
      recordedAt: "2026-11-20T09:00:00.000Z",
      body: body === null ? null : base64.encode(
        new TextEncoder().encode(
          JSON.stringify({ order_id: "O1", by: "Ada", turn: 1, ...body }),
        ),
      ),
    });
  const lines = [
    '{"rampkit":"events","version":1,"environment":"sandbox"}',
    former("a", {
      change: "asked",
      at: "2026-11-20T09:00:00.000Z",
      reasons: ["refund_due"],
      since: "2026-11-19T10:00:00.000Z",
    }),
    former("b", {
      change: "noted",
      at: "2026-11-20T09:00:01.000Z",
      note: "ticket 4711",
    }),
    former("c", {
      change: "refunded",
      at: "2026-11-20T09:00:02.000Z",
      reasons: ["refund_due"],
      reference: "RF-1",
    }),
    former("d", null),
    '{"end":4}',
  ];
  const to = await newLedger();
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(await importEvents(to, "sandbox", given(lines)), {
      imported: 0,
      skipped: 0,
    });
    assert.deepEqual(
      (await allNotes(to)).map((
        { entity, entityId, action, reasons, text, author },
      ) => [entity, entityId, action, reasons.join(), text, author].join(" ")),
      [
        "order O1 acknowledge refund_due Asked the service; at " +
        "2026-11-19T10:00:00.000Z Ada",
        "order O1 note  ticket 4711 Ada",
        "order O1 acknowledge refund_due Refunded it; reference RF-1 Ada",
      ],
    );
  }
  await assert.rejects(
    importEvents(to, "sandbox", given([lines[0] ?? "", former("e", {})])),
    /line 2: The body of "case_changed" lacks order_id, change, by or at/,
  );
  await to.close();
});

/** A note about an order, without what storing adds. */
function noted(
  action: Note["action"],
  reasons: readonly string[],
  entityId = "O1",
): Omit<Note, "id" | "notedAt"> {
  const text = `${action} 'it' <b>`;
  return { entity: "order", entityId, action, reasons, text, author: "anna" };
}

Deno.test("notes are events: under the evidence, brought along by an export, and folded into nothing", async () => {
  const from = await stored([
    orderRead(1, { orderId: "O1", status: "failed" }),
  ]);
  await projectAll(from);
  const before = await statesOf(from);
  await addNote(from, noted("acknowledge", ["refund_due"]), NOW_MS);
  await addNote(from, noted("note", []), NOW_MS + 1);
  await projectAll(from);
  assert.deepEqual(await statesOf(from), before);
  assert.equal((await verifySeals(from)).events, 3);
  const lines = await exported(from);
  assert.equal(lines.length, 5);
  const to = await newLedger();
  for (let time = 0; time < 2; time++) {
    await importEvents(to, "sandbox", given(lines));
    assert.deepEqual(
      await allNotes(to),
      await allNotes(from),
    );
  }
  assert.deepEqual(await exported(to), lines);
  await from.close();
  await to.close();
});

Deno.test("importEvents() names the line of a note that lacks a field", async () => {
  const to = await newLedger();
  const wrong: Record<string, RegExp> = {
    '{"note":{}}': /line 2: "id" of the note is missing/,
    '{"note":{"id":"1","entity":3}}': /line 2: "entity" of the note is missing/,
  };
  for (const [line, message] of Object.entries(wrong)) {
    const lines = ['{"rampkit":"events","version":1,"environment":"sandbox"}'];
    await assert.rejects(
      importEvents(to, "sandbox", given([...lines, line])),
      message,
    );
  }
  await to.close();
});

Deno.test("what a person released by hand does the same in a ledger that it is imported into", async () => {
  await using from = await emptyLedger();
  await using to = await emptyLedger();
  const paid = (minute: number, orderId: string, click: string) =>
    orderRead(minute, {
      ...{ orderId, click, status: "success", created: minute - 1 },
      ...{ tx: "0xT", user: "U1" },
    });
  await from.append([
    session(0, "S1", "C1", "10", "basket-1"),
    session(0, "S2", "C2", "10", "basket-1"),
    paid(5, "FIRST", "C1"),
  ]);
  await from.project();
  await from.append([paid(9, "SECOND", "C2")]);
  await from.project();
  await from.release("FIRST", {
    ...{ outcome: "refunded", by: "Ada", why: "sent back" },
    confirmed: true,
  });
  await from.project();
  const releases = async ({ orders, driver }: Ledger) => ({
    orders: (await Array.fromAsync(orders.list())).map((
      { orderId, release, releaseReason },
    ) => `${orderId} ${release} ${releaseReason}`).sort(),
    purchases: await select(
      driver,
      `SELECT o.id, p.held FROM purchases AS p JOIN orders AS o USING (no)
        ORDER BY o.id`,
    ),
  });
  const before = await releases(from);
  await to.import(from.export());
  await to.project();
  assert.deepEqual(await releases(to), before);
  for (const ledger of [from, to]) {
    assert.equal((await ledger.verifyStates()).ok, true);
    assert.equal((await ledger.verify()).ok, true);
  }
});
