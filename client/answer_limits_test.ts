import assert from "node:assert/strict";
import { OnrampClient } from "./client.ts";
import type { OnrampError } from "./errors.ts";

const size = 4 * 1024 * 1024;

function clientOf(answer: () => Response): OnrampClient {
  return new OnrampClient({
    environment: "sandbox",
    apiKey: "key",
    retries: 0,
    fetch: () => Promise.resolve(answer()),
  });
}

/** What a call ends with. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => "answered",
    (error: OnrampError) => `${error.name} ${error.code}`,
  );
}

/** A page of one order that has so many fields more. */
function pageWith(fields: number): string {
  const row = Object.fromEntries(
    Array.from({ length: fields }, (_, at) => [`field_${at}`, at]),
  );
  const data = [{ order_id: "A", status: "success", ...row }];
  return JSON.stringify({ success: true, data, next_cursor_id: "" });
}

Deno.test("orders.page() takes no more values than a page can have", async () => {
  const page = (text: string) =>
    codeOf(clientOf(() => new Response(text)).orders.page());
  assert.equal(await page(pageWith(19_000)), "answered");
  assert.equal(await page(pageWith(21_000)), "ResponseError too_large");
  for (const unit of ["1,", "[],", "{},", '"",', '{"a":1},', "1e-40,"]) {
    const text = `{"data":[${unit.repeat(30_000)}1]}`;
    assert.equal(await page(text), "ResponseError too_large", unit);
  }
  const long = JSON.stringify({
    data: [{ order_id: "A", status: "success", address: "x".repeat(size / 2) }],
  });
  assert.equal(await page(long), "answered", "a long text is one value");
});

Deno.test("sessions.create() takes no more bytes than one answer can have", async () => {
  const create = (text: string) =>
    codeOf(
      clientOf(() => new Response(text)).sessions.create({
        flow_type: "simple",
      }),
    );
  const answer = { sessionId: "a", requestId: "b" };
  assert.equal(await create(JSON.stringify(answer)), "answered");
  for (
    const more of [{ more: "x".repeat(70_000) }, { more: Array(2000).fill(1) }]
  ) {
    assert.equal(
      await create(JSON.stringify({ ...answer, ...more })),
      "ResponseError too_large",
    );
  }
});

Deno.test("orders.page() goes by the status of an error, however long its body is", async () => {
  for (const body of ["x".repeat(size + 1), `[${"1,".repeat(5000)}1]`]) {
    const page = (status: number) =>
      codeOf(clientOf(() => new Response(body, { status })).orders.page());
    assert.match(await page(503), /^ServiceError /);
    assert.match(await page(401), /^AuthenticationError /);
  }
});

Deno.test("orders.page() reads the largest answer in bounded memory, whatever it holds", async () => {
  const program = `
    import { OnrampClient } from "${import.meta.resolve("../mod.ts")}";
    const size = ${size} - 100;
    const rest = (unit) => unit.repeat(size / unit.length);
    const key = "k".repeat(190);
    const answers = [
      "[" + rest("1,") + "1]",
      "[" + rest("1e-40,") + "1]",
      "{" + rest('"a":1,') + '"a":1}',
      "[" + rest('{"\\u0061":1},') + "1]",
      "[".repeat(size / 2) + "]".repeat(size / 2),
      '{"data":[{"order_id":"A","status":"' + "é".repeat(size / 2 - 50) + '"}]}',
      '{"data":[{"order_id":"A",' + Array.from({ length: 19_000 }, (_, at) =>
        '"' + key + at + '":1').join(",") + "}]}",
    ];
    for (const answer of answers) {
      const client = new OnrampClient({
        environment: "sandbox",
        apiKey: "key",
        retries: 0,
        fetch: () => Promise.resolve(new Response(answer)),
      });
      await client.orders.page().catch(() => {});
    }
  `;
  const { code, stderr } = await new Deno.Command("deno", {
    args: ["eval", "--no-lock", "--v8-flags=--max-old-space-size=96", program],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});
