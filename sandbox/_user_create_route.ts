import { answer, hasKey, type Parts } from "./_app.ts";
import { isObject } from "./_exact_json.ts";
import { userTime } from "./_times.ts";

/** What is wrong with a field: the status, the field, the message. */
interface Wrong {
  readonly status: 400 | 403;
  readonly field: string;
  readonly message: string;
}

const NAME = /^(?!\d+$)[A-Za-z0-9]{2,30}$/;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** POST /api/external/users/create */
export async function userCreateRoute(
  parts: Parts,
  request: Request,
): Promise<Response> {
  if (!hasKey(parts, request)) {
    return answer(401, { message: "ERR_UNAUTHORIZED" });
  }
  let body: unknown;
  try {
    body = JSON.parse(await request.text());
  } catch {
    body = null;
  }
  const fields = isObject(body) ? body : {};
  const wrong = wrongUser(parts, fields);
  if (wrong) {
    const { status, field, message } = wrong;
    return answer(status, { field, message });
  }
  const phone = String(fields.phone);
  const existing = parts.users.withPhone(phone);
  if (existing) {
    return answer(409, {
      message: "user with this phone already exists",
      user_id: existing.userId,
      created_at: userTime(existing.createdAtMs),
    });
  }
  const user = parts.sandbox.createUser({
    phone,
    country: String(fields.country_of_residence).toUpperCase(),
    lkyc: "progress",
    createdByPartner: true,
  });
  return answer(200, {
    created_at: userTime(user.createdAtMs),
    user_id: user.userId,
  });
}

function wrongUser(
  parts: Parts,
  fields: Record<string, unknown>,
): Wrong | null {
  const { partner } = parts.sandbox;
  if (!partner.userCreation) {
    return refused("partner_id", "user creation is not allowed");
  }
  return wrongFormat(fields) ?? refusal(parts, fields);
}

/** The checks that answer 400. */
function wrongFormat(fields: Record<string, unknown>): Wrong | null {
  const checks: readonly (readonly [string, boolean])[] = [
    [
      "has_accepted_terms_of_service",
      typeof fields.has_accepted_terms_of_service === "boolean",
    ],
    ["phone", matches(fields.phone, /^\+\d{7,15}$/)],
    ["email", matches(fields.email, EMAIL)],
    ["first_name", matches(fields.first_name, NAME)],
    [
      "middle_name",
      fields.middle_name === undefined || matches(fields.middle_name, NAME),
    ],
    ["last_name", matches(fields.last_name, NAME)],
    ["date_of_birth", isDate(fields.date_of_birth)],
    [
      "country_of_residence",
      matches(fields.country_of_residence, /^[A-Z]{3}$/i),
    ],
    [
      "state_of_residence",
      fields.state_of_residence === undefined
        ? fields.country_of_residence !== "USA"
        : matches(fields.state_of_residence, /^[A-Z]{2}$/i),
    ],
  ];
  const failed = checks.find(([, passed]) => !passed);
  if (!failed) return null;
  const [field] = failed;
  return { status: 400, field, message: `Invalid ${field} format` };
}

/** The checks that answer 403. */
function refusal(parts: Parts, fields: Record<string, unknown>): Wrong | null {
  const { restrictedCountries, unsupportedStates } = parts.sandbox.partner;
  const country = String(fields.country_of_residence).toUpperCase();
  const state = String(fields.state_of_residence ?? "").toUpperCase();
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
  if (!isAdult(String(fields.date_of_birth), parts.sandbox.now())) {
    return refused("date_of_birth", "user is under 18");
  }
  return null;
}

function refused(field: string, message: string): Wrong {
  return { status: 403, field, message };
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isDate(value: unknown): boolean {
  if (!matches(value, /^\d{4}-\d\d-\d\d$/)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) &&
    date.toISOString().startsWith(String(value));
}

function isAdult(dateOfBirth: string, nowMs: number): boolean {
  const [year = 0, month = 1, day = 1] = dateOfBirth.split("-").map(Number);
  return Date.UTC(year + 18, month - 1, day) <= nowMs;
}
