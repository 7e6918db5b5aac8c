import assert from "node:assert/strict";
import { ValidationError } from "./errors.ts";
import { inject, user } from "./service_test.ts";

const none = () => Response.json({ success: true, data: [], total: 0 });

function fieldsOf(error: unknown): string[] {
  assert.ok(error instanceof ValidationError);
  return error.faults.map(({ field }) => field);
}

Deno.test("orders.page() and users.page() send extra parameters as they are", async () => {
  const { client, requests } = inject(none);
  await client.orders.page({ limit: 5, status: "success" }, {
    extra: { "sort by": "amount & fee", is_test: false, status: "" },
  });
  await client.users.page({}, { extra: { region: 7 } });
  assert.deepEqual(
    requests.map(({ url }) => new URL(url).search),
    [
      "?limit=5&sort%20by=amount%20%26%20fee&is_test=false&status=",
      "?region=7",
    ],
  );
});

Deno.test("orders.page() applies no rule to what extra names, and every rule to the rest", async () => {
  const { client, requests } = inject(none);
  await client.orders.page({}, { extra: { limit: 50 } });
  assert.equal(new URL(requests[0]?.url ?? "").search, "?limit=50");
  await assert.rejects(
    client.orders.page({ offset: -1 }, { extra: { limit: 50 } }),
    (error) => fieldsOf(error).join() === "offset",
  );
  assert.equal(requests.length, 1);
});

Deno.test("list() sends extra parameters with each page, and then proves nothing", async () => {
  const { client, requests } = inject(none);
  const options = { extra: { is_test: false }, prove: true, settleMs: 0 };
  const end = "2026-01-01T00:00:00Z";
  const walks = [
    client.orders.list({ end_date: end }, options),
    client.users.list({ to: end }, options),
  ];
  for (const walk of walks) {
    assert.deepEqual(await Array.fromAsync<unknown>(walk), []);
    const { completeness } = walk;
    assert.equal(completeness.complete, false);
    assert.match(
      completeness.why ?? "",
      /filters by is_test, which may change/,
    );
  }
  assert.equal(requests.length, 2);
  for (const { url } of requests) {
    assert.equal(new URL(url).searchParams.get("is_test"), "false");
  }
});

Deno.test("list() refuses extra parameters that the walk sets itself", () => {
  const { client } = inject(none);
  const extra = { cursor_id: "C", order_by: "amount", is_test: true };
  assert.throws(
    () => client.orders.list({}, { extra }),
    (error) => fieldsOf(error).join() === "cursor_id,order_by",
  );
  assert.throws(
    () => client.users.list({}, { extra: { from: "2026" } }),
    (error) => fieldsOf(error).join() === "from",
  );
});

Deno.test("users.create() sends extra fields as they are, and checks the others", async () => {
  const { client, requests } = inject(() =>
    Response.json({ user_id: "U", created_at: "2026-01-01 00:00:00" })
  );
  const { phone: _, ...rest } = user;
  await client.users.create(rest as typeof user, {
    extra: { phone: { country: 1, number: "555" }, tax_id: "1" },
  });
  assert.deepEqual(JSON.parse(await requests[0]?.text() ?? ""), {
    ...rest,
    phone: { country: 1, number: "555" },
    tax_id: "1",
  });
  await assert.rejects(
    client.users.create({ ...user, email: "nobody" }, {
      extra: { tax_id: "private" },
    }),
    (error) =>
      fieldsOf(error).join() === "email" && !String(error).includes("private"),
  );
  assert.equal(requests.length, 1);
});
