import { userSnapshot } from "../../ledger/testing/mod.ts";
import assert from "node:assert/strict";
import { alarmMessage } from "../../server/alarms/alarm_message.ts";
import {
  forwarderOn,
  lives,
  Receiver,
  record,
  runUntil,
} from "../../server/forwarding/testing/forwarding_kit.ts";
import { found } from "../../resources/health/finding.ts";
import { newLedger } from "../../ledger/testing/fold_kit.ts";
import { at } from "../../ledger/testing/projection_test_kit.ts";
import { hasShape } from "../kit/shape.ts";
import { until } from "../kit/until.ts";

/** The messages that the page shows. */
async function examples(): Promise<Record<string, unknown>[]> {
  const text = await Deno.readTextFile(
    new URL("../../docs/integrate.md", import.meta.url),
  );
  return [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, json = ""]) =>
    JSON.parse(json)
  ).filter(({ type }) => type !== undefined);
}

Deno.test("what is forwarded of orders and users has the shape that `schema` prints", async () => {
  const driver = await newLedger();
  await record(
    driver,
    ...lives("O1"),
    userSnapshot({
      source: JSON.stringify({ user_id: "U1", lkyc_status: "success" }),
      readAt: at(20),
      recordedAt: at(20),
      salt: new Uint8Array(16),
    }),
  );
  const receiver = new Receiver();
  const { forwarder } = forwarderOn(driver, receiver, {
    to: "https://shop.example/hooks order.confirmed.* user.*.confirmed.*",
  });
  const isUser = ({ data }: (typeof receiver.taken)[number]) =>
    data.entity === "user";
  await runUntil(
    forwarder,
    () => until(() => receiver.taken.length > 4 && receiver.taken.some(isUser)),
  );
  for (const taken of receiver.taken) {
    hasShape("forwarded-transition", taken);
  }
  await driver.close();
});

Deno.test("what is forwarded of an alarm has the shape that `schema` prints", () => {
  const since = "2026-11-22T09:50:00.000Z";
  const facts = { silentOrders: 3, offAtFromFirst: null };
  const alarm = { ...found("delivery_suspected", { facts }), since };
  const where = { name: "delivery", environment: "sandbox", host: null };
  for (const clearedAt of [null, "2026-11-22T10:50:00.000Z"]) {
    const { id: _, ...body } = alarmMessage({ alarm, clearedAt, ...where });
    hasShape("forwarded-alarm", body);
  }
});

Deno.test("the message that the page shows has the shape that `schema` prints", async () => {
  let looked = 0;
  for (const example of await examples()) {
    // The state stands there in part.
    const data = { ...Object(example.data), state: null };
    hasShape("forwarded-transition", { ...example, data });
    looked++;
  }
  assert.equal(looked, 1);
});
