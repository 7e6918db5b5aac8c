import { readQueryTime } from "../../core/time/service_time.ts";
import type { RecordedEvent } from "./event.ts";
import {
  DEFAULT_VALID_FOR_MS,
  type Expectation,
  MOST_VALID_FOR_MS,
} from "./expectation.ts";
import type { Fact } from "./fact.ts";
import {
  exactObject,
  filledText,
  linking,
  objectOf,
  upper,
} from "./fact_text.ts";
import { factBase, unreadable } from "./_fact_base.ts";

/** Decodes a recorded session, or an expectation without one. */
export function readExpectation(
  event: RecordedEvent,
  kind: "session_created" | "order_expected",
): Fact {
  if (event.body === null) return unreadable(event, { code: "body_erased" });
  const body = exactObject(event.body);
  const isSession = kind === "session_created";
  const id = filledText(isSession ? body?.session_id : body?.expectation_id);
  if (body === null || id === null) {
    const code = isSession ? "session_without_id" : "expectation_without_id";
    return unreadable(event, { code });
  }
  const sessionId = isSession ? id : null;
  const clickId = linking(event.clickId);
  const terms = { ...body, ...objectOf(body.expected) };
  const expectation: Expectation = {
    id,
    sessionId,
    flowType: isSession ? filledText(body.flow_type) ?? "simple" : null,
    clickId,
    reference: filledText(body.reference),
    commodity: upper(filledText(terms.commodity)),
    network: filledText(terms.network),
    commodityAmount: filledText(terms.commodity_amount),
    currency: upper(filledText(terms.currency)),
    currencyAmount: filledText(terms.currency_amount),
    walletAddress: filledText(terms.wallet_address),
    userId: filledText(terms.user_id),
    recordedAt: event.recordedAt,
    askedAt: statedTime(body.asked_at),
    validForMs: statedDuration(body.valid_for_ms),
  };
  return {
    ...factBase(event, kind),
    kind,
    sessionId,
    clickId,
    expectation,
  };
}

/** A time with milliseconds, so that text order is time order. */
function statedTime(value: unknown): string | null {
  const timeMs = typeof value === "string" ? readQueryTime(value) : null;
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

/**
 * An imported event may say anything: a value that is not a duration is
 * ignored.
 */
function statedDuration(value: unknown): number {
  const ms = Number(filledText(value) ?? NaN);
  return ms > 0 ? Math.min(ms, MOST_VALID_FOR_MS) : DEFAULT_VALID_FOR_MS;
}
