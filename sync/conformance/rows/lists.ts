import {
  normaliseTime,
  readServiceTime,
} from "../../../core/time/service_time.ts";
import type { ListParameters } from "../observing/ask_service.ts";
import { notSeen, type NotSeenReason } from "../observing/observation.ts";
import { PAGE, type ReadAnswer, type Reader } from "../observing/reader.ts";
import { type ConformanceRow, row } from "../observing/row.ts";
import { kindOf, type WireRow } from "../observing/scrub.ts";

/** One of the service's two lists. */
export interface WireList {
  /** Field of the identifier. */
  readonly id: "order_id" | "user_id";
  /** Parameters of the window. */
  readonly window: readonly [start: string, end: string];
  /** Why a row cannot be checked when the list is short. */
  readonly few: NotSeenReason;
  /** Asks; the order is the newest first unless the parameters say otherwise. */
  readonly read: (
    reader: Reader,
    parameters: ListParameters,
  ) => Promise<ReadAnswer>;
}

export const ORDERS: WireList = {
  id: "order_id",
  window: ["start_date", "end_date"],
  few: "few_orders",
  read: (reader, parameters) =>
    reader.orders({ ...reader.settled, order_by: "desc", ...parameters }),
};

export const USERS: WireList = {
  id: "user_id",
  window: ["from", "to"],
  few: "few_users",
  read: (reader, parameters) =>
    reader.users({ ...reader.settledUsers, order_by: "desc", ...parameters }),
};

const createdMs = (one: WireRow): number =>
  readServiceTime(String(one.created_at)) ?? Number.NaN;

const idsOf = ({ rows }: ReadAnswer, { id }: WireList) =>
  rows.map((one) => String(one[id]));

/** A creation time as a parameter. */
const asParameter = (one: WireRow): string =>
  normaliseTime(String(one.created_at)) ?? "";

/** Status, `success`, `data` and `total` of an answer. */
export function answerForm(list: WireList): ConformanceRow {
  return row(
    async (reader) => {
      const { status, body } = await list.read(reader, { limit: PAGE });
      const { success, data, total } = body;
      return {
        status,
        success: success === true ? "true" : kindOf(success),
        data: kindOf(data),
        total: kindOf(total),
      };
    },
    ({ status, success, data, total }) =>
      status === 200 && success === "true" && data === "array" &&
      total === "number",
  );
}

/** Whether an answer has a cursor. */
export function cursorKind(list: WireList, wanted: string): ConformanceRow {
  return row(
    async (reader) => {
      const { body } = await list.read(reader, { limit: PAGE });
      return { next_cursor_id: kindOf(body.next_cursor_id) };
    },
    ({ next_cursor_id: kind }) => kind === wanted,
  );
}

/** Whether a full page has twenty rows. */
export function mostRows(list: WireList): ConformanceRow {
  return row(
    async (reader) => {
      const { rows, total } = await list.read(reader, { limit: PAGE });
      return total !== null && total < 20
        ? notSeen(list.few)
        : { rows: rows.length };
    },
    ({ rows }) => rows === 20,
  );
}

/** How a limit above twenty is answered. */
export function limitBeyond(list: WireList): ConformanceRow {
  return row(
    async (reader) => {
      const { status, rows, total } = await list.read(reader, { limit: "21" });
      return status === 200 && (total ?? 0) < 21
        ? notSeen(list.few)
        : { status, rows: rows.length };
    },
    ({ status, rows }) => isRefusal(status) || rows <= 20,
  );
}

/** Whether rows come in the order of creation. */
export function inOrder(
  list: WireList,
  direction: "asc" | "desc" | null,
): ConformanceRow {
  return row(
    async (reader) => {
      const window = list === ORDERS ? reader.settled : reader.settledUsers;
      const ask = list === ORDERS ? reader.orders : reader.users;
      const { rows } = await ask({
        ...window,
        limit: PAGE,
        ...(direction !== null && { order_by: direction }),
      });
      const times = rows.map(createdMs);
      if (new Set(times).size < 2) return notSeen(list.few);
      const sign = direction === "asc" ? 1 : -1;
      return {
        rows: rows.length,
        outOfOrder:
          times.slice(1).filter((time, at) =>
            (time - (times[at] ?? 0)) * sign < 0
          ).length,
      };
    },
    ({ outOfOrder }) => outOfOrder === 0,
  );
}

/** Whether a window leaves out rows of its start. */
export function startExclusive(list: WireList): ConformanceRow {
  return row(
    async (reader) => {
      const page = await list.read(reader, { limit: PAGE });
      const start = page.rows.at(-1);
      if (start === undefined) return notSeen(list.few);
      const later = page.rows.filter((one) =>
        createdMs(one) > createdMs(start)
      );
      if (later.length === 0) return notSeen(list.few);
      const { status, rows } = await list.read(reader, {
        limit: PAGE,
        [list.window[0]]: asParameter(start),
      });
      return {
        status,
        atStart: rows.filter((one) => createdMs(one) === createdMs(start))
          .length,
        before: rows.filter((one) => createdMs(one) < createdMs(start)).length,
        after: rows.filter((one) => createdMs(one) > createdMs(start)).length,
      };
    },
    ({ status, atStart, before, after }) =>
      status === 200 && atStart === 0 && before === 0 && after > 0,
  );
}

/** Whether a window holds rows of its end. */
export function endInclusive(list: WireList): ConformanceRow {
  return row(
    async (reader) => {
      const page = await list.read(reader, { limit: PAGE });
      const [newest] = page.rows;
      const end = page.rows.find((one) =>
        newest !== undefined && createdMs(one) < createdMs(newest)
      );
      if (end === undefined) return notSeen(list.few);
      const { status, rows } = await list.read(reader, {
        limit: PAGE,
        [list.window[1]]: asParameter(end),
      });
      return {
        status,
        atEnd: rows.filter((one) => createdMs(one) === createdMs(end)).length,
        after: rows.filter((one) => createdMs(one) > createdMs(end)).length,
      };
    },
    ({ status, atEnd, after }) => status === 200 && atEnd > 0 && after === 0,
  );
}

/** Whether an offset skips rows. */
export function offsetSkips(list: WireList): ConformanceRow {
  return row(
    async (reader) => {
      const whole = idsOf(await list.read(reader, { limit: "4" }), list);
      if (whole.length < 3) return notSeen(list.few);
      const page = await list.read(reader, { limit: "3", offset: "1" });
      const ids = idsOf(page, list);
      return {
        status: page.status,
        rows: ids.length,
        skipped: ids.indexOf(whole[1] ?? "") === 0 ? 1 : 0,
      };
    },
    ({ status, skipped }) => status === 200 && skipped === 1,
  );
}

/** Whether `total` counts all that match, whatever the limit is. */
export function totalOfAll(list: WireList): ConformanceRow {
  return row(
    async (reader) => {
      const [one, many] = await Promise.all(
        ["1", PAGE].map((limit) => list.read(reader, { limit })),
      );
      if (many === undefined || many.rows.length < 2) return notSeen(list.few);
      return {
        sameForEachLimit: one?.total === many.total,
        atLeastTheRows: (many.total ?? -1) >= many.rows.length,
      };
    },
    ({ sameForEachLimit, atLeastTheRows }) =>
      sameForEachLimit && atLeastTheRows,
  );
}

/** An identifier of the usual form that nothing has. */
const UNKNOWN_ID = "01AAAAAAAAAAAAAAAAAAAAAAAA";

/** How a request for something unknown is answered. */
export function unknownId(list: WireList, parameter: string): ConformanceRow {
  return row(
    async (reader) => {
      const { status, rows } = await list.read(reader, {
        limit: PAGE,
        [parameter]: UNKNOWN_ID,
      });
      return { status, rows: rows.length };
    },
    ({ status, rows }) => status === 200 && rows === 0,
  );
}

/** Whether a filter gives the rows with a value, and no others. */
export function filters(
  list: WireList,
  parameter: string,
  field: string,
): ConformanceRow {
  return row(
    async (reader) => {
      const sample = list === ORDERS
        ? await reader.sampleOrders()
        : await reader.sampleUsers();
      const values = new Set(sample.map((one) => one[field]));
      const value = [...values].find((one): one is string =>
        typeof one === "string" && one !== ""
      );
      // Where all have one value, a filter that is ignored looks the same.
      if (value === undefined || values.size < 2) return notSeen(list.few);
      const { status, rows } = await list.read(reader, {
        limit: PAGE,
        [parameter]: value,
      });
      return {
        status,
        rows: rows.length,
        others: rows.filter((one) => one[field] !== value).length,
      };
    },
    ({ status, rows, others }) => status === 200 && rows > 0 && others === 0,
  );
}

/** Whether a status says that the request is wrong. */
export function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}
