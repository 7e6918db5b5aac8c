import type { AssumptionName } from "../../../core/assumptions/assumptions.ts";
import { normaliseTime } from "../../../core/time/service_time.ts";
import { notSeen } from "../observing/observation.ts";
import { PAGE, type Reader } from "../observing/reader.ts";
import { type ConformanceRow, row } from "../observing/row.ts";
import { kindOf, type WireRow } from "../observing/scrub.ts";
import {
  answerForm,
  cursorKind,
  endInclusive,
  filters,
  inOrder,
  limitBeyond,
  mostRows,
  offsetSkips,
  ORDERS,
  startExclusive,
  totalOfAll,
  unknownId,
} from "./lists.ts";

/** Searches for ids, and says how many of their orders came, and what else. */
async function search(
  reader: Reader,
  wanted: readonly (readonly [order: WireRow, field: string])[],
) {
  const asked = wanted.map(([order, field]) => String(order[field]));
  const { status, rows } = await ORDERS.read(reader, {
    limit: PAGE,
    search_by: asked.join(","),
  });
  const came = new Set(rows.map(({ order_id }) => order_id));
  return {
    status,
    asked: asked.length,
    found: wanted.filter(([{ order_id }]) => came.has(order_id)).length,
    others:
      rows.filter((one) =>
        !["order_id", "click_id", "external_order_id"].some((field) =>
          asked.includes(String(one[field]))
        )
      ).length,
  };
}

const allFound = (
  { status, asked, found, others }: {
    readonly status: number;
    readonly asked: number;
    readonly found: number;
    readonly others: number;
  },
) => status === 200 && found === asked && others === 0;

/** A search by one id of this field. */
const byField = (field: string) =>
  row(
    async (reader) => {
      const order = (await reader.sampleOrders()).find((one) =>
        typeof one[field] === "string" && one[field] !== ""
      );
      return order === undefined
        ? notSeen("no_such_order")
        : await search(reader, [[order, field]]);
    },
    allFound,
  );

/** What the list of orders and its pages do. */
export const ORDER_PAGE_ROWS = {
  orders_answer_form: answerForm(ORDERS),
  orders_current_form: cursorKind(ORDERS, "text"),
  orders_limit_default: row(
    async (reader) => {
      const { rows, total } = await ORDERS.read(reader, {});
      return (total ?? 0) <= 10 ? notSeen("few_orders") : { rows: rows.length };
    },
    ({ rows }) => rows === 10,
  ),
  orders_limit_most: mostRows(ORDERS),
  orders_limit_zero: row(
    async (reader) => {
      const { status, rows } = await ORDERS.read(reader, { limit: "0" });
      return { status, rows: rows.length };
    },
    ({ status, rows }) => status === 200 && rows === 0,
  ),
  orders_limit_beyond: limitBeyond(ORDERS),
  orders_newest_first: inOrder(ORDERS, null),
  orders_oldest_first: inOrder(ORDERS, "asc"),
  orders_start_exclusive: startExclusive(ORDERS),
  orders_end_inclusive: endInclusive(ORDERS),
  orders_fraction_of_second: row(
    async (reader) => {
      const [order] = await reader.sampleOrders();
      if (order === undefined) return notSeen("few_orders");
      const time = normaliseTime(String(order.created_at)) ?? "";
      const { status } = await ORDERS.read(reader, {
        limit: PAGE,
        start_date: time.replace(/(?:\.\d+)?Z$/, ".500Z"),
      });
      return { status };
    },
    ({ status }) => status === 200,
  ),
  orders_cursor_goes_on: row(
    async (reader) => {
      const first = await ORDERS.read(reader, { limit: "2" });
      const whole = await ORDERS.read(reader, { limit: "4" });
      if (whole.rows.length < 4) return notSeen("few_orders");
      if (first.cursor === "") return notSeen("earlier_form");
      const second = await ORDERS.read(reader, {
        limit: "2",
        cursor_id: first.cursor,
      });
      const ids = (rows: readonly WireRow[]) =>
        rows.map(({ order_id }) => order_id);
      const pages = [...ids(first.rows), ...ids(second.rows)];
      return {
        status: second.status,
        rows: second.rows.length,
        repeated: pages.length - new Set(pages).size,
        likeOnePage: ids(whole.rows).join() === pages.join(),
      };
    },
    ({ status, repeated, likeOnePage }) =>
      status === 200 && repeated === 0 && likeOnePage,
  ),
  orders_cursor_ends: row(
    async (reader) => {
      const [order] = await reader.sampleOrders();
      if (order === undefined) return notSeen("few_orders");
      const { body } = await ORDERS.read(reader, {
        limit: PAGE,
        search_by: String(order.order_id),
      });
      const cursor = body.next_cursor_id;
      return { last: cursor === "" ? "empty" : kindOf(cursor) };
    },
    ({ last }) => last !== "text",
  ),
  orders_offset: offsetSkips(ORDERS),
  orders_total: totalOfAll(ORDERS),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;

/** What the filters of the list of orders do. */
export const ORDER_FILTER_ROWS = {
  orders_by_order_id: byField("order_id"),
  orders_by_click_id: byField("click_id"),
  orders_by_external_id: byField("external_order_id"),
  orders_by_several_kinds: row(
    async (reader) => {
      const orders = await reader.sampleOrders();
      const fields = ["order_id", "click_id", "external_order_id"];
      const wanted = fields.flatMap((field, at) => {
        const order = orders.filter((one) =>
          typeof one[field] === "string" && one[field] !== ""
        )[at];
        return order === undefined ? [] : [[order, field] as const];
      });
      return wanted.length < fields.length
        ? notSeen("few_orders")
        : await search(reader, wanted);
    },
    allFound,
  ),
  orders_by_twenty_ids: row(
    async (reader) => {
      const orders = (await reader.sampleOrders()).slice(0, 20);
      return orders.length < 20 ? notSeen("few_orders") : await search(
        reader,
        orders.map((order) => [order, "order_id"] as const),
      );
    },
    allFound,
  ),
  orders_by_unknown_id: unknownId(ORDERS, "search_by"),
  orders_by_status: filters(ORDERS, "status", "status"),
  orders_by_commodity: filters(ORDERS, "commodity", "crypto"),
  orders_by_user: filters(ORDERS, "user_ids", "user_id"),
  orders_by_card: filters(ORDERS, "card_id", "card_id"),
  orders_by_transaction: filters(ORDERS, "tx_id", "tx_id"),
  orders_by_fail_reason: filters(ORDERS, "fail_reason", "fail_reason"),
  orders_by_payment_type: filters(ORDERS, "payment_type", "payment_type"),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;
