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
    "but the service names a transaction",
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

Deno.test("the form of notes acknowledges what waits, and it is listed no more", async () => {
  const ledger = await oddLedger();
  await using opened = testConsole(ledger, now, OPERATES);
  const { form, headers } = await formOf(opened, "/attention");
  const note = { form, reasons: "verification_retry", text: "asked" };
  const id = ODD_USERS.retry;
  const answer = await opened.ask("/do/takeNote", {
    headers,
    fields: {
      ...note,
      ...{ entity: "user", id, action: "acknowledge", back: "/" },
    },
  });
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get("location"), "/");
  assert.deepEqual(opened.logged, [
    '{"event":"operated","fields":{"action":"note","by":"local",' +
    `"noted":"acknowledge","entity":"user","entityId":"${id}"}}`,
  ]);
});

Deno.test("the forms of an order take notes and record what was done, and every page goes by it", async () => {
  const ledger = await oddLedger();
  await using opened = testConsole(ledger, now, OPERATES);
  const id = ODD_ORDERS.refund;
  const press = async (
    operation: "takeNote" | "releaseOrder",
    fields: Readonly<Record<string, string>>,
  ) => {
    const { form, headers } = await formOf(opened, `/orders/${id}`);
    return await opened.ask(`/do/${operation}`, {
      headers,
      fields: { form, back: "/", ...fields },
    });
  };
  const note = { entity: "order", id, reasons: "refund_due" };
  const release = { ref: id, outcome: "refunded", why: "RF-17" };
  for (
    const [operation, fields, status, why] of [
      ["takeNote", { ...note, action: "sent" }, 400, /one of note, acknow/],
      ["takeNote", { ...note, id: "O9", text: "x" }, 400, /No such order/],
      ["takeNote", { ...note, form: "guessed" }, 403, /too old/],
      ["releaseOrder", { ...release, why: "" }, 400, /Missing why/],
      ["releaseOrder", { ...release, outcome: "sold" }, 400, /one of deliv/],
      ["releaseOrder", { ...release, form: "guessed" }, 403, /too old/],
    ] as const
  ) {
    const refused = await press(operation, fields);
    assert.equal(refused.status, status);
    assert.match(await refused.text(), why);
  }
  const taken = await press("takeNote", {
    ...note,
    action: "acknowledge",
    text: "asked <the> service",
  });
  assert.equal(taken.headers.get("location"), "/");
  const waiting = await opened.read("/attention");
  assert.ok(!waiting.includes("the customer a refund: 1"));
  assert.match(waiting, /Somebody deals with it: 1/);
  assert.ok(waiting.includes(id));
  await press("releaseOrder", release);
  const page = await opened.read(`/orders/${id}`);
  assert.match(page, /By hand refunded by local at .*: RF-17/);
  assert.match(page, /local acknowledged it .* asked <the> service/);
  assert.match(page, /We have returned the money for your order to you/);
  assert.ok(!page.includes("I refunded it"), "it is released once");
  assert.ok(!(await opened.read("/attention")).includes(id));
  const { fields } = JSON.parse(opened.logged.at(-1) ?? "{}");
  assert.deepEqual(fields, {
    ...{ action: "release", by: "local", orderId: id, outcome: "refunded" },
  });
});

Deno.test("the form of notes stores nothing without the form's token, without operate, or when it is wrong", async () => {
  const ledger = await oddLedger();
  await using opened = testConsole(ledger, now, OPERATES);
  const { form, headers } = await formOf(opened, "/attention");
  const fields = {
    form,
    entity: "user",
    id: "U1",
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
    const answer = await opened.ask("/do/takeNote", {
      headers,
      fields: { ...fields, ...change },
    });
    assert.equal(answer.status, status, JSON.stringify(change));
    assert.match(await answer.text(), pattern);
  };
  await refused({ form: "" }, /form is too old/, 403);
  await refused({ form: form.slice(1) }, /form is too old/, 403);
  await refused({ text: " " }, /the note is empty/, 400);
  await refused({ text: "x".repeat(2001) }, /has 2001 characters/, 400);
  await refused({ entity: "event" }, /one of order, user, delivery/, 400);
  await refused({ entity: "order" }, /No such order/, 400);
  await refused({ action: "delete" }, /one of note, acknowledge/, 400);
  const other = await opened.ask("/do/takeNote", {
    headers: { ...headers, cookie: "rampkit_console=other" },
    fields,
  });
  assert.equal(other.status, 403);

  await using reads = testConsole(await oddLedger(), now);
  const visit = await reads.ask("/attention");
  assert.doesNotMatch(await visit.text(), /action="\/do\//);
  assert.deepEqual(await allNotes(ledger.driver), []);
});

Deno.test("a token takes notes with support, and does everything else with operate alone", async () => {
  const ledger = await oddLedger();
  const name = "anna";
  const scopes = {
    "token-of-reading": "read",
    "token-of-support": "support",
    "token-of-operating": "operate",
  } as const;
  await using opened = testConsole(ledger, now, {
    kind: "tokens",
    tokens: {
      callerOf: (token) => {
        const scope = scopes[token as keyof typeof scopes];
        return scope === undefined ? null : { name, scope };
      },
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
    const entity = "user";
    const posted = [
      ["takeNote", { entity, id: ODD_USERS.retry, text: "hello" }],
      ["releaseOrder", {
        ref: ODD_ORDERS.refund,
        outcome: "refunded",
        why: "asked for",
      }],
      ["retryDeadLetters", { subscription: "none" }],
    ] as const;
    for (const [name, fields] of posted) {
      const answer = await opened.ask(`/do/${name}`, {
        headers: { origin, cookie },
        fields: { form, ...fields },
      });
      statuses.push(answer.status);
    }
  }
  // There are no dead letters.
  assert.deepEqual(statuses, [403, 403, 403, 303, 403, 403, 303, 303, 400]);
  const notes = await allNotes(ledger.driver);
  assert.deepEqual(notes.map(({ author }) => author), ["anna", "anna"]);
});
