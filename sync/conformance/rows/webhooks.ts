import type { AssumptionName } from "../../../core/assumptions/assumptions.ts";
import { isRecord } from "../../../core/guards.ts";
import type { TestRequest } from "../observing/ask_service.ts";
import type { LedgerSample } from "../observing/ledger_sample.ts";
import { type Facts, notSeen } from "../observing/observation.ts";
import { bodyOf } from "../observing/reader.ts";
import { type ConformanceRow, row } from "../observing/row.ts";
import { distinct, fieldName, kindOf, word } from "../observing/scrub.ts";
import { mediaType } from "./answers.ts";

function ofLedger<Seen extends Facts>(
  see: (sample: LedgerSample) => Seen | null,
  agrees: (facts: Seen) => boolean,
): ConformanceRow {
  return row(({ ledger }) => {
    const seen = ledger === null ? null : see(ledger);
    return Promise.resolve(
      ledger === null
        ? notSeen("no_ledger")
        : seen === null
        ? notSeen("nothing_recorded")
        : seen,
    );
  }, agrees);
}

/** What the ledger has of webhooks and readings. */
export const LEDGER_ROWS = {
  amounts_as_asked: ofLedger(
    ({ amounts }) => amounts.same + amounts.rounded === 0 ? null : amounts,
    ({ rounded }) => rounded === 0,
  ),
  click_id_as_sent: ofLedger(
    ({ clickIds, recorded }) =>
      recorded === 0 || clickIds.linked + clickIds.astray === 0
        ? null
        : clickIds,
    ({ linked, astray }) => linked > astray,
  ),
  claims_shown_in_ten_minutes: ofLedger(
    ({ claims }) => claims.shown + claims.contradicted === 0 ? null : claims,
    ({ shown, contradicted }) => shown > contradicted,
  ),
  final_status_stands: ofLedger(
    ({ finals }) => finals.orders === 0 ? null : finals,
    ({ changed }) => changed === 0,
  ),
  transfer_started_is_pending: ofLedger(
    ({ transfers }) => transfers.announced === 0 ? null : transfers,
    ({ below }) => below === 0,
  ),
  cancelled_spelling: ofLedger(
    ({ cancelled }) => cancelled.length === 0 ? null : { types: cancelled },
    ({ types }) => types.every((type) => type === "order_cancelled"),
  ),
  event_flavour: ofLedger(
    ({ flavours }) =>
      Object.values(flavours).every((count) => count === 0) ? null : flavours,
    ({ both, neither }) => both + neither === 0,
  ),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;

function ofTest<Seen extends Facts>(
  see: (request: TestRequest) => Seen,
  agrees: (facts: Seen) => boolean,
): ConformanceRow {
  return row(({ test }) => {
    const request = test();
    return Promise.resolve(
      request === "not_awaited"
        ? notSeen("not_asked_for_test")
        : request === "none_came"
        ? notSeen("no_test_came")
        : see(request),
    );
  }, agrees);
}

/** Names of headers that would carry a signature or a secret. */
const SIGNING = /sign|hmac|digest|secret|token|webhook-|authorization/;

/** What the Test button sends. */
export const TEST_EVENT_ROWS = {
  test_event_form: ofTest(
    ({ text }) => {
      const { type, click_id, order, user } = bodyOf(text);
      const id = isRecord(order) ? order.id : undefined;
      return {
        type: word(type, ["test"]),
        click_id: click_id === "test_click_id" ? click_id : kindOf(click_id),
        orderId: id === "" ? "empty" : kindOf(id),
        user: kindOf(user),
        fields: distinct(
          Object.keys(isRecord(order) ? order : {}).map(fieldName),
        ),
      };
    },
    ({ type, click_id, orderId, user }) =>
      type === "test" && click_id === "test_click_id" && orderId === "empty" &&
      user === "missing",
  ),
  test_event_is_json: ofTest(
    ({ contentType }) => ({ contentType: mediaType(contentType) }),
    ({ contentType }) => contentType === "application/json",
  ),
  no_signature: ofTest(
    ({ headers }) => ({
      headers: distinct(headers.map((name) => word(name, []))),
      signing: distinct(
        headers.filter((name) => SIGNING.test(name))
          .map((name) => word(name, [])),
      ),
    }),
    ({ signing }) => signing.length === 0,
  ),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;
