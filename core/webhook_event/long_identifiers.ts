import { isRecord } from "../guards.ts";
import { isLongText } from "../wire/identifier.ts";

/** Where bodies of webhooks have identifiers. */
const places: readonly (readonly [string, (body: Body) => unknown])[] = [
  ["type", ({ type }) => type],
  ["click_id", ({ click_id }) => click_id],
  ["hpp_session_id", ({ hpp_session_id }) => hpp_session_id],
  ["user_id", ({ user_id }) => user_id],
  ["user.user_id", ({ user }) => within(user).user_id],
  ["order.id", ({ order }) => within(order).id],
  ["order.external_order_id", ({ order }) => within(order).external_order_id],
];

type Body = Readonly<Record<string, unknown>>;

/**
 * Names the fields of a webhook that should identify something, and are too
 * long for that: they are read as if they were not there.
 *
 * @param value The value of a body.
 * @returns Their names, for example `order.id`; empty for most bodies.
 */
export function longIdentifiers(value: unknown): string[] {
  const body = within(value);
  return places.filter(([, held]) => isLongText(held(body)))
    .map(([name]) => name);
}

function within(value: unknown): Body {
  return isRecord(value) ? value : {};
}
