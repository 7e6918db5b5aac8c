import type { AssumptionName } from "../../../core/assumptions/assumptions.ts";
import { notSeen } from "../observing/observation.ts";
import { PAGE } from "../observing/reader.ts";
import { type ConformanceRow, row } from "../observing/row.ts";
import { message } from "../observing/scrub.ts";
import { isRefusal, ORDERS, USERS } from "./lists.ts";

/** Clocks may be apart by this, in seconds. */
const APART_SECONDS = 5;

/** Parameters that the description does not allow. */
const WRONG = {
  limit: "-1",
  order_by: "sideways",
  start_date: "yesterday",
} as const;

/** Properties of all answers. */
export const ANSWER_ROWS = {
  answers_are_json: row(
    async (reader) => ({
      orders: mediaType(
        (await ORDERS.read(reader, { limit: PAGE })).contentType,
      ),
      users: mediaType((await USERS.read(reader, { limit: PAGE })).contentType),
    }),
    ({ orders, users }) =>
      [orders, users].every((type) => type === "application/json"),
  ),
  service_clock: row(
    async (reader) => {
      const { dateMs, askedAtMs, answeredAtMs } = await ORDERS.read(reader, {
        limit: "1",
      });
      if (dateMs === null) return { stated: false, apartSeconds: 0 };
      // The header has whole seconds, and was written in between.
      const apartMs = dateMs > answeredAtMs
        ? dateMs - answeredAtMs
        : dateMs + 1000 < askedAtMs
        ? dateMs + 1000 - askedAtMs
        : 0;
      return { stated: true, apartSeconds: Math.round(apartMs / 1000) };
    },
    ({ stated, apartSeconds }) =>
      stated && Math.abs(apartSeconds) <= APART_SECONDS,
  ),
  wrong_parameter_refused: row(
    async (reader) => {
      const statuses: Record<string, number> = {};
      let messages = 0;
      for (const [name, value] of Object.entries(WRONG)) {
        const { status, body } = await ORDERS.read(reader, {
          limit: "1",
          [name]: value,
        });
        statuses[name] = status;
        if (message(body) !== null) messages++;
      }
      return {
        limit: statuses.limit ?? 0,
        order_by: statuses.order_by ?? 0,
        start_date: statuses.start_date ?? 0,
        messages,
      };
    },
    ({ limit, order_by, start_date, messages }) =>
      [limit, order_by, start_date].every(isRefusal) && messages === 3,
  ),
  // Last of all: a service may lock out who errs.
  wrong_key_refused: row(
    async ({ withWrongKey }) => {
      if (withWrongKey === null) return notSeen("not_asked_for_wrong_key");
      const { status, body } = await withWrongKey();
      return { status, message: message(body) };
    },
    ({ status, message }) =>
      (status === 401 || status === 403) && message !== null,
  ),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;

/** The media type without its parameters; any other text is only measured. */
export function mediaType(stated: string | null): string {
  const [type = ""] = (stated ?? "").split(";");
  return /^[a-z]+\/[a-z+.-]{1,40}$/i.test(type.trim())
    ? type.trim().toLowerCase()
    : `(text of ${type.length})`;
}
