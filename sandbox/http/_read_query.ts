import { readQueryTime } from "../../core/time/service_time.ts";
import type { OrdersQuery } from "../engine/order_store.ts";
import type { UsersQuery } from "../engine/user_store.ts";

/** Reads a query of the orders endpoint, or says what is wrong with it. */
export function readOrdersQuery(
  query: URLSearchParams,
): OrdersQuery | { readonly wrong: string } {
  const reader = new Reader(query);
  const read: OrdersQuery = {
    limit: reader.count("limit", 10, 20),
    cursorId: reader.text("cursor_id") ?? "",
    offset: reader.count("offset", 0, Number.MAX_SAFE_INTEGER),
    searchBy: reader.list("search_by"),
    ascending: reader.ascending(),
    startMs: reader.time("start_date"),
    endMs: reader.time("end_date"),
    status: reader.text("status"),
    commodity: reader.text("commodity")?.toLowerCase() ?? null,
    userIds: reader.list("user_ids"),
    cardId: reader.text("card_id"),
    txId: reader.text("tx_id"),
    failReason: reader.text("fail_reason"),
    paymentType: reader.text("payment_type"),
  };
  return reader.wrong === null ? read : { wrong: reader.wrong };
}

/** Reads a query of the users endpoint, or says what is wrong with it. */
export function readUsersQuery(
  query: URLSearchParams,
): UsersQuery | { readonly wrong: string } {
  const reader = new Reader(query);
  const read: UsersQuery = {
    limit: reader.count("limit", 10, 20),
    offset: reader.count("offset", 0, Number.MAX_SAFE_INTEGER),
    ascending: reader.ascending(),
    fromMs: reader.time("from"),
    toMs: reader.time("to"),
    userIds: reader.list("user_ids"),
    lkyc: reader.text("lkyc_status"),
    fkyc: reader.text("fkyc_status"),
    phoneCountry: reader.text("phone_country")?.toUpperCase() ?? null,
    kycCountry: reader.text("kyc_country")?.toUpperCase() ?? null,
  };
  return reader.wrong === null ? read : { wrong: reader.wrong };
}

/** Reads parameters and remembers the first that is wrong. */
class Reader {
  readonly #query: URLSearchParams;
  wrong: string | null = null;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** The text of a parameter; an empty one counts as absent. */
  text(name: string): string | null {
    return this.#query.get(name) || null;
  }

  count(name: string, otherwise: number, most: number): number {
    const text = this.text(name);
    if (text === null) return otherwise;
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value <= most) return value;
    this.wrong ??= most > 20
      ? `${name} must be a non-negative integer`
      : `${name} must be an integer from 0 to ${most}`;
    return otherwise;
  }

  list(name: string): ReadonlySet<string> | null {
    const text = this.text(name);
    if (text === null) return null;
    return new Set(
      text.split(",").map((item) => item.trim()).filter((item) => item !== ""),
    );
  }

  ascending(): boolean {
    const text = this.text("order_by")?.toLowerCase() ?? "desc";
    if (text !== "asc" && text !== "desc") {
      this.wrong ??= "order_by must be asc or desc";
    }
    return text === "asc";
  }

  time(name: string): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const timeMs = readQueryTime(text);
    if (timeMs === null) {
      this.wrong ??= `${name} must be YYYY-MM-DDTHH:MM:SSZ`;
    }
    return timeMs;
  }
}
