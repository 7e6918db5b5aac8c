import assert from "node:assert/strict";
import { csvRows } from "../../core/csv/csv.ts";
import { openLedger } from "../../ledger/mod.ts";
import { testApi } from "../../server/api/testing/test_api.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { testConsole } from "../kit/console.ts";
import { ODD_NOW_MS } from "../kit/odd_ledger.ts";
import { orderOfRow, outcomeEvents } from "../kit/outcome_orders.ts";

const ID = orderOfRow("chain_differs");
const SAID = "The transaction was undone in block 871,204, 40 confirmations, " +
  "read from own-1.";

Deno.test("an order whose chain answer differs is seen in state, attention, API, forwarding, month, explanation and console", async () => {
  await using file = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  const now = () => ODD_NOW_MS;
  await using ledger = await openLedger({
    url: file.url,
    environment: "sandbox",
    goLive: "2026-01-01T00:00:00.000Z",
    worker: false,
    now,
  });
  await ledger.append(outcomeEvents());
  await ledger.project();

  const order = await ledger.orders.get(ID) ?? assert.fail();
  assert.deepEqual([order.release, order.releaseReason], [
    "wait",
    "chain_differs",
  ]);
  const waiting = await cli(["attention", "chain_differs", "--json"], env);
  assert.equal(JSON.parse(waiting.out).order.orderId, ID, waiting.err);
  const shown = await cli(["orders", "show", ID], env);
  assert.ok(shown.out.replaceAll(/\s+/g, " ").includes(SAID), shown.out);

  await using api = await testApi({ ledger, now });
  const answer = await (await api.get(`/v1/orders/${ID}`)).json();
  assert.equal(answer.witness.message, SAID);
  assert.deepEqual(answer.attention, ["chain_differs"]);
  const asked = await (await api.get("/v1/attention?kind=chain_differs"))
    .json();
  assert.deepEqual(
    asked.items.map((one: { order: { orderId: string } }) => one.order.orderId),
    [ID],
  );

  // What targets and handlers are sent.
  const told: Record<string, unknown>[] = [];
  const subscription = await ledger.subscribe(
    "shop",
    {
      on: ["order.release.*", "order.witness.*"],
      from: "start",
      start: false,
    },
    (transition, { release }) => {
      const { key, reverses } = transition;
      if (transition.id === ID) told.push({ key, reverses, release });
    },
  );
  await subscription.dispatch();
  assert.deepEqual(
    told.map(({ key }) => key).filter((key) =>
      key !== `order:${ID}:release.yes`
    ),
    [`order:${ID}:witness.reverted`, `order:${ID}:release.wait`],
  );
  assert.deepEqual(told.at(-1)?.release, "wait");

  const explained = await ledger.explain(ID) ?? assert.fail();
  const looked =
    explained.events.find(({ content }) => content.code === "chain") ??
      assert.fail();
  assert.equal(looked.effect, "changed");
  assert.ok(
    looked.changes.some(({ field, after }) =>
      field === "release" && after === "wait"
    ),
  );

  const month = await cli(
    ["month", "show", "2026-11", "--file", "items.csv"],
    env,
  );
  const [titles = [], ...rows] = [...csvRows(month.out)];
  const cells = rows.find((row) => row[titles.indexOf("order_id")] === ID) ??
    assert.fail(month.err);
  assert.deepEqual(
    ["witness", "witness_final", "witness_block"]
      .map((title) => cells[titles.indexOf(title)]),
    ["reverted", "yes", "871204"],
  );

  await using pages = testConsole(ledger, now);
  assert.ok((await pages.read(`/orders/${ID}`)).includes(SAID));
  assert.ok((await pages.read("/attention?kind=chain_differs")).includes(ID));
});
