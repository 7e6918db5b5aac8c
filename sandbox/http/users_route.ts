import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { oddRow } from "../faults/odd_rows.ts";
import {
  countShortPage,
  pageRows,
  refuseIds,
  statedTotal,
} from "./page_faults.ts";
import { answer, bodyFields, hasKey, UNAUTHORIZED } from "./answer.ts";
import { readUsersQuery } from "./_read_query.ts";
import type { SandboxUser } from "../engine/sandbox_user.ts";
import { decimalOf, userTime, withPlaces } from "../seeded/seeded_values.ts";
import { brokenUserRules } from "../../core/rules/request_rules.ts";

/** GET /api/external/users */
export function usersRoute(engine: SandboxEngine, request: Request): Response {
  if (!hasKey(engine, request)) return answer(401, { message: UNAUTHORIZED });
  const query = readUsersQuery(new URL(request.url).searchParams);
  if ("wrong" in query) {
    return answer(400, { message: `invalid request: ${query.wrong}` });
  }
  const refused = refuseIds(engine, query.userIds);
  if (refused !== null) return refused;
  const { limit } = query;
  const most = pageRows(engine, limit);
  const page = engine.users.page(query, most);
  countShortPage(engine, { rows: page.users.length, most, limit });
  return answer(200, {
    success: true,
    data: page.users.map((user) => oddRow(engine, "user", userJson(user))),
    ...statedTotal(engine, page.total),
  });
}

/** What a verified user may spend in all, in US cents. */
const LIMIT_CENTS = 1_000_000n;

/** A user as the users endpoint writes it. */
export function userJson(user: SandboxUser): Record<string, unknown> {
  const verified = user.lkyc === "success" && !user.banned;
  return {
    user_id: user.userId,
    country: user.country,
    phone: maskedPhone(user.phone),
    phone_country: user.phoneCountry,
    lkyc_status: user.lkyc,
    fkyc_status: user.fkyc,
    banned: user.banned,
    created_at: userTime(user.createdAtMs),
    limits: {
      crypto_remaining: usd(verified ? LIMIT_CENTS - user.spentCents : 0n),
      crypto_spending: usd(user.spentCents),
      digital_goods_remaining: usd(
        verified ? LIMIT_CENTS - user.goodsSpentCents : 0n,
      ),
      digital_goods_spending: usd(user.goodsSpentCents),
    },
    linked_payment_methods: user.cards.length === 0 ? [] : [{
      method: "bank_card",
      cards: user.cards.map((card) => ({
        brand: card.brand,
        card_id: card.cardId,
        created_at: userTime(card.createdAtMs),
        last_digits: card.lastDigits,
      })),
    }],
  };
}

/** The first two and last two digits of a phone number. */
function maskedPhone(phone: string): string {
  return phone.slice(0, 3) + "*".repeat(Math.max(0, phone.length - 5)) +
    phone.slice(-2);
}

function usd(cents: bigint): string {
  return withPlaces(decimalOf(cents < 0n ? 0n : cents, 2), 2);
}

/** What is wrong with a field: the status, the field, the message. */
interface Wrong {
  readonly status: 400 | 403;
  readonly field: string;
  readonly message: string;
}

/** POST /api/external/users/create */
export async function userCreateRoute(
  engine: SandboxEngine,
  request: Request,
): Promise<Response> {
  if (!hasKey(engine, request)) {
    return answer(401, { message: "ERR_UNAUTHORIZED" });
  }
  const fields = await bodyFields(request);
  const wrong = wrongUser(engine, fields);
  if (wrong) {
    const { status, field, message } = wrong;
    return answer(status, { field, message });
  }
  const phone = String(fields.phone);
  const existing = engine.users.withPhone(phone);
  if (existing) {
    return answer(409, {
      message: "user with this phone already exists",
      user_id: existing.userId,
      created_at: userTime(existing.createdAtMs),
    });
  }
  const user = engine.userCommands.create({
    phone,
    country: String(fields.country_of_residence),
    lkyc: "progress",
    createdByPartner: true,
  });
  return answer(200, {
    created_at: userTime(user.createdAtMs),
    user_id: user.userId,
  });
}

function wrongUser(
  engine: SandboxEngine,
  fields: Readonly<Record<string, unknown>>,
): Wrong | null {
  const { partner } = engine;
  if (!partner.userCreation) {
    return refused("partner_id", "user creation is not allowed");
  }
  return wrongFormat(fields) ?? refusal(engine, fields);
}

/** The checks that answer 400. */
function wrongFormat(fields: Readonly<Record<string, unknown>>): Wrong | null {
  const [broken] = brokenUserRules(fields);
  if (broken === undefined) return null;
  const { field } = broken;
  return { status: 400, field, message: `Invalid ${field} format` };
}

/** The checks that answer 403. */
function refusal(
  engine: SandboxEngine,
  fields: Readonly<Record<string, unknown>>,
): Wrong | null {
  const { restrictedCountries, unsupportedStates } = engine.partner;
  const country = String(fields.country_of_residence);
  const state = String(fields.state_of_residence ?? "");
  if (fields.has_accepted_terms_of_service !== true) {
    return refused(
      "has_accepted_terms_of_service",
      "user must accept the terms of service",
    );
  }
  if (restrictedCountries.includes(country)) {
    return refused("country_of_residence", "restricted country");
  }
  if (country === "USA" && unsupportedStates.includes(state)) {
    return refused("state_of_residence", "unsupported state");
  }
  if (!isAdult(String(fields.date_of_birth), engine.now())) {
    return refused("date_of_birth", "user is under 18");
  }
  return null;
}

function refused(field: string, message: string): Wrong {
  return { status: 403, field, message };
}

function isAdult(dateOfBirth: string, nowMs: number): boolean {
  const [year = 0, month = 1, day = 1] = dateOfBirth.split("-").map(Number);
  return Date.UTC(year + 18, month - 1, day) <= nowMs;
}
