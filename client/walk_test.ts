import assert from "node:assert/strict";
import fc from "fast-check";
import { assessWalk, type WalkEvidence } from "./walk.ts";
import { type Handler, inject, serve } from "./service_test.ts";

interface Row {
  readonly id: string;
  readonly createdMs: number;
}

const start = Date.UTC(2026, 0, 1);
const iso = (ms: number) => new Date(ms).toISOString();
const plain = (ms: number) => iso(ms).slice(0, 19).replace("T", " ");

/** Orders or users of a well-behaved service: exclusive start, inclusive end. */
function listOf(
  rows: readonly Row[],
  url: string,
  change: (page: Record<string, unknown>, query: URLSearchParams) => void =
    () => {},
): Response {
  const { searchParams: query, pathname } = new URL(url);
  const users = pathname.endsWith("users");
  const after = Date.parse(
    query.get(users ? "from" : "start_date") ?? "1970-01-01T00:00:00Z",
  );
  const upTo = Date.parse(
    query.get(users ? "to" : "end_date") ?? "2999-01-01T00:00:00Z",
  );
  const sign = query.get("order_by") === "asc" ? 1 : -1;
  const matching = rows
    .filter((row) => row.createdMs > after && row.createdMs <= upTo)
    .sort((a, b) =>
      sign * (a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1))
    );
  const limit = Number(query.get("limit") ?? 10);
  const from = Number(query.get("cursor_id") ?? query.get("offset") ?? 0);
  const data = matching.slice(from, from + limit).map((row) =>
    users ? { user_id: row.id, created_at: iso(row.createdMs) } : {
      order_id: row.id,
      status: "success",
      created_at: plain(row.createdMs),
    }
  );
  const page: Record<string, unknown> = {
    success: true,
    data,
    total: matching.length,
  };
  if (!users) {
    page.next_cursor_id = data.length < limit ? "" : String(from + limit);
  }
  change(page, query);
  return Response.json(page, {
    headers: { date: new Date(start + 86_400_000).toUTCString() },
  });
}

const rowsOf = (count: number, spacingMs = 1000): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `ID-${String(at).padStart(5, "0")}`,
    createdMs: start + (at + 1) * spacingMs,
  }));

const day = { start_date: iso(start), end_date: iso(start + 3_600_000) };
const userDay = { from: iso(start), to: iso(start + 3_600_000) };

async function idsOf<T>(walk: AsyncIterable<T>): Promise<string[]> {
  const ids: string[] = [];
  for await (const item of walk) {
    const { order_id, user_id } = item as {
      order_id?: string;
      user_id?: string;
    };
    ids.push(order_id ?? user_id ?? "");
  }
  return ids;
}

Deno.test("orders.list() gives every order once and proves it, for any number", async () => {
  for (const count of [0, 1, 19, 20, 21, 40, 45]) {
    const rows = rowsOf(count);
    const { client, requests } = inject((request) => listOf(rows, request.url));
    const walk = client.orders.list(day, { prove: true });
    assert.deepEqual(await idsOf(walk), rows.map((row) => row.id));
    assert.deepEqual(walk.completeness, {
      complete: true,
      pages: requests.length,
      items: count,
      passes: 2,
      exhausted: true,
      total: count,
      warnings: [],
    });
  }
});

Deno.test("orders.list() asks for pages of 20, once, in the service's order, without proof", async () => {
  const { client, requests } = inject((request) =>
    listOf(rowsOf(25), request.url)
  );
  const walk = client.orders.list(day);
  assert.equal((await idsOf(walk)).length, 25);
  assert.equal(requests.length, 2);
  const query = new URL(requests[0]?.url ?? "").searchParams;
  assert.equal(query.get("limit"), "20");
  assert.equal(query.has("order_by"), false);
  assert.equal(walk.completeness.complete, false);
  assert.equal(walk.completeness.exhausted, true);
});

Deno.test("orders.list() sees the window's end but not its start", async () => {
  const rows = rowsOf(10);
  const { client } = inject((request) => listOf(rows, request.url));
  const window = {
    start_date: iso(rows[2]?.createdMs ?? 0),
    end_date: iso(rows[6]?.createdMs ?? 0),
  };
  assert.deepEqual(
    await idsOf(client.orders.list({ ...window, order_by: "asc" })),
    ["ID-00003", "ID-00004", "ID-00005", "ID-00006"],
  );
});

Deno.test("orders.list() takes a short page for no end, an empty or missing cursor for one", async () => {
  const pages: Record<string, unknown>[] = [
    { data: [{ order_id: "A", status: "x" }], next_cursor_id: "1" },
    { data: [{ order_id: "B", status: "x" }], next_cursor_id: "2" },
    { data: [{ order_id: "C", status: "x" }], next_cursor_id: "" },
  ];
  for (const last of ["", null, undefined]) {
    pages[2] = { ...pages[2], next_cursor_id: last };
    const { client, requests } = inject((_request, count) =>
      Response.json(pages[count - 1])
    );
    const walk = client.orders.list({ limit: 20 });
    assert.deepEqual(await idsOf(walk), ["A", "B", "C"]);
    assert.equal(requests.length, 3);
    assert.equal(walk.completeness.exhausted, true);
  }
});

Deno.test("orders.list() ends at an empty page even when it states a cursor", async () => {
  const { client, requests } = inject((_request, count) =>
    Response.json({ data: [], next_cursor_id: `C${count}` })
  );
  const walk = client.orders.list();
  assert.deepEqual(await idsOf(walk), []);
  assert.equal(requests.length, 1);
  assert.equal(walk.completeness.exhausted, true);
});

for (
  const [name, cursors] of [
    ["repeats", ["A", "A", "A"]],
    ["loops", ["A", "B", "C", "A", "B"]],
  ] as const
) {
  Deno.test(`orders.list() ends without proof when a cursor ${name}`, async () => {
    const { client, requests } = inject((_request, count) =>
      Response.json({
        data: [{ order_id: `O${count}`, status: "x" }],
        next_cursor_id: cursors[(count - 1) % cursors.length],
      })
    );
    const walk = client.orders.list(day, { prove: true });
    await idsOf(walk);
    assert.ok(requests.length <= cursors.length);
    assert.equal(walk.completeness.exhausted, false);
    assert.ok(!walk.completeness.complete);
    assert.match(walk.completeness.why, /repeated a cursor/);
  });
}

Deno.test("orders.list() walks by offset where the query names one", async () => {
  const rows = rowsOf(45);
  const { client, requests } = inject((request) =>
    listOf(rows, request.url, (page) => delete page.next_cursor_id)
  );
  const walk = client.orders.list({ ...day, offset: 0 }, { prove: true });
  assert.equal((await idsOf(walk)).length, 45);
  assert.deepEqual(
    requests.slice(0, 4).map((request) =>
      new URL(request.url).searchParams.get("offset")
    ),
    ["0", "20", "40", "45"],
  );
  assert.equal(walk.completeness.complete, true);
});

Deno.test("orders.list() goes on by offset where the answers have no cursor", async () => {
  for (const count of [0, 1, 19, 20, 21, 40, 45, 100]) {
    const rows = rowsOf(count);
    const { client, requests } = inject((request) =>
      listOf(rows, request.url, (page) => delete page.next_cursor_id)
    );
    const walk = client.orders.list(day, { prove: true });
    assert.equal((await idsOf(walk)).length, count);
    assert.equal(walk.completeness.complete, true);
    assert.equal(walk.completeness.items, count);
    // One request more at most than the pages that hold anything.
    assert.ok(requests.length <= 2 * (Math.floor(count / 20) + 1));
  }
});

Deno.test("orders.list() goes on by offset after short pages, whatever the total", async () => {
  for (const total of [45, 46, 7, undefined]) {
    const rows = rowsOf(45);
    const { client } = inject((request) =>
      listOf(rows, request.url.replace("limit=20", "limit=9"), (page) => {
        delete page.next_cursor_id;
        page.total = total;
      })
    );
    const walk = client.orders.list(day, { prove: true });
    assert.equal((await idsOf(walk)).length, 45);
    assert.equal(walk.completeness.complete, true);
  }
});

Deno.test("orders.list() proves nothing where the earlier form ignores the offset", async () => {
  const { client, requests } = inject((request) =>
    listOf(
      rowsOf(30),
      request.url.replace(/offset=\d+/, "offset=0"),
      (page) => delete page.next_cursor_id,
    )
  );
  const walk = client.orders.list(day, { prove: true });
  assert.equal((await idsOf(walk)).length, 20);
  assert.equal(requests.length, 4);
  assert.ok(!walk.completeness.complete);
  assert.match(walk.completeness.why, /again and again/);
});

for (const cycle of [1, 3]) {
  Deno.test(`orders.list() ends when new cursors lead to ${cycle} old pages for ever`, async () => {
    const { client, requests } = inject((_request, count) =>
      Response.json({
        data: [{ order_id: `O${count % cycle}`, status: "x" }],
        next_cursor_id: `C${count}`,
      })
    );
    const walk = client.orders.list(day, { prove: true });
    assert.equal((await idsOf(walk)).length, cycle);
    assert.equal(requests.length, cycle + 3);
    assert.equal(walk.completeness.exhausted, false);
    assert.ok(!walk.completeness.complete);
    assert.match(walk.completeness.why, /again and again/);
  });
}

Deno.test("orders.list() ends when rows without id come for ever", async () => {
  const { client, requests } = inject((_request, count) =>
    Response.json({ data: [{ a: 1 }], next_cursor_id: `C${count}` })
  );
  const walk = client.orders.list(day, { prove: true });
  await idsOf(walk);
  assert.equal(requests.length, 4);
  assert.equal(walk.completeness.exhausted, false);
});

Deno.test("orders.list() ends when the service ignores the offset", async () => {
  const { client, requests } = inject((request) =>
    listOf(rowsOf(30), request.url.replace(/offset=\d+/, "offset=0"))
  );
  const walk = client.orders.list({ ...day, offset: 0 });
  assert.equal((await idsOf(walk)).length, 20);
  assert.equal(requests.length, 4);
  assert.equal(walk.completeness.exhausted, false);
});

Deno.test("orders.list() finds in the second pass what the first one lost, and says so", async () => {
  const rows = rowsOf(30);
  const { client } = inject((request, count) =>
    listOf(rows, request.url, (page) => {
      if (count === 1) {
        page.data = (page.data as unknown[]).filter((_, at) => at !== 7);
      }
    })
  );
  const walk = client.orders.list(day, { prove: true });
  assert.equal(new Set(await idsOf(walk)).size, 30);
  assert.ok(!walk.completeness.complete);
  assert.match(walk.completeness.why, /passes differ/);
});

for (
  const [name, total] of [["wrong", 7], ["missing", undefined], [
    "no number",
    "many",
  ], ["a fraction", 1.5]] as const
) {
  Deno.test(`orders.list() takes a ${name} total for a warning and one more pass`, async () => {
    const rows = rowsOf(25);
    const { client } = inject((request) =>
      listOf(rows, request.url, (page) => page.total = total)
    );
    const walk = client.orders.list(day, { prove: true });
    assert.equal((await idsOf(walk)).length, 25);
    assert.equal(walk.completeness.complete, true);
    assert.equal(walk.completeness.passes, 3);
    assert.equal(walk.completeness.warnings.length, 1);
  });
}

Deno.test("orders.list() proves nothing about windows that are open, fresh, filtered or begun in the middle", async () => {
  const { client } = inject((request) => listOf(rowsOf(3), request.url));
  const cases: [object, RegExp][] = [
    [{}, /window has no end/],
    [{ end_date: iso(start + 86_400_000) }, /ends less than 60000 ms before/],
    [{ ...day, status: "success" }, /filters by status/],
    [{ ...day, tx_id: "0x1" }, /filters by tx_id/],
    [{ ...day, cursor_id: "1" }, /begins in the middle/],
    [{ ...day, offset: 1 }, /begins in the middle/],
  ];
  for (const [query, why] of cases) {
    const walk = client.orders.list(query, { prove: true });
    await idsOf(walk);
    assert.ok(!walk.completeness.complete);
    assert.match(walk.completeness.why, why);
  }
});

Deno.test("orders.list() stops early without another request, and says it was stopped", async () => {
  await using service = serve((request) => listOf(rowsOf(100), request.url));
  const walk = service.client.orders.list(day, { prove: true });
  for await (const order of walk) {
    if (order.order_id === "ID-00003") break;
  }
  assert.equal(service.requests.length, 1);
  assert.ok(!walk.completeness.complete);
  assert.match(walk.completeness.why, /stopped/);
  assert.equal(walk.completeness.exhausted, false);
});

Deno.test("orders.list() throws what a page throws and proves nothing", async () => {
  const { client } = inject((request, count) =>
    count === 2
      ? new Response("", { status: 500 })
      : listOf(rowsOf(50), request.url)
  );
  const walk = client.orders.list(day, { prove: true });
  await assert.rejects(idsOf(walk), { name: "ServiceError" });
  assert.equal(walk.completeness.complete, false);
  assert.equal(walk.completeness.exhausted, false);
});

Deno.test("orders.list() and users.list() ask for fewer rows where a page is too large, and lose none", async () => {
  const rows = rowsOf(43);
  const limits = new Set<string | null>();
  const { client } = inject((request) =>
    listOf(rows, request.url, ({ data }, query) => {
      limits.add(query.get("limit"));
      const [first, ...others] = data as Record<string, unknown>[];
      // Together too large, and not one by one.
      if (first && others.length >= 3) first.limits = Array(20_001).fill(0);
    })
  );
  const ids = rows.map(({ id }) => id);
  for (
    const walk of [
      client.orders.list(day, { prove: true }),
      client.users.list(userDay, { prove: true }),
    ]
  ) {
    assert.deepEqual((await idsOf<unknown>(walk)).toSorted(), ids);
    assert.ok(walk.completeness.complete);
  }
  assert.deepEqual([...limits], ["20", "10", "5", "2"]);
});

Deno.test("orders.list() is abandoned by its signal between pages", async () => {
  const controller = new AbortController();
  const { client, requests } = inject((request) =>
    listOf(rowsOf(50), request.url)
  );
  const walk = client.orders.list(day, { signal: controller.signal });
  const reason = new Error("enough");
  await assert.rejects(async () => {
    for await (const _ of walk) controller.abort(reason);
  }, reason);
  assert.equal(requests.length, 1);
});

Deno.test("orders.list() and users.list() refuse limit 0, pages do not", async () => {
  const { client } = inject((request) => listOf(rowsOf(5), request.url));
  assert.throws(() => client.orders.list({ limit: 0 }), {
    name: "ValidationError",
    field: "limit",
  });
  assert.throws(() => client.users.list({ limit: 0 }), {
    name: "ValidationError",
    field: "limit",
  });
  assert.deepEqual((await client.orders.page({ limit: 0 })).data, []);
  assert.deepEqual((await client.users.page({ limit: 0 })).data, []);
  assert.throws(
    () => client.users.list({ offset: 5, order_by: "desc" } as object),
    /order_by/,
  );
});

Deno.test("pages() gives the pages of every pass, with sources and times", async () => {
  const { client } = inject((request) => listOf(rowsOf(25), request.url));
  const walk = client.orders.list(day, { prove: true });
  let pages = 0;
  for await (const page of walk.pages()) {
    pages++;
    assert.equal(page.sources.length, page.data.length);
    for (const [at, order] of page.data.entries()) {
      assert.deepEqual(JSON.parse(page.sources[at] ?? ""), order);
    }
    assert.equal(page.readAt, iso(start + 86_400_000));
  }
  assert.equal(pages, 4);
});

Deno.test("orders.list() gives a walk that can be repeated", async () => {
  const { client } = inject((request) => listOf(rowsOf(5), request.url));
  const walk = client.orders.list(day, { prove: true });
  assert.deepEqual(await idsOf(walk), await idsOf(walk));
});

Deno.test("users.list() gives every user once and proves it, however dense they are", async () => {
  const spacing = fc.constantFrom(0, 1, 40, 500, 1000, 30_000);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(150),
      spacing,
      fc.integer({ min: 1, max: 20 }),
      async (count, gap, limit) => {
        const rows = rowsOf(count, 1).map((row, at) => ({
          ...row,
          createdMs: start + 1 + Math.floor(at * gap) % 3_500_000,
        }));
        const { client } = inject((request) => listOf(rows, request.url));
        const walk = client.users.list({ ...userDay, limit }, { prove: true });
        const ids = await idsOf(walk);
        assert.deepEqual([...ids].sort(), rows.map((row) => row.id).sort());
        assert.equal(walk.completeness.passes, 2);
        assert.equal(walk.completeness.complete, true);
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("users.list() loses nobody while users are inserted during the walk", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 80 }),
      fc.array(fc.nat(60), { maxLength: 30 }),
      fc.constantFrom(10, 300, 2000),
      async (count, inserts, gap) => {
        const rows = rowsOf(count, gap);
        const queue = [...inserts];
        let clock = rows.at(-1)?.createdMs ?? start;
        const handler: Handler = (request) => {
          const burst = queue.shift() ?? 0;
          for (let at = 0; at < burst; at++) {
            clock += 7;
            rows.push({ id: `NEW-${rows.length}`, createdMs: clock });
          }
          return listOf(rows, request.url);
        };
        const { client } = inject(handler);
        const atFirst = rows.map((row) => row.id);
        const ids = await idsOf(client.users.list());
        for (const id of atFirst) assert.ok(ids.includes(id), id);
        // Whoever was inserted before the last page was asked for is there too.
        assert.deepEqual([...ids].sort(), rows.map((row) => row.id).sort());
        assert.equal(new Set(ids).size, ids.length);
      },
    ),
    { numRuns: 100 },
  );
});

Deno.test("users.page() by plain offsets loses users when others are inserted meanwhile", async () => {
  // The counterpart that shows the test above can fail.
  const rows = rowsOf(60);
  const { client } = inject((request) => {
    const answer = listOf(rows, request.url);
    rows.splice(0, 5);
    return answer;
  });
  const seen = new Set<string>();
  for (let offset = 0; offset < 60; offset += 20) {
    const { data } = await client.users.page({
      limit: 20,
      offset,
      order_by: "asc",
    });
    for (const user of data) seen.add(user.user_id);
  }
  assert.ok(seen.size < 60);
});

const evidence: WalkEvidence = {
  unprovable: null,
  windowEndMs: 0,
  serviceNowMs: 60_000,
  settleMs: 60_000,
  pages: 2,
  passes: [
    { ids: new Set(["A"]), rowsWithoutId: 0, broken: null, total: 1 },
    { ids: new Set(["A"]), rowsWithoutId: 0, broken: null, total: 1 },
  ],
  stopped: false,
};

Deno.test("assessWalk() requires every condition", () => {
  assert.equal(assessWalk(evidence).complete, true);
  const [first] = evidence.passes;
  assert.ok(first);
  const changes: Partial<WalkEvidence>[] = [
    { unprovable: { code: "filter_changes", filter: "status" } },
    { windowEndMs: null },
    { windowEndMs: 1 },
    { serviceNowMs: null },
    { serviceNowMs: 59_999 },
    { settleMs: 60_001 },
    { passes: [first] },
    { passes: [] },
    { passes: [first, { ...first, ids: new Set(["B"]) }] },
    { passes: [first, { ...first, ids: new Set() }] },
    {
      passes: [first, {
        ...first,
        broken: { code: "cursor_repeated", page: 2 },
      }],
    },
    { passes: [first, { ...first, rowsWithoutId: 1 }] },
    { stopped: true },
  ];
  for (const change of changes) {
    assert.equal(
      assessWalk({ ...evidence, ...change }).complete,
      false,
      JSON.stringify(change),
    );
  }
});

Deno.test("users.list() loses nobody beside a user whose creation lies in the far future", async () => {
  const rows = rowsOf(70);
  for (const place of [0, 19, 20, 39]) {
    const odd = rows[place]?.id;
    const { client } = inject(async (request) => {
      const page = await listOf(rows, request.url).json();
      for (const row of page.data) {
        if (row.user_id === odd) row.created_at = "9999-12-31T23:59:59.000Z";
      }
      return Response.json(page);
    });
    const ids = await idsOf(client.users.list());
    assert.deepEqual([...ids].sort(), rows.map((row) => row.id).sort());
  }
});
