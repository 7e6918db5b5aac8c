import assert from "node:assert/strict";
import { base64 } from "@scure/base";
import fc from "fast-check";
import { allNotes } from "../attention/notes.ts";
import type { NewEvent } from "../events/event.ts";
import { eraseBody } from "../evidence/erase.ts";
import { extendChain } from "../evidence/extend_chain.ts";
import { verifyChain } from "../evidence/verify_chain.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import type { Driver } from "../store/driver/driver.ts";
import { exportEvents } from "./export_events.ts";
import { importEvents } from "./import_events.ts";
import {
  emptyStore,
  liveStates,
  orderRead,
  orderWebhook,
  rowsOf,
  worlds,
} from "../testing/projection_test_kit.ts";
import { Projector } from "../projection/projector.ts";
import { entityIdSql } from "../store/tables/polling/request_places.ts";
import { tries } from "../../tests/kit/thorough.ts";

async function stored(events: readonly NewEvent[]): Promise<Driver> {
  const driver = await emptyStore();
  if (events.length > 0) await driver.batch([appendStatement(events)], "write");
  return driver;
}

async function project(driver: Driver): Promise<void> {
  const projector = new Projector({ driver, assets: "sandbox", maxEvents: 3 });
  while ((await projector.step("live")).events > 0);
}

async function exported(driver: Driver): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportEvents(driver, "sandbox")) lines.push(line);
  return lines;
}

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

Deno.test("importEvents() of exportEvents() gives the same lines and the same states", async () => {
  await fc.assert(
    fc.asyncProperty(worlds(30), async (events) => {
      const from = await stored(events);
      const to = await emptyStore();
      await project(from);
      const lines = await exported(from);
      assert.deepEqual(await importEvents(to, "sandbox", given(lines)), {
        imported: events.length,
        skipped: 0,
      });
      await project(to);
      assert.deepEqual(await exported(to), lines);
      assert.deepEqual(await liveStates(to), await liveStates(from));
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

Deno.test("importEvents() imports history without new transitions, and later events make new ones", async () => {
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
  await to.batch([
    appendStatement([
      orderWebhook("new", 61, { type: "payment_started", orderId: "B" }),
    ]),
  ], "write");
  await project(to);
  const [ranges] = [await rowsOf(to, "SELECT * FROM imported")];
  assert.deepEqual(ranges, [[2, 1204]]);
  assert.deepEqual(
    await rowsOf(
      to,
      "SELECT entity_id FROM transitions WHERE live = 1 ORDER BY seq",
    ),
    [["A"], ["B"]],
  );
  assert.equal((await rowsOf(to, "SELECT 1 FROM transitions")).length, 1205);
  assert.deepEqual(
    await rowsOf(
      to,
      `SELECT entity, ${entityIdSql("q")} FROM requests AS q WHERE queue = 0`,
    ),
    [["order", "B"]],
  );
  await from.close();
  await to.close();
});

Deno.test("importEvents() keeps erased events, and their commitments hold the chain", async () => {
  const from = await stored([
    orderWebhook("W1", 1, { type: "payment_started", orderId: "O1" }),
    orderWebhook("W2", 2, { type: "order_complete", orderId: "O1" }),
    orderWebhook("W3", 3, { type: "payment_started", orderId: "O2" }),
  ]);
  await eraseBody(from, 2);
  const lines = await exported(from);
  const to = await emptyStore();
  await importEvents(to, "sandbox", given(lines));
  assert.deepEqual(await exported(to), lines);
  assert.deepEqual(
    await rowsOf(to, "SELECT event_id FROM events ORDER BY position"),
    [["W1"], ["W2"], ["W3"]],
  );
  const origin = { environment: "sandbox", ledgerId: "00" };
  await extendChain(to, origin);
  const found = await verifyChain(to, origin);
  assert.deepEqual([found.ok, found.erased], [true, 1]);
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
      [altered(header, { environment: "production" })],
      /line 1: .*"production"/,
    ],
    [[header, first], /cut after 1 events/],
    [[header, first, `{"end":2}`], /holds 1 events and states 2/],
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
    [[header, first, altered(second, { type: undefined })], /line 3: "type"/],
    [[header, first, altered(second, { body: null })], /line 3: "erased"/],
  ];
  for (const [lines, message] of wrong) {
    const to = await emptyStore();
    await assert.rejects(
      importEvents(to, "sandbox", given(lines)),
      (error) => error instanceof TypeError && message.test(error.message),
      lines.at(-1),
    );
    assert.equal(
      (await rowsOf(to, "SELECT 1 FROM events")).length,
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
  const to = await emptyStore();
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(await importEvents(to, "sandbox", given(lines)), {
      imported: 0,
      skipped: 0,
    });
    assert.deepEqual(
      (await Array.fromAsync(allNotes(to))).map((
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
