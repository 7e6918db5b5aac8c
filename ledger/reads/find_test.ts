import assert from "node:assert/strict";
import {
  orderSnapshot,
  sessionCreated,
  userSnapshot,
  webhookEvent,
} from "../testing/mint.ts";
import { openLedger } from "../open_ledger.ts";
import type { FindResult } from "./find.ts";

const salt = new Uint8Array(16);
const times = {
  readAt: "2026-11-20T09:00:00.000Z",
  recordedAt: "2026-11-20T09:00:00.000Z",
};

const orders = [
  {
    order_id: "01KAAAAAAAAAAAAAAAAAAAAAA1",
    external_order_id: "AB12CD",
    click_id: "Click-1",
    user_id: "01KUSER",
    tx_id: "0xFeed1",
    address: "0xAbCdEf",
  },
  {
    order_id: "01KAAAAAAAAAAAAAAAAAAAAAA2",
    external_order_id: "AB12XY",
    click_id: "Click-1",
    user_id: "01KUSER",
    tx_id: "",
    address: "0xabcdef",
  },
  {
    order_id: "01KBBBBBBBBBBBBBBBBBBBBBBB",
    external_order_id: "CLICK-1",
    click_id: "Click-9",
    user_id: "01KOTHER",
    tx_id: "",
    address: "bc1q",
  },
].map((order, n) =>
  orderSnapshot({
    source: JSON.stringify({
      status: "success",
      created_at: `2026-11-20 08:5${n}:00`,
      changed_at: `2026-11-20 08:5${n}:30`,
      ...order,
    }),
    ...times,
    salt,
  })
);

const others = [
  sessionCreated({
    session: {
      session_id: "Session-7",
      flow_type: "simple",
      click_id: "Click-9",
      reference: "Basket-7/a",
    },
    recordedAt: "2026-11-20T08:40:00.000Z",
    salt,
  }),
  sessionCreated({
    session: {
      session_id: "Session-8",
      flow_type: "simple",
      click_id: "Click-1",
      reference: "Purchase-8",
    },
    recordedAt: "2026-11-20T08:40:00.000Z",
    salt,
  }),
  userSnapshot({
    source: `{"user_id":"01KUSER","lkyc_status":"success"}`,
    ...times,
    salt,
  }),
  webhookEvent({
    id: "W1",
    receivedAt: "2026-11-20T08:59:00.000Z",
    body: new TextEncoder().encode(
      `{"type":"order_complete","click_id":"Click-9","hpp_session_id":` +
        `"Session-7","order":{"id":"01KBBBBBBBBBBBBBBBBBBBBBBB"}}`,
    ),
  }, salt),
];

const newLedger = () => openLedger({ url: ":memory:", environment: "sandbox" });

function said({ found }: FindResult): string[] {
  return found.map((one) => {
    const id = one.entity === "order" ? one.order.orderId : one.user.userId;
    return `${id.slice(0, 4)}${id.slice(-1)}: ` +
      one.matches.map(({ field, trust }) =>
        trust === "confirmed" ? field : `${field}?`
      )
        .join(", ");
  });
}

Deno.test("Ledger.find() finds by anything, in any case, and says what matched", async () => {
  await using ledger = await newLedger();
  await ledger.append([...orders, ...others]);
  await ledger.project();
  const find = async (text: string) => said(await ledger.find(text));
  assert.deepEqual(await find(" 01kaaaaaaaaaaaaaaaaaaaaaa1\n"), [
    "01KA1: orderId",
  ]);
  assert.deepEqual(await find("01kA"), ["01KA2: orderId", "01KA1: orderId"]);
  assert.deepEqual(await find("ab12cd"), ["01KA1: externalOrderId"]);
  assert.deepEqual(await find("AB12"), [
    "01KA2: externalOrderId",
    "01KA1: externalOrderId",
  ]);
  assert.deepEqual(await find("ab1"), [], "three characters are too few");
  assert.deepEqual(await find("basket-7"), ["01KBB: reference"]);
  assert.deepEqual(await find("BASKET-7/A"), ["01KBB: reference"]);
  assert.deepEqual(await find("click-1"), [
    "01KBB: externalOrderId",
    "01KA2: clickId",
    "01KA1: clickId",
  ]);
  assert.deepEqual(await find("clic"), ["01KBB: externalOrderId"]);
  assert.deepEqual(await find("SESSION-7"), ["01KBB: sessionId"]);
  assert.deepEqual(await find("0xFEED1"), ["01KA1: txId"]);
  assert.deepEqual(await find("0xABCDEF"), [
    "01KA2: address",
    "01KA1: address",
  ]);
  assert.deepEqual(await find("01kuser"), ["01KUR: userId"]);
  // The partner itself recorded it, and no webhook names it.
  assert.deepEqual(await find("session-8"), [
    "01KA2: sessionId",
    "01KA1: sessionId",
  ]);
  assert.deepEqual(await find("purchase-8"), [
    "01KA2: reference",
    "01KA1: reference",
  ]);
  assert.deepEqual(await find("%"), []);
  assert.deepEqual(await find("____"), []);
  assert.deepEqual(await find("basket' OR 1=1 --"), []);
  await assert.rejects(ledger.find(" "), RangeError);
});

Deno.test("Ledger.find() finds by the beginning of random names, by a part of a hash, and by the card that paid", async () => {
  await using ledger = await newLedger();
  const hash = "0x5ca1ab1e00112233445566778899aabbccddeeff";
  await ledger.append([
    ...orders,
    ...others,
    orderSnapshot({
      source: JSON.stringify({
        status: "success",
        order_id: "01KCCCCCCCCCCCCCCCCCCCCCC4",
        click_id: "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        tx_id: hash,
        card_id: "card_4242XY",
        created_at: "2026-11-20 08:59:00",
        changed_at: "2026-11-20 08:59:30",
      }),
      ...times,
      salt,
    }),
  ]);
  await ledger.project();
  const find = async (text: string) => said(await ledger.find(text));
  assert.deepEqual(await find("F47AC1"), ["01KC4: clickId"]);
  assert.deepEqual(await find("f47ac"), [], "five characters are too few");
  assert.deepEqual(await find("sessio"), [
    "01KBB: sessionId",
    "01KA2: sessionId",
    "01KA1: sessionId",
  ]);
  assert.deepEqual(await find(hash.slice(0, 8)), ["01KC4: txId"]);
  assert.deepEqual(await find(hash.slice(20, 30).toUpperCase()), [
    "01KC4: txId",
  ]);
  assert.deepEqual(await find("card_4242xy"), ["01KC4: cardId"]);
  const alike = "0xbeef0011223344556677";
  await ledger.append(["a", "b"].map((last) =>
    orderSnapshot({
      source: JSON.stringify({
        status: "success",
        order_id: `01KCCCCCCCCCCCCCCCCCCCCCC${last}`,
        tx_id: alike + last,
        created_at: "2026-11-20 08:59:00",
        changed_at: "2026-11-20 08:59:30",
      }),
      ...times,
      salt,
    })
  ));
  await ledger.project();
  assert.deepEqual(await find(`${alike}a`), ["01KCa: txId"]);
  assert.deepEqual((await find(alike)).sort(), ["01KCa: txId", "01KCb: txId"]);
  assert.deepEqual(await find("card_4242x"), []);
});

Deno.test("Ledger.find() lists what only webhooks name after what the service has shown, however much it is", async () => {
  await using ledger = await newLedger();
  const forged = Array.from({ length: 150 }, (_, n) =>
    webhookEvent({
      id: `F${n}`,
      receivedAt: "2026-11-20T08:59:10.000Z",
      body: new TextEncoder().encode(JSON.stringify({
        type: "order_complete",
        click_id: "Click-9",
        hpp_session_id: "Session-8",
        order: { id: `A-FORGED-${n}`, external_order_id: "AB12CD" },
      })),
    }, salt));
  await ledger.append([...forged, ...orders, ...others]);
  await ledger.project();
  for (
    const [text, first, second] of [
      ["Click-9", "01KBB: clickId", "A-FO0: clickId?"],
      ["AB12CD", "01KA1: externalOrderId", "A-FO0: externalOrderId?"],
      ["Session-8", "01KA2: sessionId", "01KA1: sessionId"],
    ] as const
  ) {
    const found = await ledger.find(text);
    assert.deepEqual(said(found).slice(0, 2), [first, second]);
    assert.equal(found.found.length, 100);
    assert.equal(found.more, true);
  }
});

Deno.test("Ledger.find() finds a session that the partner recorded, whether or not anything else names it", async () => {
  await using ledger = await newLedger();
  const recorded = (id: string, click: string, reference: string) =>
    sessionCreated({
      session: {
        session_id: id,
        flow_type: "simple",
        click_id: click,
        reference,
        currency: "USD",
        // The order has no such amount, so that its terms lead to no session.
        currency_amount: "77",
      },
      recordedAt: "2026-11-20T08:40:00.000Z",
      salt,
    });
  await ledger.append([
    ...orders,
    recorded("SESSION-A", "Click-9", "basket-a"),
    recorded("SESSION-B", "Click-9", "basket-b"),
    recorded("SESSION-C", "Click-Unused", "basket-c"),
    // A forger names the session beside another order, and claims the click id.
    ...["SESSION-A", "SESSION-C"].map((session, n) =>
      webhookEvent({
        id: `F${n}`,
        receivedAt: "2026-11-20T08:59:00.000Z",
        body: new TextEncoder().encode(JSON.stringify({
          type: "order_complete",
          hpp_session_id: session,
          order: { id: `FORGED-${n}` },
        })),
      }, salt)
    ),
  ]);
  await ledger.project();
  const ids = async (reference: string) => {
    const { confirmed, claimed } = await ledger.orders.find(reference);
    return [confirmed, claimed].map((found) => found.map((one) => one.orderId));
  };
  const shown = "01KBBBBBBBBBBBBBBBBBBBBBBB";
  // Several sessions under one click id, and webhooks of none or of a forger.
  assert.deepEqual(await ids("SESSION-A"), [[shown], ["FORGED-0"]]);
  assert.deepEqual(await ids("SESSION-B"), [[shown], []]);
  assert.deepEqual(await ids("SESSION-C"), [[], ["FORGED-1"]]);
  assert.deepEqual(said(await ledger.find("session-a")), [
    "01KBB: sessionId",
    "FORG0: sessionId?",
  ]);
  assert.deepEqual(said(await ledger.find("SESSION-B")), ["01KBB: sessionId"]);
  for (const name of ["basket-c", "Click-Unused", "SESSION-C"]) {
    assert.deepEqual((await ledger.find(name)).recorded, [{
      sessionId: "SESSION-C",
      clickId: "Click-Unused",
      reference: "basket-c",
      askedAt: "2026-11-20T08:40:00.000Z",
      validUntil: "2026-11-27T08:40:00.000Z",
    }]);
  }
  assert.deepEqual((await ledger.find("nobody")).recorded, []);
});

Deno.test("Ledger.find() finds the beginning of a name among 600 newer orders that have the text elsewhere", async () => {
  await using ledger = await newLedger();
  await ledger.append(Array.from({ length: 600 }, (_, n) =>
    orderSnapshot({
      source: JSON.stringify({
        order_id: `01KDDDDDDDDDDDDDDDDDDDD${1000 + n}`,
        external_order_id: n === 0 ? "USDC-77" : `AB${n}`,
        status: "success",
        crypto: "USDC.simple.ethereum",
        created_at: new Date(Date.UTC(2026, 10, 20) + n * 1000).toISOString(),
      }),
      ...times,
      salt,
    })));
  await ledger.project();
  assert.deepEqual(said(await ledger.find("usdc")), ["01KD0: externalOrderId"]);
});
