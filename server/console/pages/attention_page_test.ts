import assert from "node:assert/strict";
import { allNotes } from "../../../ledger/testing/mod.ts";
import {
  CONSOLE_ORIGIN,
  type TestConsole,
  testConsole,
} from "../../../tests/kit/console.ts";
import {
  ODD_NOW_MS,
  ODD_ORDERS,
  ODD_USERS,
  oddLedger,
} from "../../../tests/kit/odd_ledger.ts";

const now = () => ODD_NOW_MS;
const OPERATES = { kind: "open", operates: true } as const;

/** What a form of a page sends back, and the cookie it is bound to. */
async function formOf(opened: TestConsole, path: string) {
  const answer = await opened.ask(path);
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const [, form = ""] = /name="form" value="([^"]+)"/.exec(
    await answer.text(),
  ) ?? [];
  return { form, headers: { cookie, origin: CONSOLE_ORIGIN } };
}

Deno.test("attentionPage() lists what waits: orders by gravity and money, users, bodies", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const text = await opened.read("/attention");
  const order = [
    "the service owes the customer a refund: 1",
    ODD_ORDERS.refund,
    "The service took a success back",
    ODD_ORDERS.reversed,
    "yet the service names a transaction",
    ODD_ORDERS.sent,
    "Cancelled after the payment was processed: 1",
    ODD_ORDERS.cancelled,
    ODD_ORDERS.mismatch,
    ODD_ORDERS.withoutTransaction,
    "not sent for an hour or longer: 1",
    ODD_ORDERS.stuck,
    "Next: Tell the customer that it is late",
    ODD_ORDERS.forged,
    "must hand in documents again: 1",
    ODD_USERS.retry,
    "Bodies that cannot be read: 1",
  ];
  let from = 0;
  for (const part of order) {
    const at = text.indexOf(part, from);
    assert.ok(at >= 0, `${part} after ${text.slice(from - 60, from)}`);
    from = at;
  }
  assert.ok(!text.includes(ODD_ORDERS.success));
});

Deno.test("attentionPage() shows one reason alone where it is asked for", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const text = await opened.read("/attention?kind=stuck");
  assert.ok(text.includes(ODD_ORDERS.stuck));
  assert.ok(!text.includes(ODD_ORDERS.refund));
  assert.ok(!text.includes("Bodies that cannot be read"));
});

Deno.test("POST /notes acknowledges what waits, and what was noted is on both pages", async () => {
  const ledger = await oddLedger();
  await using opened = testConsole(ledger, now, OPERATES);
  const { form, headers } = await formOf(opened, "/attention");
  const answer = await opened.ask("/notes", {
    headers,
    fields: {
      form,
      entity: "order",
      id: ODD_ORDERS.refund,
      reasons: "refund_due",
      text: "asked <the> service",
      action: "acknowledge",
      back: "/attention?kind=refund_due",
    },
  });
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get("location"), "/attention?kind=refund_due");
  const text = await opened.read("/attention");
  assert.ok(!text.includes("the customer a refund: 1"));
  assert.match(text, /Acknowledged: 1 01KQREFUND/);
  assert.match(
    await opened.read(`/orders/${ODD_ORDERS.refund}`),
    /local acknowledged it 2026-11-20 12:00:00 \(0 ms ago\) asked <the> service/,
  );
  assert.deepEqual(opened.logged, [
    '{"event":"console_noted","fields":{"author":"local","action":' +
    `"acknowledge","entity":"order","entityId":"${ODD_ORDERS.refund}"}}`,
  ]);
});

Deno.test("POST /notes stores nothing without the form's token, without operate, or when it is wrong", async () => {
  const ledger = await oddLedger();
  await using opened = testConsole(ledger, now, OPERATES);
  const { form, headers } = await formOf(opened, "/attention");
  const fields = {
    form,
    entity: "order",
    id: ODD_ORDERS.refund,
    reasons: "refund_due",
    text: "x",
    action: "note",
    back: "/",
  };
  const refused = async (
    change: Readonly<Record<string, string>>,
    pattern: RegExp,
    status: number,
  ) => {
    const answer = await opened.ask("/notes", {
      headers,
      fields: { ...fields, ...change },
    });
    assert.equal(answer.status, status, JSON.stringify(change));
    assert.match(await answer.text(), pattern);
  };
  await refused({ form: "" }, /form is too old/, 403);
  await refused({ form: form.slice(1) }, /form is too old/, 403);
  await refused({ text: " " }, /The note is empty/, 400);
  await refused({ text: "x".repeat(2001) }, /has 2001 characters/, 400);
  await refused({ entity: "event" }, /The form is not whole/, 400);
  await refused({ action: "delete" }, /The form is not whole/, 400);
  const other = await opened.ask("/notes", {
    headers: { ...headers, cookie: "rampkit_console=other" },
    fields,
  });
  assert.equal(other.status, 403);

  await using reads = testConsole(await oddLedger(), now);
  const visit = await reads.ask("/attention");
  assert.doesNotMatch(await visit.text(), /action="\/notes"/);
  assert.deepEqual(await Array.fromAsync(allNotes(ledger.driver)), []);
});

Deno.test("POST /notes of a reader who may not operate is refused", async () => {
  const ledger = await oddLedger();
  const name = "anna";
  const scopes = {
    "token-of-reading": "read",
    "token-of-operating": "operate",
  };
  await using opened = testConsole(ledger, now, {
    kind: "tokens",
    tokens: {
      callerOf: (token) =>
        token === "token-of-reading" || token === "token-of-operating"
          ? { name, scope: scopes[token] === "read" ? "read" : "operate" }
          : null,
    },
  });
  const statuses: number[] = [];
  for (const token of Object.keys(scopes)) {
    const origin = CONSOLE_ORIGIN;
    const signedIn = await opened.ask("/sign-in", {
      headers: { origin },
      fields: { token, to: "/" },
    });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const page = await opened.ask("/", { headers: { cookie } });
    const [, form = ""] = /name="form" value="([^"]+)"/.exec(
      await page.text(),
    ) ?? [];
    const entity = "order";
    const answer = await opened.ask("/notes", {
      headers: { origin, cookie },
      fields: { form, entity, id: "O1", action: "note", text: "hello" },
    });
    statuses.push(answer.status);
  }
  assert.deepEqual(statuses, [403, 303]);
  const notes = await Array.fromAsync(allNotes(ledger.driver));
  assert.deepEqual(notes.map(({ author }) => author), ["anna"]);
});
