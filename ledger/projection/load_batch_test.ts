import assert from "node:assert/strict";
import { webhookEvent } from "../events/mint.ts";
import { readFact } from "../events/read_fact.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import { openDriver } from "../store/connections/open_driver.ts";
import { prepared } from "../testing/projection_test_kit.ts";
import { Projector } from "./projector.ts";

const bodies = [
  new Uint8Array(0),
  Uint8Array.of(0, 1, 0),
  Uint8Array.of(0xff, 0xfe, 0x80),
  new TextEncoder().encode('{"type":"login","x":"\\ud800 \u{1f600} é"}'),
  new Uint8Array(0),
];

for (const maxEvents of [1, 2, 1000]) {
  Deno.test(`Projector.step() hands bodies over byte for byte, ${maxEvents} at a time`, async () => {
    const driver = await prepared(
      await openDriver({ url: ":memory:", worker: false }),
    );
    const events = bodies.map((body, at) =>
      webhookEvent({
        id: `W${at}`,
        receivedAt: "2026-11-20T09:00:00.000Z",
        body,
      }, new Uint8Array(16))
    );
    await driver.batch([
      appendStatement(events),
      { sql: "UPDATE events SET body = NULL WHERE position = 4", args: [] },
    ], "write");
    const met: (number[] | null)[] = [];
    const projector = new Projector({
      driver,
      maxEvents,
      fold: {
        version: 1,
        readFact: (event) => {
          met[event.position - 1] = event.body && [...event.body];
          return readFact(event);
        },
      },
    });
    while ((await projector.step("live")).events > 0);
    assert.deepEqual(
      met,
      bodies.map((body, at) => at === 3 ? null : [...body]),
    );
    await driver.close();
  });
}
