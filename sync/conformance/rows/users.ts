import type { AssumptionName } from "../../../core/assumptions/assumptions.ts";
import { isRecord } from "../../../core/guards.ts";
import {
  CARD_FIELDS,
  KYC_STATES,
  LIMIT_FIELDS,
  USER_FIELDS,
  USER_TEXTS,
  USER_TIME_FORM,
} from "../observing/documented.ts";
import { notSeen } from "../observing/observation.ts";
import { PAGE } from "../observing/reader.ts";
import { type ConformanceRow, row } from "../observing/row.ts";
import type { Facts } from "../observing/observation.ts";
import {
  distinct,
  fieldName,
  kindOf,
  timeForm,
  type WireRow,
  word,
} from "../observing/scrub.ts";
import {
  answerForm,
  cursorKind,
  endInclusive,
  filters,
  inOrder,
  limitBeyond,
  mostRows,
  offsetSkips,
  startExclusive,
  totalOfAll,
  unknownId,
  USERS,
} from "./lists.ts";

function ofUsers<Seen extends Facts>(
  see: (users: readonly WireRow[]) => Seen,
  agrees: (facts: Seen) => boolean,
): ConformanceRow {
  return row(async (reader) => {
    const users = await reader.sampleUsers();
    return users.length === 0 ? notSeen("few_users") : see(users);
  }, agrees);
}

const partsOf = (value: unknown): readonly WireRow[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

const cardsOf = (user: WireRow): readonly WireRow[] =>
  partsOf(user.linked_payment_methods).flatMap(({ cards }) => partsOf(cards));

const unlisted = (
  parts: readonly WireRow[],
  listed: readonly string[],
  prefix: string,
) =>
  parts.flatMap((part) => Object.keys(part))
    .filter((name) => !listed.includes(name))
    .map((name) => `${prefix}${fieldName(name)}`);

/** Names of fields with a kind that is not the promised one. */
const otherKinds = (
  parts: readonly WireRow[],
  names: readonly string[],
  kind: string,
) =>
  distinct(
    names.flatMap((name) =>
      parts.map((part) => kindOf(part[name])).filter((found) => found !== kind)
        .map((found) => `${name}: ${found}`)
    ),
  );

/** What the rows of users have. */
export const USER_FIELD_ROWS = {
  user_fields_documented: ofUsers(
    (users) => ({
      rows: users.length,
      unknown: distinct([
        ...unlisted(users, USER_FIELDS, ""),
        ...unlisted(
          users.map(({ limits }) => limits).filter(isRecord),
          LIMIT_FIELDS,
          "limits.",
        ),
        ...unlisted(users.flatMap(cardsOf), CARD_FIELDS, "cards."),
      ]),
    }),
    ({ unknown }) => unknown.length === 0,
  ),
  user_fields_present: ofUsers(
    (users) => ({
      rows: users.length,
      absent: USER_FIELDS.filter((name) =>
        users.some((user) => !(name in user))
      ),
    }),
    ({ absent }) => absent.length === 0,
  ),
  user_texts_are_texts: ofUsers(
    (users) => ({ others: otherKinds(users, USER_TEXTS, "text") }),
    ({ others }) => others.length === 0,
  ),
  user_banned_is_boolean: ofUsers(
    (users) => ({ others: otherKinds(users, ["banned"], "boolean") }),
    ({ others }) => others.length === 0,
  ),
  user_limits_are_texts: row(
    async (reader) => {
      const limits = (await reader.sampleUsers()).map(({ limits }) => limits)
        .filter(isRecord);
      return limits.length === 0
        ? notSeen("no_such_user")
        : { others: otherKinds(limits, LIMIT_FIELDS, "text") };
    },
    ({ others }) => others.length === 0,
  ),
  user_times_form: ofUsers(
    (users) => ({
      forms: distinct(users.map(({ created_at }) => timeForm(created_at))),
    }),
    ({ forms }) => forms.every((form) => USER_TIME_FORM.test(form)),
  ),
  user_phone_masked: ofUsers(
    (users) => ({
      rows: users.length,
      whole:
        users.filter(({ phone }) =>
          typeof phone === "string" && /^\+?\d{7,}$/.test(phone)
        ).length,
    }),
    ({ whole }) => whole === 0,
  ),
  user_countries_form: ofUsers(
    (users) => ({
      rows: users.length,
      country:
        users.filter(({ country }) =>
          typeof country === "string" && country !== "" &&
          !/^[A-Z]{3}$/.test(country)
        ).length,
      phone_country:
        users.filter(({ phone_country: country }) =>
          typeof country === "string" && country !== "" &&
          !/^[A-Z]{2}$/.test(country)
        ).length,
    }),
    ({ country, phone_country }) => country === 0 && phone_country === 0,
  ),
  user_kyc_listed: ofUsers(
    (users) => {
      const met = users.flatMap(({ lkyc_status, fkyc_status }) =>
        [lkyc_status, fkyc_status].filter((state) => typeof state === "string")
      );
      return {
        met: distinct(met.map((state) => word(state, KYC_STATES))),
        unknown: distinct(
          met.filter((state) => !KYC_STATES.includes(String(state)))
            .map((state) => word(state, KYC_STATES)),
        ),
      };
    },
    ({ unknown }) => unknown.length === 0,
  ),
  user_payment_methods_form: row(
    async (reader) => {
      const users = (await reader.sampleUsers()).filter((user) =>
        partsOf(user.linked_payment_methods).length > 0
      );
      if (users.length === 0) return notSeen("no_such_user");
      return {
        methods: distinct(
          users.flatMap((user) => partsOf(user.linked_payment_methods))
            .map(({ method }) => word(method, ["bank_card"])),
        ),
        others: otherKinds(users.flatMap(cardsOf), CARD_FIELDS, "text"),
      };
    },
    ({ methods, others }) =>
      methods.every((method) => method === "bank_card") && others.length === 0,
  ),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;

/** What the list of users and its pages do. */
export const USER_PAGE_ROWS = {
  users_answer_form: answerForm(USERS),
  users_no_cursor: cursorKind(USERS, "missing"),
  users_limit_most: mostRows(USERS),
  users_limit_beyond: limitBeyond(USERS),
  users_newest_first: inOrder(USERS, null),
  users_oldest_first: inOrder(USERS, "asc"),
  users_from_exclusive: startExclusive(USERS),
  users_to_inclusive: endInclusive(USERS),
  users_offset: offsetSkips(USERS),
  users_total: totalOfAll(USERS),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;

/** What the filters of the list of users do. */
export const USER_FILTER_ROWS = {
  users_by_ids: row(
    async (reader) => {
      const users = (await reader.sampleUsers()).slice(0, 2);
      if (users.length < 2) return notSeen("few_users");
      const asked = users.map(({ user_id }) => String(user_id));
      const { status, rows } = await USERS.read(reader, {
        limit: PAGE,
        user_ids: asked.join(","),
      });
      const came = rows.map(({ user_id }) => String(user_id));
      return {
        status,
        asked: asked.length,
        found: asked.filter((id) => came.includes(id)).length,
        others: came.filter((id) => !asked.includes(id)).length,
      };
    },
    ({ status, asked, found, others }) =>
      status === 200 && found === asked && others === 0,
  ),
  users_by_unknown_id: unknownId(USERS, "user_ids"),
  users_by_lkyc_status: filters(USERS, "lkyc_status", "lkyc_status"),
  users_by_fkyc_status: filters(USERS, "fkyc_status", "fkyc_status"),
  users_by_phone_country: filters(USERS, "phone_country", "phone_country"),
  users_by_kyc_country: filters(USERS, "kyc_country", "country"),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;
