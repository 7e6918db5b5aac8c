import assert from "node:assert/strict";
import { createSandbox } from "./create_sandbox.ts";
import type { Faults } from "./faults.ts";
import { type VirtualClock, virtualClock } from "./clock.ts";
import type { Sandbox } from "./sandbox.ts";

const startMs = Date.UTC(2026, 0, 1);

function setUp(
  faults: Partial<Faults>,
  orders = 60,
): { sandbox: Sandbox; clock: VirtualClock } {
  const clock = virtualClock(startMs);
  const sandbox = createSandbox({ clock, faults });
  sandbox.backfill({
    orders,
    fromMs: startMs - 86_400_000,
    untilMs: startMs,
  });
  return { clock, sandbox };
}

function ask(
  sandbox: Sandbox,
  what: "orders" | "users",
  query: Record<string, string> = {},
): Promise<Response> {
  const url = new URL(`http://sandbox/api/external/${what}`);
  url.search = String(new URLSearchParams({ limit: "20", ...query }));
  return sandbox.fetch(
    new Request(url, { headers: { "x-api-key": sandbox.apiKey } }),
  );
}

async function rows(
  sandbox: Sandbox,
  what: "orders" | "users",
): Promise<Record<string, unknown>[]> {
  return (await (await ask(sandbox, what)).json()).data;
}

Deno.test("oddRow() writes a field of the wrong kind, each time the same", async () => {
  const { sandbox } = setUp({ oddRow: 0.5 });
  const first = await rows(sandbox, "orders");
  assert.deepEqual(await rows(sandbox, "orders"), first);
  const odd = first.filter((row) =>
    sandbox.oddFields(String(row.order_id)).length > 0
  );
  assert.ok(odd.length > 0 && odd.length < first.length, `${odd.length} odd`);
  assert.equal(sandbox.counters.oddRows, 2 * odd.length);
  for (const row of await rows(sandbox, "users")) {
    const [field] = sandbox.oddFields(String(row.user_id));
    if (field === "banned") assert.equal(row.banned, "yes");
  }
});

Deno.test("oddRow() leaves the id out when rowWithoutId strikes", async () => {
  const { sandbox } = setUp({ rowWithoutId: 1 });
  for (const row of await rows(sandbox, "orders")) {
    assert.ok(!("order_id" in row));
  }
  for (const row of await rows(sandbox, "users")) {
    assert.ok(!("user_id" in row));
  }
  const [order] = sandbox.orders();
  assert.deepEqual(sandbox.oddFields(order?.orderId ?? ""), ["order_id"]);
});

Deno.test("oddRow() states times in the far future when timeAhead strikes", async () => {
  const { sandbox } = setUp({ timeAhead: 1 });
  for (const row of await rows(sandbox, "orders")) {
    const stated = [row.created_at, row.changed_at].filter((time) =>
      String(time).startsWith("9999") || String(time).startsWith("2099")
    );
    assert.equal(stated.length, 1);
  }
});

Deno.test("refuseIds() refuses every search with that id, and no other", async () => {
  const { sandbox } = setUp({ refusedId: 0.3 });
  const ids = sandbox.orders().map(({ orderId }) => orderId);
  const refused = ids.filter((id) => sandbox.refuses(id));
  const fine = ids.filter((id) => !sandbox.refuses(id));
  assert.ok(refused.length > 0 && fine.length > 0);
  const seen = new Set<number>();
  for (const id of refused) {
    const response = await ask(sandbox, "orders", {
      search_by: [...fine.slice(0, 3), id].join(","),
    });
    await response.body?.cancel();
    seen.add(response.status);
  }
  assert.ok([...seen].every((status) => [400, 403, 500].includes(status)));
  const well = await ask(sandbox, "orders", {
    search_by: fine.slice(0, 19).join(","),
  });
  assert.equal((await well.json()).data.length, Math.min(19, fine.length));
  assert.equal(sandbox.counters.refusedIds, refused.length);
});

Deno.test("statedDate() is hours or decades off when wrongDate strikes", async () => {
  const { sandbox } = setUp({ wrongDate: 1 });
  for (let count = 0; count < 20; count++) {
    const response = await ask(sandbox, "orders");
    await response.body?.cancel();
    const stated = Date.parse(response.headers.get("date") ?? "");
    assert.ok(Math.abs(stated - startMs) >= 3_600_000, `${stated}`);
  }
  assert.equal(sandbox.counters.wrongDates, 20);
});

Deno.test("cursorAfter() repeats a page with new cursors while endlessCursor is on", async () => {
  const { sandbox } = setUp({ endlessCursor: 1 });
  const ids = async (cursor_id: string) => {
    const { data, next_cursor_id } =
      await (await ask(sandbox, "orders", { cursor_id })).json();
    return {
      ids: data.map((row: { order_id: string }) => row.order_id),
      next: next_cursor_id,
    };
  };
  const first = await ids("");
  const cursors = new Set([first.next]);
  let last = first;
  for (let round = 0; round < 5; round++) {
    last = await ids(last.next);
    assert.deepEqual(last.ids, first.ids);
    cursors.add(last.next);
  }
  assert.equal(cursors.size, 6);
  sandbox.heal();
  const out = await ids(last.next);
  assert.deepEqual(out.ids, first.ids);
  assert.notDeepEqual((await ids(out.next)).ids, first.ids);
});

Deno.test("backfill() gives all its orders one click id when it is given", async () => {
  const { sandbox } = setUp({}, 0);
  sandbox.backfill({
    orders: 25,
    fromMs: startMs - 86_400_000,
    untilMs: startMs,
    clickId: "campaign",
  });
  const response = await ask(sandbox, "orders", { search_by: "campaign" });
  assert.equal((await response.json()).total, 25);
});
